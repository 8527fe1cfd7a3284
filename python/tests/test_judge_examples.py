"""Tasks whose inputs are the calls of a test, as TritonBench has them: keywords stay keywords, every call is an example, and what cannot be
judged is said."""
import pytest
import tilevm.judge
from conftest import is_installed

pytestmark = pytest.mark.skipif(not is_installed("triton") or not is_installed("torch"), reason="triton or torch is not installed")

TASK = """
import torch


def scale(x, factor=2.0, noise=0.0):
    return x * factor + noise * torch.rand_like(x)

{line}
import torch
from scale import scale


def test_scale():
    {calls}


test_scale()
"""

ANSWER = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, o, factor, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


def scale(x, *, factor=2.0, noise=0.0):
    o = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, o, factor, x.numel(), B=64)
    return o
"""


@pytest.fixture(scope="module")
def server():
    with tilevm.judge.Server(("torch", "triton")) as made:
        yield made


@pytest.fixture
def task(tmp_path):
    def write(*calls):
        path = tmp_path / "scale.py"
        path.write_text(TASK.format(line="#" * 146, calls="\n    ".join(calls)))
        return str(path)

    return write


@pytest.fixture
def verdict(tmp_path, server, task):
    def judge(text, *calls):
        (tmp_path / "answer.py").write_text(text)
        return tilevm.judge.judge(task(*calls), str(tmp_path / "answer.py"), server=server, budget=1)

    return judge


def test_keywords_stay_keywords(verdict):
    found = verdict(ANSWER, "scale(torch.ones(3), factor=3.0)", "scale(torch.ones(3))")
    assert found.verdict == "right", str(found)
    assert verdict(ANSWER, "scale(torch.ones(3), 3.0)").code == "judge.raises"


def test_each_call_is_an_example(verdict):
    only_two = ANSWER.replace("* factor, mask", "* 2.0, mask")
    found = verdict(only_two, "scale(torch.ones(3))", "scale(torch.rand(7), factor=4.0)")
    assert (found.verdict, found.code) == ("wrong", "judge.differs") and "example 1" in found.input, str(found)


def test_random_options_are_left_out(verdict):
    """A call whose result is random says nothing, wherever it is among the calls."""
    calls = "scale(torch.ones(3), noise=1.0)", "scale(torch.rand(7), factor=4.0)"
    for each in (calls, calls[::-1]):
        found = verdict(ANSWER, *each)
        assert found.verdict == "right", str(found)
    assert verdict(ANSWER, calls[0]).code == "judge.random"


def test_sizes_that_do_not_compile(verdict):
    """A kernel of one block of all elements declines sizes that are no power of two: a remark, unless an example has such a size."""
    one_block = ANSWER.replace("x.numel(), B=64", "x.numel(), B=x.numel()")
    found = verdict(one_block, "scale(torch.ones(8))")
    assert found.verdict == "right" and "declines" in str(found.remarks), str(found)
    assert verdict(one_block, "scale(torch.ones(7))").code == "judge.raises"


def test_functions_that_begin_with_an_underscore(tmp_path, server):
    """A test may be about `_scale`; where it calls a public function, too, that one is the task."""
    for calls, name in ((["_scale(torch.ones(3))"], "_scale"), (["_scale(torch.ones(3))"] * 2 + ["twice(torch.ones(3))"], "twice")):
        text = TASK.replace("from scale import scale", "").replace("scale(x, factor", "_scale(x, factor")
        text = text.replace("{line}", "def twice(x):\n    return 2.0 * x\n\n{line}")
        (tmp_path / "task.py").write_text(text.format(line="#" * 146, calls="\n    ".join(calls)))
        (tmp_path / "answer.py").write_text(ANSWER.replace("def scale", f"def {name}"))
        found = tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), server=server, budget=1)
        assert found.verdict == "right", str(found)


OWN_TYPES = """
import torch
import triton
import triton.language as tl

INPUTS = {"x": "f32[n] contiguous"}


@triton.jit
def kernel(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for _ in range(3):
        total += tl.load(x + i, mask=i < n)
    tl.store(o + i, total, mask=i < n)


def triple(x):
    o = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, o, x.numel(), B=64)
    return o
"""


def test_a_reference_without_float64(tmp_path, server):
    """A kernel whose sum is declared float32 takes no float64: its results in float32 are what an answer is compared with."""
    (tmp_path / "task.py").write_text(OWN_TYPES)
    for factor, verdict in (("3.0", "right"), ("3.001", "wrong")):
        (tmp_path / "answer.py").write_text(ANSWER.replace("def scale(x, *, factor=2.0, noise=0.0)", f"def triple(x, factor={factor})"))
        found = tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), server=server, budget=1)
        assert found.verdict == verdict and "float64" in str(found.remarks), str(found)


def test_what_is_no_value(verdict, tmp_path):
    (tmp_path / "task.py").write_text("import torch\n\nEXAMPLE = (torch.ones(3),)\n\n\ndef scale(x):\n    return object()\n")
    (tmp_path / "answer.py").write_text(ANSWER)
    found = tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), budget=1)
    assert (found.verdict, found.code) == ("undecided", "judge.no_value") and "object" in found.message


@pytest.mark.parametrize("result, code", [("x.sum()", "judge.no_launch"), ("x[:2].clone()", "judge.no_launch")])
def test_one_number_is_work_too(tmp_path, server, result, code):
    (tmp_path / "task.py").write_text(f'import torch\n\nINPUTS = {{"x": "f32[n] contiguous"}}\nSIZES = "n >= 2"\n\n\ndef scale(x):\n    return {result}\n')
    (tmp_path / "answer.py").write_text(f"import torch\nimport triton\n\n\ndef scale(x):\n    return {result}\n")
    assert tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), server=server, budget=1).code == code


def test_nothing_to_compute(verdict):
    """An option by which the result is the argument, as dropout has it: no kernel is needed there."""
    text = ANSWER.replace("    o = torch", "    if factor == 1.0:\n        return x\n    o = torch")
    found = verdict(text, "scale(torch.ones(3), factor=1.0)", "scale(torch.rand(7), factor=4.0)")
    assert found.verdict == "right", str(found)


FUNCTION = """

class {name}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor=2.0):
        return {result}


{last}
"""


@pytest.mark.parametrize("last, call", [
    ("scaled = Scale.apply", "scaled(torch.ones(3), 3.0)"),
    ("", "Scale.apply(torch.ones(3), 3.0)"),
    ("", "Scale.forward(None, torch.ones(3), factor=3.0)"),
])
def test_functions_that_torch_differentiates(tmp_path, server, last, call):
    """Tests that call no `def` of the task: a name for `apply`, or a method of the class."""
    head = "import torch\n" + FUNCTION.format(name="Scale", result="x * factor", last=last)
    test = f"\n{'#' * 146}\n\n\ndef test_scale():\n    {call}\n\n\ntest_scale()\n"
    (tmp_path / "task.py").write_text(head + test)
    kernel = ANSWER[:ANSWER.index("def scale")]
    rest = ANSWER[ANSWER.index("def scale") + len("def scale"):].replace("(x, *, factor=2.0, noise=0.0)", "(x, factor)")
    body = "launched(x, {factor})\n\n\ndef launched" + rest
    for factor, verdict in (("factor", "right"), ("2.0", "wrong")):
        forward, launch = body.format(factor=factor).split("\n", 1)
        (tmp_path / "answer.py").write_text(kernel + launch + FUNCTION.format(name="Scale", result=forward, last=last))
        found = tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), server=server, budget=1)
        assert found.verdict == verdict, str(found)


SCATTER = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, at, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + tl.load(at + i, mask=i < n), tl.load(x + i, mask=i < n), mask=i < n)


def scatter(x, at, o):
    kernel[(triton.cdiv(x.numel(), 4),)](x, at, o, x.numel(), B=4)
"""


def test_what_the_tasks_own_kernels_do(server, tmp_path):
    """Indices that come twice make the task's own kernel race: an answer that is that kernel is no worse. Other mistakes are
    seen."""
    calls = "x, at, o = torch.randn(1), torch.tensor([8]), torch.zeros(20)\n    scatter(x, at, o)"
    test = f"{SCATTER}\n{'#' * 146}\n\ndef test_scatter():\n    {calls}\n\n\ntest_scatter()\n"
    (tmp_path / "scatter.py").write_text(test)
    for name, text, verdict in (("same.py", SCATTER, "right"), ("reads.py", SCATTER.replace("tl.load(x + i, mask=i < n)", "tl.load(x + i)"), "unsafe")):
        (tmp_path / name).write_text(text)
        found = tilevm.judge.judge(str(tmp_path / "scatter.py"), str(tmp_path / name), server=server, budget=2)
        assert found.verdict == verdict, str(found)
        assert verdict == "right" and found.refused or found.code == "vm.out_of_bounds"


OWN = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def doubled(x, more=0):
    o = torch.empty(x.numel() + more, device="cuda")
    kernel[(triton.cdiv(x.numel(), 64),)](x, o, x.numel(), B=64)
    return o


def own(x):
    return {result}
"""


@pytest.mark.parametrize("result, verdict", (("doubled(x, more=1)", "undecided"), ("doubled(x).reshape(x.shape).sum(0)", "right"),
                                             ("(x, doubled(x))", "right")))
def test_a_task_of_kernels_is_right_by_itself(server, tmp_path, result, verdict):
    """Elements that it leaves as they are, work of torch beside its kernels, and an argument that it gives back are no mistakes of an answer."""
    text = OWN.format(result=result)
    (tmp_path / "answer.py").write_text(text)
    (tmp_path / "own.py").write_text(f"{text}\n{'#' * 146}\n\ndef test_own():\n    own(torch.randn(3, 5))\n\n\ntest_own()\n")
    found = tilevm.judge.judge(str(tmp_path / "own.py"), str(tmp_path / "answer.py"), server=server, budget=1)
    reasons = ("judge.not_written", "its result is random")  # what nobody wrote may differ from call to call
    assert found.verdict == verdict and (verdict == "right" or any(reason in found.message for reason in reasons)), str(found)
