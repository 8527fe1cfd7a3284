"""Where an answer runs: on a GPU by its own compiler, with modules that are installed, in a process that is started again where it ended."""
import dataclasses
import os

import numpy
import pytest
import tilevm
import tilevm.judge
from conftest import is_installed
from tilevm.judge import _batch, _cases, _compare, _findings, _launches, _process, _reference

needs_triton = pytest.mark.skipif(not is_installed("triton") or not is_installed("torch"), reason="triton or torch is not installed")
TASK = 'import torch\n\nINPUTS = {"x": "f32[n]"}\n\n\ndef scale(x):\n    return x * 2\n'
ANSWER = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, o, n, s, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i * s, mask=i < n) * 2, mask=i < n)


def scale(x):
    assert x.is_cuda
    o = torch.empty(x.shape, device="cuda")
    kernel[(triton.cdiv(x.numel(), 64),)](x, o, x.numel(), x.stride(0), B=64)
    return o
"""


@pytest.fixture
def paths(tmp_path):
    def write(answer=ANSWER, task=TASK):
        (tmp_path / "task.py").write_text(task)
        (tmp_path / "answer.py").write_text(answer)
        return str(tmp_path / "task.py"), str(tmp_path / "answer.py")

    return write


def on(device, task, answer):
    with tilevm.judge.Server(("torch",), device) as server:
        tilevm.judge.prepare(("torch",))
        options = tilevm.judge.Options(budget=1, bounds=tilevm.judge.Bounds(sandbox=False, device=device))
        return tilevm.judge.Judge(tilevm.judge.load(task), answer, server, options=options).run()


@needs_triton
def test_torch_of_its_own(paths):
    """A device of torch is what it is in the process of the answer. The CPU stands for a GPU here, without Triton, which has no kernels for it."""
    task, answer = paths("import torch\n\n\ndef scale(x):\n    assert x.device.type == 'cpu'\n    return x * 2\n")
    found = on("cpu", task, answer)
    assert (found.verdict, found.code, found.device) == ("cheats", "judge.no_launch", "cpu"), str(found)


@needs_triton
def test_memory_that_nobody_wrote_is_no_number(paths):
    task, answer = paths("import torch\n\n\ndef scale(x):\n    o = torch.empty_like(x)\n    o[1:] = x[1:] * 2\n    return o\n")
    found = on("cpu", task, answer)
    assert found.code == "judge.special" and numpy.isnan(found.got), str(found)


@needs_triton
@pytest.mark.parametrize("device", ("cuda", "tilec", "cuda,tilec"))
def test_no_gpu(paths, monkeypatch, capsys, device):
    from tilevm.judge import _command

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    task, answer = paths()
    assert _command.main([task, answer, f"--device={device}", "--no-sandbox", "--out="]) == 5
    assert "judge.device" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        _command.main([task, answer, f"--device={device}"])
    assert "--no-sandbox" in capsys.readouterr().err


@needs_triton
def test_tensors_of_the_cpu(paths):
    """A launch refuses what a GPU cannot read; empty arguments are on the GPU as others are."""
    schema = TASK.replace('"f32[n]"}', '"f32[n]"}\nSIZES = "n >= 0"')
    found = tilevm.judge.judge(*paths(task=schema), budget=1)
    assert found.verdict == "right", str(found)
    found = tilevm.judge.judge(*paths(ANSWER.replace(', device="cuda"', "")), budget=1)
    assert (found.verdict, found.code) == ("wrong", "judge.raises") and "cpu tensor" in found.message, str(found)


@needs_triton
def test_first_operation_that_differs(paths, tmp_path, monkeypatch):
    """A launch is written as `tilevm diff` takes it. Another program stands for what a GPU does; where the VM is wrong, too, nothing is compared."""
    task, answer = paths(ANSWER.replace("tl.load(x + i * s, mask=i < n) * 2", "tl.load(x + i * s, mask=i < n) * K").replace("B: tl.", "K: tl.constexpr, B: tl.")
                         .replace("B=64", "K=2.0, B=64"))
    case = _cases.Case((("n", 70),))
    with tilevm.judge.Server(("torch", "triton")) as server:
        tilevm.judge.prepare(("torch", "triton"))
        options = tilevm.judge.Options(budget=1, bounds=tilevm.judge.Bounds(sandbox=False))
        judge = tilevm.judge.Judge(tilevm.judge.load(task), answer, server, options=options)
        folder = tmp_path / "launches"
        folder.mkdir()
        judge.call(judge.arguments(case), record=str(folder))
        assert sorted(path.suffix for path in folder.iterdir()) == [".jsonl", ".npy", ".npy", ".tbc"]
        program = next(folder.glob("*.tbc"))
        assert _launches.differing(str(folder), f"--with={program}") == ""
        assert "cannot compare its launches: error[usage]" in _launches.differing(str(folder))
        other = tilevm.load(program).disassemble(debug=True)
        assert other.count("2.0") == 1
        (tmp_path / "other.tile").write_text(other.replace("2.0", "3.0"))
        found = _launches.first_operation(judge, case, f"--with={tmp_path / 'other.tile'}")
        assert "answer.py:10:" in found and "the first result that differs, of " in found, found
        monkeypatch.setattr(judge.task, "reference", lambda x: x * 3)
        judge.reference = _reference.Reference(judge.task)
        assert _launches.first_operation(judge, case) == ""
        judge.close()


class AnotherCompiler:
    """Stands for what tilec makes of an answer: another answer, on the VM."""

    def __init__(self, server, answer):
        self.imports, self._server, self._answer = server.imports, server, answer

    def open(self, answer, hidden, bounds):
        process = self._server.open(self._answer, hidden, dataclasses.replace(bounds, device="vm"))
        ask = process.ask
        process.ask = lambda message, *more: ask({**message, "path": self._answer} if message["do"] == "load" else message, *more)
        return process


@needs_triton
@pytest.mark.parametrize("factors, says", [
    ((2.0, 2.0), None),
    ((2.0, 3.0), "compiled by tilec, where what its own compiler makes of it is right: result 0["),
    ((3.0, 2.0), "compiled by its own compiler, where what tilec makes of it is right: result 0["),
    ((3.0, 3.0), "compiled by its own compiler and by tilec: result 0["),
])
def test_two_compilers(paths, tmp_path, monkeypatch, factors, says):
    """Both get the same inputs. Where tilec's result alone is wrong, its first operation is named; another program stands for what a GPU does."""
    task, answer = paths()
    others = [tmp_path / f"other{number}.py" for number in range(2)]
    for path, factor in zip(others, factors):
        path.write_text(ANSWER.replace("mask=i < n) * 2", f"mask=i < n) * {factor}"))
    monkeypatch.setattr(_launches, "differing", lambda folder, *options: f"{options} of {len(os.listdir(folder))} files")
    with tilevm.judge.Server(("torch", "triton")) as server:
        tilevm.judge.prepare(("torch", "triton"))
        judge = None
        for device, path in (("tilec", others[1]), ("cuda", others[0])):
            options = tilevm.judge.Options(budget=1, bounds=tilevm.judge.Bounds(sandbox=False, device=device))
            judge = tilevm.judge.Judge(tilevm.judge.load(task), answer, AnotherCompiler(server, str(path)), options=options, beside=judge)
        found = judge.run()
    assert found.device == "cuda,tilec" and found.verdict == ("right" if says is None else "wrong"), str(found)
    if says is not None:
        assert found.message.startswith(says) and found.code == "judge.differs", found.message
        first = "the VM's result is right: ('--device=cuda', '--compile') of 4 files"
        assert (first in found.message) == (factors[1] == 3.0), found.message


@needs_triton
def test_where_the_order_of_a_tasks_own_kernels_decides(paths, monkeypatch):
    """On a GPU another block may be the last to write a place; the VM reports that of the task itself."""
    task = tilevm.judge.load(paths()[0])
    case = _cases.Case((("n", 3),))
    for device, codes, same in (("cuda", {"vm.race"}, True), ("cuda", set(), False), ("vm", {"vm.race"}, False)):
        options = tilevm.judge.Options(bounds=tilevm.judge.Bounds(device=device))
        judge = tilevm.judge.Judge(task, __file__, None, options=options)
        judge.reference.has_kernels = True
        monkeypatch.setattr(judge.reference, "reports", lambda arguments, codes=codes: frozenset(codes))
        assert judge.is_of_task(_findings.Finding("wrong", "judge.differs", ""), case) == same
        assert judge.is_of_task(_findings.Finding("unsafe", "vm.duplicate_store", ""), case) == bool(codes)


def test_places(tmp_path, monkeypatch):
    """Folders of installed packages are read by answers, however they are called; others, where a task may lie, are not."""
    for name, inside in (("wheels", "thing-1.0.dist-info"), ("project", "thing.egg-info")):
        (tmp_path / name / inside).mkdir(parents=True)
        monkeypatch.syspath_prepend(str(tmp_path / name))
    places = _process._module_places()
    assert str(tmp_path / "wheels") in places and str(tmp_path / "project") not in places
    assert str(tmp_path / "wheels") in _process._places()


def test_server_that_ended():
    with tilevm.judge.Server(("no_such_module",)) as server:
        assert "install no_such_module" in server._fix()
        server._process.kill()
        server._process.wait()
        with pytest.raises(tilevm.UnavailableError, match="judge.server"):
            server.open(__file__, [], tilevm.judge.Bounds())
    first = _batch._server((), "vm")
    assert _batch._server((), "vm") is first
    first._process.kill()
    first._process.wait()
    assert _batch._server((), "vm") is not first


def test_layout_of_one_array():
    """A kernel that takes the strides of another array is right while all arrays are laid out alike."""
    schema = tilevm.judge.of_function(lambda x, y, z: x, {"x": "f32[m, n]", "y": "f32[m, n]", "z": "f32[n] contiguous"}, "").schema
    cases = [case for case, _ in zip(_cases.plan(schema, []), range(200)) if case.only is not None]
    assert [case.only for case in cases] == [0, 1]
    for case in cases:
        x, y, _ = _cases.build(schema, case, [])
        assert x.strides != y.strides
        assert _cases.Case.from_json(case.to_json()) == case and f"of argument {case.only}" in case.text()


def test_arrays_that_promise_the_same_stand_for_each_other():
    same, other = ({"x": "f32[n]", "y": "f32[n]"}, {"x": "f32[n]", "y": "f32[n] positive"})
    assert _cases._may_alias(tilevm.judge.of_function(lambda x, y: x, same, "").schema)
    assert not _cases._may_alias(tilevm.judge.of_function(lambda x, y: x, other, "").schema)


def test_zeros_of_the_other_sign_are_a_change():
    zeros = numpy.array([0.0, -0.0])
    assert _reference._is_untouched(zeros, zeros.copy()) and not _reference._is_untouched(zeros, numpy.zeros(2))


@needs_triton
def test_a_step_that_is_too_small_for_its_type_is_one():
    import torch

    values, step = torch.ones(3, dtype=torch.bfloat16), torch.full((3,), 1e-3, dtype=torch.bfloat16)
    for function, changes in ((lambda x, y: x.sub_(y), True), (lambda x, y: x + y, False)):
        task = tilevm.judge.of_function(function, example=(values, step))
        after = _reference.Reference(task).expect((values, step)).after
        assert [result is not None for result in after] == [changes, False]


def test_no_number_in_the_types_of_the_task():
    """Where the task itself gives NaN in float32, and infinity in float64, no answer must do better."""
    none = numpy.zeros(1)
    for native, code in ((numpy.nan, None), (numpy.inf, "judge.special")):
        want = _reference.Result("float32", numpy.array([numpy.inf]), none, numpy.array([native]), none)
        found = _compare.compare([numpy.array([-1e38], numpy.float32)], [want])
        assert (found and found.code) == code


def test_an_example_that_the_task_refuses(tmp_path):
    (tmp_path / "task.py").write_text('import numpy\n\nEXAMPLE = (numpy.ones(3, "float32"),)\n\n\ndef scale(x):\n    raise ValueError("never")\n')
    (tmp_path / "answer.py").write_text("def scale(x):\n    return x\n")
    found = tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), budget=1)
    assert (found.verdict, found.code) == ("undecided", "judge.no_input") and "never" in found.message and found.refused < 20, str(found)


def test_places_in_an_array_go_as_far_as_it_does():
    from tilevm.judge import _schema

    x, offsets, few = numpy.zeros(150, "float32"), numpy.array([0, 3, 40, 149]), numpy.array([1, 149])
    schema = _schema.infer(["x", "offsets", "few"], [x, offsets, few])
    assert "offsets: int64[n] in 0..m - 1 contiguous" in schema.text() and "few: int64[k] in 1..149 contiguous" in schema.text(), schema.text()
    assert schema.allows({"m": 5, "n": 5, "k": 2}) and not schema.allows({"m": 5, "n": 6, "k": 2})
    assert _schema.infer(["x", "ends"], [x, numpy.array([0, 5, 5, 150])]).inputs[1].high.text == "m"


@needs_triton
def test_alignment():
    """Memory of an argument begins where that of a GPU does, whatever lies in it."""
    import torch
    from tilevm.judge import _values

    for values in (torch.arange(5.0), torch.arange(100, dtype=torch.int8)[3:], numpy.arange(7.0)):
        said, blobs = _values.pack([values])
        made = _values.unpack(said["items"][0], [bytes(blob) for blob in blobs])
        begin = made.untyped_storage().data_ptr() if hasattr(made, "untyped_storage") else made.ctypes.data
        assert begin % 512 == 0 and (numpy.asarray(made) == numpy.asarray(values)).all()
        made[0] = 1  # it can be written
