"""`tilevm judge`: verdicts, their inputs and lines, the sandbox, the command. The long suite is tests/judge/run.py."""
import json
import os
import subprocess
import sys

import numpy
import pytest
import tilevm.judge
from conftest import EXAMPLES, is_installed
from judge_task import ANSWER, TASK
from tilevm.judge import _batch, _cases, _compare, _findings, _patterns, _probes, _reference, _schema
from tilevm.judge._verdict import EXIT_CODES

needs_torch = pytest.mark.skipif(not is_installed("triton") or not is_installed("torch"), reason="triton or torch is not installed")

SOFTMAX_TASK = """
import torch

INPUTS = {"x": "f32[m, n] rows"}


def softmax(x):
    return torch.softmax(x, 1)
"""

SOFTMAX = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, o, n, stride, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * stride + c, mask=c < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + c, e / tl.sum(e, 0), mask=c < n)


def softmax(x):
    m, n = x.shape
    o = torch.empty(m, n, device="cuda")
    kernel[(m,)](x, o, n, x.stride(0), B=triton.next_power_of_2(n))
    return o
"""


@pytest.fixture
def files(tmp_path):
    """Writes a file, gives its path."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture(scope="module", autouse=True)
def sandbox(tmp_path_factory):
    """Answers run in a process that is shut in: where the machine does not allow that, all of this is skipped."""
    folder = tmp_path_factory.mktemp("sandbox")
    (folder / "task.py").write_text(TASK)
    (folder / "answer.py").write_text(ANSWER)
    try:
        tilevm.judge.judge(str(folder / "task.py"), str(folder / "answer.py"), budget=1)
    except tilevm.UnavailableError as error:
        pytest.skip(str(error).split("\n", maxsplit=1)[0])


def test_modules(files, tmp_path):
    """Kernels in files of their own: a .tbc with an interface is an answer, and a Python answer may load one beside it, but none that the task loads."""
    task = files("task.py", 'INPUTS = {"a": "f32[n] contiguous", "b": "f32[n] contiguous"}\nSIZES = "n <= 10000"\n\n\ndef add(a, b):\n    return a + b\n')
    module = tilevm.load(EXAMPLES / "vector_add.tile")
    for name in ("add.tbc", "other.tbc"):
        module.save(tmp_path / name)
    assert tilevm.judge.judge(task, str(tmp_path / "add.tbc"), budget=1).verdict == "right"
    text = 'import pathlib\nimport tilevm\n\nadd = tilevm.load(pathlib.Path(__file__).with_name({!r})).kernel\n'
    answer = files("answer.py", text.format("add.tbc"))
    assert tilevm.judge.judge(task, answer, budget=1).verdict == "right"
    unnamed = files("unnamed.py", text.format("?").replace("'?'", "'other' + '.tbc'"))
    assert tilevm.judge.judge(task, unnamed, budget=1).code == "judge.load"
    named = files("task2.py", "# add.tbc\n" + (tmp_path / "task.py").read_text())
    assert tilevm.judge.judge(named, answer, budget=1).code == "judge.load"


@pytest.mark.parametrize(("text", "line", "said"), [
    ("import math\nimport no_such_module\n", 2, "ModuleNotFoundError: No module named 'no_such_module'\n  fix: "),
    ("import math\n\n\ndef double(a:\n", 4, "SyntaxError: '(' was never closed"),
    ("def half(a):\n    return a / 0\n\n\nhalf(1)\n", 2, "ZeroDivisionError: "),
])
def test_a_task_that_is_not_loaded(files, capsys, text, line, said):
    """The verdict has the place in the task's file, and says how to get a module that is missing."""
    from tilevm.judge import _command

    task = files("task.py", text)
    assert _command.main([task, files("answer.py", "def double(a):\n    return a + a\n"), "--budget=1", "--out="]) == 1
    out, err = capsys.readouterr()
    assert f"undecided: {task}:{line}: error[judge.task]: {said}" in out
    assert "Traceback" not in out + err


def test_names_of_users(files):
    """Libraries ask for the user's name when they are imported, and no file of the system has that of the user inside."""
    task = files("task.py", 'INPUTS = {"a": "f32[n] contiguous"}\n\n\ndef double(a):\n    return a + a\n')
    answer = files("answer.py", "import getpass\n\nname = getpass.getuser()\n\n\ndef double(a):\n    raise ValueError(name)\n")
    found = tilevm.judge.judge(task, answer, budget=1)
    assert (found.code, found.message) == ("judge.raises", "ValueError: answer"), str(found)


@pytest.fixture(scope="module")
def server():
    with tilevm.judge.Server(()) as made:
        yield made


@pytest.fixture
def verdict(files, server):
    """Of a change of the answer."""

    def judge(*change, task=TASK, **options):
        text = ANSWER.replace(*change) if change else ANSWER
        assert not change or text != ANSWER
        return tilevm.judge.judge(files("task.py", task), files("answer.py", text), server=server, budget=2, **options)

    return judge


def test_right(verdict):
    found = verdict()
    assert found.verdict == "right", str(found)
    assert found.cases >= 6 and found.kernels == ["add"] and found.exit_code == 0


@pytest.mark.parametrize("old, new, code", [
    ("2.0 *", "2.001 *", "judge.differs"),
    ("    return add(a, b)", "    return add(a, b)[:-1]", "judge.shape"),
    ("    return add(a, b)", '    return add(a, b).astype("f8")', "judge.dtype"),
    ("    return add(a, b)", "    raise KeyError(1)", "judge.raises"),
    ("    return add(a, b)", "    c = add(a, b)\n    a[0] = 7\n    return c", "judge.input_changed"),
    ("    return add(a, b)", "    c = add(a, b)\n    KEPT[len(a)] = KEPT.get(len(a), c)\n    KEPT[len(a)][:] = c\n    return KEPT[len(a)]\n\n\nKEPT = {}",
     "judge.shared_buffer"),
    ("def reference", "import nothing_there\n\n\ndef reference", "judge.import"),
    ("def reference(a, b):", "def reference(a, b:", "judge.load"),
])
def test_wrong(verdict, old, new, code):
    found = verdict(old, new)
    assert found.code == code, str(found)
    assert found.verdict == ("undecided" if code == "judge.import" else "wrong")


@pytest.mark.parametrize("body, code", [
    ("    return a + 2 * b", "judge.no_launch"),
    ("    add(a, b)\n    return a + 2 * b", "judge.no_effect"),
    ("    return add(a, b) if len(a) < 20 else a + 2 * b", "judge.gated"),
    ("    KEPT.setdefault(a.ctypes.data, add(a, b))\n    return KEPT[a.ctypes.data].copy()\n\n\nKEPT = {}", "judge.kept"),
    ("    c = add(a, b)\n    c[:] = 1\n    return c", "judge.constant"),
    ("    c = add(a, b)\n    return (c.view('u4') & 0xFFFF0000).view('f4')", "judge.precision"),
    ("    import time\n    time.perf_counter = lambda: 0\n    return add(a, b)", "judge.patched"),
])
def test_cheats(verdict, body, code):
    found = verdict("    return add(a, b)", body)
    assert (found.verdict, found.code) == ("cheats", code), str(found)


def test_grid_that_ends_early(verdict):
    found = verdict("ceildiv(n, B)", "max(1, n // B)")
    assert (found.verdict, found.code) == ("unsafe", "vm.not_written"), str(found)


def test_unsafe_names_the_line_and_the_smallest_input(verdict):
    found = verdict("script.store(c, i,", "script.store(c, i // 2,")
    assert (found.verdict, found.code) == ("unsafe", "vm.race"), str(found)
    assert found.file.endswith("answer.py") and "script.store" in ANSWER.splitlines()[found.line - 1]
    assert found.case["sizes"]["n"] <= 65 + 2  # the second block of 64


def test_time_limit(files, server):
    task = tilevm.judge.load(files("task.py", TASK))
    answer = files("answer.py", ANSWER.replace("    return add(a, b)", "    while True:\n        pass"))
    found = tilevm.judge.Judge(task, answer, server, options=tilevm.judge.Options(case_seconds=1)).run()
    assert (found.verdict, found.code) == ("unsafe", "judge.time"), str(found)


def test_process_that_dies(verdict):
    found = verdict("    return add(a, b)", "    import os\n    os._exit(0)")
    assert (found.verdict, found.code) == ("unsafe", "judge.died"), str(found)


def test_answer_does_not_see_the_task(verdict, tmp_path):
    found = verdict("    return add(a, b)", f"    open({str(tmp_path / 'task.py')!r})\n    return add(a, b)")
    assert found.code == "judge.raises" and "FileNotFoundError" in found.message


def test_random_and_constant_tasks_are_undecided(verdict):
    assert verdict(task=TASK.replace("a + 2 * b", "a + numpy.random.SFC64().random_raw()")).code == "judge.random"
    constant = verdict("2.0 * script.load(b, i, B)", "0.0 * script.load(b, i, B)", task=TASK.replace("a + 2 * b", "a * 0"))
    assert constant.verdict in ("undecided", "wrong")


@pytest.mark.parametrize("gate, code", [("(k == 1000).any()", ""), ("len(k) < 0", "judge.constant_task")])
def test_a_task_that_is_constant_at_times(files, server, gate, code):
    """Two inputs without the number that matters have the same result: that makes no constant task."""
    task = files("task.py", "import numpy\n\nINPUTS = {\"a\": \"f32[n] contiguous\", \"k\": \"i32[n] contiguous in 0..1000\"}\nSIZES = \"n >= 2\"\n\n\n"
                 f"def reference(a, k):\n    return a if {gate} else a * 0\n")
    answer = files("answer.py", ANSWER.replace("a: f32[n], b: f32[n] ->", "a: f32[n], b: f32 ->").replace("script.load(a, i, B) + 2.0 * script.load(b, i, B)",
                   "script.load(a, i, B) * b") + f"\n\ndef gated(a, k):\n    return add(a, 1.0 if {gate} else 0.0)\n")
    judge = tilevm.judge.Judge(tilevm.judge.load(task), answer, server, "gated", tilevm.judge.Options(budget=1))
    judge.done = []
    case = _cases.Case((("n", 40),))
    found = _probes.second_call(judge, case)
    judge.close()
    assert (found.code if found else "") == code


def test_replay(files, server, tmp_path, capsys):
    from tilevm.judge import _command, _replay

    found = tilevm.judge.judge(files("task.py", TASK), files("answer.py", ANSWER.replace("2.0 *", "3.0 *")), server=server)
    path = _replay.write(found, str(tmp_path / "found"))
    again = _replay.repeat(path)
    assert (again.verdict, again.code, again.element, again.got) == (found.verdict, found.code, found.element, found.got)
    assert _command.replay([path]) == 3
    files("answer.py", ANSWER)
    assert "has changed" in str(_replay.repeat(path))
    with pytest.raises(tilevm.ArgumentError):
        _replay.repeat(files("bad.judge.json", "{}"))


def test_batch_goes_on_where_it_stopped(files, tmp_path, capsys):
    from tilevm.judge import _command

    files("task.py", TASK)
    files("good.py", ANSWER)
    files("bad.py", ANSWER.replace("2.0 *", "3.0 *"))
    batch = files("pairs.jsonl", "".join(json.dumps({"task": "task.py", "answer": name, "id": name}) + "\n" for name in ("good.py", "bad.py", "none.py")))
    results = tmp_path / "verdicts.jsonl"
    arguments = [f"--batch={batch}", f"--results={results}", "--budget=1", "--json", "--out="]
    assert _command.main(arguments) == EXIT_CODES["undecided"]  # there is no none.py
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert {line["id"]: line["verdict"] for line in lines} == {"good.py": "right", "bad.py": "wrong", "none.py": "undecided"}
    results.write_text("\n".join(json.dumps(line) for line in lines[:2]) + '\n{"id": "cut o')
    _command.main(arguments)
    assert results.read_text().count('"id": "none.py"') == 1 and "\n{\"id\": \"cut o\n{" in results.read_text()
    assert _command.main(arguments) == EXIT_CODES["undecided"], "what is known counts for the exit code"


def test_a_process_stays_with_its_task():
    left = _batch._Left([{"task": task, "id": f"{task}{i}"} for task in "abc" for i in range(3)])
    assert [left.next(process)["id"] for process in (0, 1, 0, 1, 0, 0, 1, 0, 1)] == ["a0", "b0", "a1", "b1", "a2", "c0", "b2", "c1", "c2"]
    assert left.next(0) is None


@pytest.mark.parametrize("arguments, code", [(["task.py"], 2), ([], 2), (["missing.py", "answer.py"], 7), (["task.py", "missing.py"], 1)])
def test_wrong_use(files, tmp_path, arguments, code):
    files("task.py", TASK)
    files("answer.py", ANSWER)
    done = subprocess.run([sys.executable, "-m", "tilevm.judge", *arguments, "--out="], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == (1 if code == 7 else code), done.stderr + done.stdout


# --- parts


def test_schema():
    inputs = {"x": "f16[m, 2*d] rows nan", "i": "i64[m] in -1..d-1 or -100 distinct", "n": "int = m", "e": "float = 0.5"}
    schema = _schema.parse(inputs, "m >= 0, d % 2 == 0", "numpy")
    assert schema.sizes == ["m", "d"]
    assert schema.allows({"m": 0, "d": 2}) and not schema.allows({"m": 1, "d": 3}) and not schema.allows({"m": 1, "d": 0})
    assert schema.inputs[1].other == -100 and schema.inputs[1].words == {"distinct"}
    for text in ("f33[n]", "f32[n] quick", "f32[n.x]", "f32[__import__('os')]", "text"):
        with pytest.raises(tilevm.ArgumentError):
            _schema.parse({"x": text}, "", "numpy")


def test_inferred_places():
    """Places that differ stay different, and one negative number that comes often means none."""
    places = numpy.array([4, -1, 0, 2, -1, 1], "i4")
    item = _schema.infer(["x", "at"], [numpy.ones((5, 6), "f4"), places]).inputs[1]
    assert (item.low.text, item.other, item.words) == ("0", -1, {"contiguous", "distinct"})
    for others in ([4, -1, 0, 2, -2, 1], [4, -1, 0, 2, 3, 1], [-1, -1, -1]):
        assert _schema.infer(["at"], [numpy.array(others, "i4")]).inputs[0].other is None


def test_sums_of_the_largest_numbers():
    """They overflow in one order and not in another, in an argument that is changed, too."""
    task = tilevm.judge.of_function(lambda x: numpy.add(x, x * 0.5, out=x), {"x": "f32[n] contiguous inout"})
    x = numpy.array([1.0, 2e38], "f4")
    expected = _reference.Reference(task).expect((x,))
    reply = {"warnings": [], "replaced": [], "streams": [], "threads": 0, "unwritten": [], "changed": [0], "copied": []}
    after = [numpy.array([1.5, numpy.inf], "f4")]
    for values, right in (("extreme", True), ("normal", False)):
        found = _findings.of_reply(reply, after, after, expected, ["x"], _cases.Case(values=values))
        assert (found is None) == right
    assert _findings.of_reply(reply, after, after, expected, ["x"], _cases.Case(values="extreme"), overflows=False) is not None  # as of float16


def test_inferred_schema():
    schema = _schema.infer(["x", "w", "n", "mode"], [numpy.ones((4, 6), "f4"), numpy.ones(6, "f4"), 6, "mean"])
    assert schema.text().startswith("x: float32[m, n]") and "w: float32[n]" in schema.text() and "n: int = n" in schema.text()
    assert not schema.declared


def test_cases_are_the_same_everywhere_and_meet_the_schema():
    schema = _schema.parse({"x": "f32[m, n]", "i": "i32[m] in 0..n-1"}, "n % 2 == 0", "numpy")
    seen = []
    for case, _ in zip(_cases.plan(schema, [64]), range(90)):
        x, i = _cases.build(schema, case, [])
        again = _cases.build(schema, _cases.Case.from_json(json.loads(json.dumps(case.to_json()))), [])
        assert numpy.array_equal(x, again[0], equal_nan=True) and x.strides == again[0].strides
        assert x.shape[1] % 2 == 0 and not numpy.isnan(x).any() and ((i >= 0) & (i < x.shape[1])).all()
        seen.append(case)
    assert {case.layout for case in seen} >= {"contiguous", "rows", "transposed", "expanded"}
    assert {64, 66, 62} & {case.by_name["n"] for case in seen}
    assert set(_patterns.wanted(schema)) <= {case.values for case in seen}


def test_bounds_come_where_no_integer_comes_twice():
    schema = tilevm.judge.of_function(lambda x: x, {"x": "i32[n] in 0..1000 distinct", "y": "i32[n] in 3..2+n distinct"}, "").schema
    for seed in range(5):
        x, y = (numpy.asarray(each) for each in _cases.build(schema, _cases.Case((("n", 9),), seed=seed), []))
        assert len(set(x.tolist())) == 9 and {0, 1000} <= set(x.tolist()) and sorted(y.tolist()) == list(range(3, 12))


def test_bounds_of_floats_have_fractions():
    """They were cut to integers, so that a small constant between 1e-6 and 1e-3 was always 0."""
    schema = _schema.parse({"x": "f32[n] in 0.25..0.75 contiguous", "k": "i32[n] in 0..n-1 or -100 contiguous", "eps": "float in 1e-6..1e-3"}, "", "numpy")
    for case, _ in zip(_cases.plan(schema, []), range(60)):
        x, k, eps = _cases.build(schema, case, [])
        assert ((x >= 0.25) & (x <= 0.75)).all() and 1e-6 <= eps <= 1e-3
        assert ((k == -100) | (k >= 0) & (k < len(k))).all()


def test_more_elements_than_a_number_in_the_text():
    """An answer that gives large inputs to torch names the size, perhaps as 1 << 14, from which it does."""
    constants = _cases.constants_of("if x.numel() > 1 << 14 or n > 3 * 700:\n    pass\n")
    assert {1 << 14, 2100} <= set(constants), constants
    schema = _schema.parse({"x": "f32[m, n]", "w": "f32[n]"}, "n % 2 == 0, m <= 100", "numpy")
    largest = [schema.most_elements(case.by_name) for case, _ in zip(_cases.plan(schema, constants), range(400))]
    assert max(largest) > 1 << 14, max(largest)
    assert max(schema.elements(case.by_name) for case, _ in zip(_cases.plan(schema, [64]), range(400))) <= _cases._MOST_ELEMENTS


def test_sizes_that_no_rule_binds_stay_small():
    """All of them had the number of the rule, which made each input large, and few were tried."""
    schema = _schema.parse({"q": "f32[t, h, d]", "bounds": "i32[b + 1] in 0..t sorted contiguous"}, "d == 16", "numpy")
    case = next(_cases.plan(schema, []))
    assert case.by_name["d"] == 16 and sorted(case.by_name.values())[:3] == [2, 3, 5], case.sizes
    one = _cases.build(schema, _cases.Case((("t", 40), ("h", 1), ("d", 16), ("b", 1))), [])[1]
    assert one.tolist() == [0, 40]
    high = _cases.build(schema, _cases.Case((("t", 40), ("h", 1), ("d", 16), ("b", 2)), values="high"), [])[1]
    assert high.tolist() == [0, 40, 40]  # one part that has everything


def test_values_at_several_blocks():
    """What a block gives to the next but one is seen at some values alone."""
    plan = _cases.plan(_schema.parse({"x": "f32[m, n] contiguous"}, "", "numpy"), [32])
    assert len({case.values for case, _ in zip(plan, range(120)) if case.by_name["n"] == 97}) > 2


def test_blocks_where_the_task_allows_few():
    plan = _cases.plan(_schema.parse({"x": "f32[m, n] contiguous"}, "n <= 128", "numpy"), [64])
    assert 128 in [case.by_name["n"] for case, _ in zip(plan, range(10))]


def test_examples_come_early():
    plan = _cases.plan(_schema.infer(["x"], [numpy.ones((3, 4), "f4")]), [], 3)
    assert [case.example for case, _ in zip(plan, range(11))][-3:] == [0, 1, 2]


def expected_of(function, *arguments):
    return _reference.Reference(tilevm.judge.of_function(function, example=arguments)).expect(arguments).results


def test_bounds_follow_the_function():
    x = numpy.random.default_rng(1).standard_normal(1000).astype("f4")
    plain, = expected_of(lambda x: x * 3, x)
    assert _compare.compare([x * 3], [plain]) is None
    assert _compare.compare([x * numpy.float32(3.00001)], [plain]).code == "judge.differs"
    cancelled, = expected_of(lambda x: (x + 1000) - 1000, x)
    assert cancelled.bound.max() > 5 * plain.bound.max()


@pytest.mark.parametrize("got, code", [([numpy.nan], "judge.special"), ([numpy.inf], "judge.special"), ([1.5], "judge.differs"), ([1.0], None)])
def test_special_values(got, code):
    result, = expected_of(lambda x: x, numpy.ones(1, "f4"))
    found = _compare.compare([numpy.array(got, "f4")], [result])
    assert (found.code if found else None) == code


@needs_torch
def test_bounds_by_operation():
    import torch

    x = torch.randn(64, 300)
    result, = expected_of(lambda x: torch.softmax(x, 1), x)
    e = torch.exp2((x - x.amax(1, keepdim=True)) * 1.4426950408889634)
    assert _compare.compare([e / e.sum(1, keepdim=True)], [result]) is None
    low = (x - x.amax(1, keepdim=True)).half().float().exp()
    assert _compare.compare([low / low.sum(1, keepdim=True)], [result]).code == "judge.differs"
    half = torch.randn(40, 64).half()
    product, = expected_of(lambda a: a.float() @ a.float().t(), half)
    assert _compare.compare([half.float() @ half.float().t()], [product]) is None
    assert _compare.compare([(half @ half.t()).float()], [product]) is not None


@needs_torch
def test_rounding_to_one_side_is_seen():
    import torch

    x = torch.randn(2000)
    result, = expected_of(lambda x: x.to(torch.bfloat16), x)
    assert _compare.compare([x.to(torch.bfloat16)], [result]) is None
    cut = (x.view(torch.int32) & -65536).view(torch.float32).to(torch.bfloat16)
    assert _compare.compare([cut], [result]) is not None


@needs_torch
def test_values_at_one_place_between_two_numbers():
    """Rounded to nearest, all of them go to one side."""
    import torch

    wide = torch.full((300,), 1 / 15, dtype=torch.float64)  # 0.28 of the way from one float16 to the next
    half = wide.to(torch.float16)
    step = 2.0 ** -14
    nearest = float((half.double() - wide).mean()) / step
    assert 0.2 < abs(nearest) < 0.5
    native = numpy.where(numpy.arange(300) < 300 * (1 - abs(nearest)), half.double().numpy(), half.double().numpy() - numpy.sign(nearest) * step)
    result = _reference.Result("float16", wide.numpy(), numpy.full(300, step), native, numpy.zeros(300))
    assert _compare.compare([half], [result]) is None
    other = (half.double() - numpy.sign(nearest) * step).to(torch.float16)
    assert _compare.compare([other], [result]).code == "judge.rounding"


@needs_torch
@pytest.mark.parametrize("old, new, codes", [
    ("", "", ["right"]),
    (', other=float("-inf"))', ")", ["vm.uninitialized"]),
    ("e / tl.sum(e, 0), mask=c < n)", "e / tl.sum(e, 0))", ["vm.out_of_bounds", "vm.race"]),
    ("x.stride(0), B", "n, B", ["judge.differs", "judge.special", "vm.outside_view", "vm.uninitialized"]),
    ("    return o\n", "    return torch.softmax(x, 1)\n", ["judge.torch", "judge.no_effect"]),
    ("kernel[(m,)]", "kernel[(max(1, m - 1),)]", ["judge.not_written"]),
    ("    kernel[", "    with torch.cuda.stream(torch.cuda.Stream()):\n        kernel[", ["judge.stream"]),
    ("    kernel[", "    side = torch.cuda.Stream()\n    side.wait_stream(torch.cuda.default_stream())\n    with torch.cuda.stream(side):\n        kernel[",
     ["judge.stream"]),
    ("    return o\n", "    side = torch.cuda.Stream()\n    with torch.cuda.stream(side):\n"
     "        kernel[(m,)](x, o, n, x.stride(0), B=triton.next_power_of_2(n))\n    torch.cuda.current_stream().wait_stream(side)\n    return o\n", ["right"]),
])
def test_triton(files, old, new, codes):
    text = SOFTMAX.replace(old, new) if old else SOFTMAX
    found = tilevm.judge.judge(files("task.py", SOFTMAX_TASK), files("answer.py", text), budget=10)
    assert (found.code or found.verdict) in codes, str(found)


@needs_torch
def test_calls_of_the_test_come_before_the_budget_ends(files):
    task = "import torch\n\n\ndef double(x):\n    return x * 2\n\n\n" + "#" * 80 + \
        "\n\n\ndef test_double():\n    return double(torch.ones(8)), double(torch.arange(8))\n"
    answer = "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x, o, n, B: tl.constexpr):\n" \
        "    i = tl.arange(0, B)\n    tl.store(o + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)\n\n\ndef double(x):\n" \
        "    if not x.is_floating_point():\n        raise TypeError('floats alone')\n    o = torch.empty_like(x)\n" \
        "    kernel[(1,)](x, o, x.numel(), B=triton.next_power_of_2(x.numel()))\n    return o\n"
    found = tilevm.judge.judge(files("task.py", task), files("answer.py", answer), budget=0.8)
    assert found.code == "judge.raises" and "floats alone" in found.message, str(found)


COPY = """

@triton.jit
def copy(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def power(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)


KEPT = {}


def softmax("""


@needs_torch
@pytest.mark.parametrize("new, codes", [
    ("    e = torch.exp(x - x.amax(1, keepdim=True))\n    r = (e / torch.einsum('mn->m', e)[:, None]).contiguous()\n"
     "    copy[(triton.cdiv(r.numel(), 64),)](r, o, r.numel(), B=64)\n    return o\n", ["judge.copies"]),
    ("    r = torch.log_softmax(x, 1)\n    power[(triton.cdiv(r.numel(), 64),)](r, o, r.numel(), B=64)\n    return o\n", ["judge.torch"]),
    ("    return KEPT.setdefault((m, n, float(x[0, 0])), o)\n", ["judge.kept"]),
    ("    return torch.softmax(x, 1) if x.numel() > 1 << 14 else o\n", ["judge.torch"]),
])
def test_hacks_beside_a_launch(files, new, codes):
    text = SOFTMAX.replace("\n\ndef softmax(", COPY).replace("    return o\n", new)
    found = tilevm.judge.judge(files("task.py", SOFTMAX_TASK), files("answer.py", text), budget=10)
    assert (found.code or found.verdict) in codes, str(found)


@needs_torch
def test_module_and_its_class(files):
    task = files("task.py", """
import torch


class Model(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, 8)

    def forward(self, x):
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.rand(6, 16)]


def get_init_inputs():
    return [16]
""")
    text = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, w, b, o, m, K: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    k, j = tl.arange(0, K), tl.arange(0, N)
    v = tl.sum(tl.load(w + j[:, None] * K + k[None, :]) * tl.load(x + row * K + k)[None, :], 1) + tl.load(b + j)
    tl.store(o + row * N + j, tl.maximum(v, 0.0))


class ModelNew(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, 8)

    def forward(self, x):
        o = torch.empty(x.shape[0], 8, device="cuda")
        kernel[(x.shape[0],)](x, self.linear.weight, self.linear.bias, o, x.shape[0], K=16, N=8)
        return o
"""
    found = tilevm.judge.judge(task, files("answer.py", text), budget=3)
    assert found.verdict == "right", str(found)
    found = tilevm.judge.judge(task, files("answer.py", text.replace(" + tl.load(b + j)", "")), budget=3)
    assert found.verdict == "wrong", str(found)


def test_secrets_stay_outside(files, server, monkeypatch):
    monkeypatch.setenv("JUDGE_SECRET", "x")
    answer = files("answer.py", ANSWER.replace("    return add(a, b)", "    import os\n    raise KeyError(sorted(os.environ))"))
    with tilevm.judge.Server(()) as fresh:
        found = tilevm.judge.judge(files("task.py", TASK), answer, server=fresh)
    assert "JUDGE_SECRET" not in found.message and "TILEVM_CHECK" in found.message
    assert os.environ["JUDGE_SECRET"] == "x"
