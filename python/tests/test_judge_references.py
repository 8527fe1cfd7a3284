"""How exactly a task is defined whose reference computes in float64 by itself, as NumPy users write it: right answers of float32 are right."""
import importlib.util
import itertools
import sys
import textwrap

import numpy
import pytest
import tilevm.judge
from tilevm.judge import _cases, _noise_numpy, _numbers, _reference, _server, _watch

KERNEL = """
from tilevm import script


@script.kernel("x: f32[n] -> y: f32[n]", grid="ceildiv(n, B)")
def kernel(x, y, B=64):
    i = script.bid()
    v = script.load(x, i, B)
    script.store(y, i, {expression})


def answer(x):
    return kernel(x)
"""

SIGMOID = "1.0 / (1.0 + script.exp(-v))"
# Each computes the function in float64, and hides how from a NumPy array that follows operations.
SIGMOIDS = {
    "conversion": "return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)",
    "asarray": "x = np.asarray(x, np.float64)\n    return np.asarray(1 / (1 + np.exp(-x))).astype(np.float32)",
    "float64 result": "return 1 / (1 + np.exp(-np.array(x, dtype=np.float64)))",
    "elements": "return np.array([1 / (1 + math.exp(-float(v))) for v in x], np.float32).reshape(x.shape)",
    "a result by elements": "y = np.empty(x.shape, np.float64)\n    for i in range(x.size):\n        y[i] = 1 / (1 + np.exp(-float(x[i])))\n    return y",
}


def task(body):
    return f'import math\n\nimport numpy as np\n\nINPUTS = {{"x": "f32[n] contiguous in -20..20"}}\n\n\ndef reference(x):\n    {body}\n'


@pytest.fixture(scope="module")
def server():
    with tilevm.judge.Server([]) as made:
        yield made


@pytest.fixture
def verdict(tmp_path, server):
    def judge(body, expression):
        (tmp_path / "task.py").write_text(task(body))
        (tmp_path / "answer.py").write_text(KERNEL.format(expression=expression))
        return tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), server=server, budget=2)

    return judge


@pytest.mark.parametrize("body", SIGMOIDS.values(), ids=SIGMOIDS)
def test_right(verdict, body):
    found = verdict(body, SIGMOID)
    assert found.verdict == "right", str(found)


@pytest.mark.parametrize("body", SIGMOIDS.values(), ids=SIGMOIDS)
@pytest.mark.parametrize("wrong", ["1.0 / (1.00001 + script.exp(-v))", SIGMOID + " + 1e-6"])
def test_wrong(verdict, body, wrong):
    found = verdict(body, wrong)
    assert (found.verdict, found.code) == ("wrong", "judge.differs"), str(found)


def test_tanh_near_zero(verdict):
    """1 - 2 / (exp(2x) + 1) loses digits near 0, as every GPU's library does that computes tanh so."""
    found = verdict("return np.tanh(np.asarray(x, dtype=np.float64)).astype(x.dtype)", "1.0 - 2.0 / (script.exp(2.0 * v) + 1.0)")
    assert found.verdict == "right", str(found)


def test_following_ends():
    with _noise_numpy.following():
        made = numpy.asarray(_noise_numpy.noisy(numpy.ones(3, numpy.float32), numpy.random.default_rng(1)), dtype=numpy.float64)
        assert _noise_numpy.kind_of(made) == "float32"
        assert type(numpy.asarray([1.0])) is numpy.ndarray
    assert numpy.asarray.__module__ != _noise_numpy.__name__


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_bytes_of_one_element_with_a_stride():
    import torch

    assert _watch.bytes_of(torch.arange(4.0)[::2][:1]) == b"\0\0\0\0"
    assert _watch.bytes_of(torch.arange(4, dtype=torch.int16)[::2]) == b"\0\0\2\0"
    assert _watch.bytes_of(torch.zeros(0)) == b""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_whose_reference_is_numpy():
    """The bound of what torch does not see, and none for what is only moved."""
    import torch
    from tilevm.judge import _schema, _task

    def of(body):
        spaces = {"torch": torch, "numpy": numpy}
        exec(textwrap.dedent(body), spaces)  # noqa: S102  # the task of this test
        return _reference.Reference(_task.Task("task", "task.py", spaces["reference"], _schema.parse({"x": "f32[n]"}, "", "torch", None), []))

    x = torch.linspace(0.1, 3, 50)
    hidden = of("def reference(x):\n    return torch.from_numpy(numpy.log(x.double().numpy())).float()\n").expect((x,)).results[0]
    assert (hidden.bound > 2e-7 * numpy.abs(hidden.want)).all()
    moved = of("def reference(x):\n    return torch.from_numpy(x.numpy()[::-1].copy())\n").expect((x,)).results[0]
    assert (moved.bound < 1e-7 * numpy.abs(moved.want)).all()


def test_integers_in_the_type_of_an_argument():
    """Weights times scales are float32 as the scales are, though the reference runs in float64: such a product errs by its last digit."""
    torch = pytest.importorskip("torch")
    task = tilevm.judge.of_function(lambda w, s: w.to(s.dtype) * s, {"w": "i8[n]", "s": "f32[n]"})
    result = _reference.Reference(task).expect((torch.arange(3, 9, dtype=torch.int8), torch.full((6,), 1.1))).results[0]
    assert result.dtype == "float32" and (result.noise > 2.0 ** -25 * abs(result.want)).all()


def test_arrays_from_numbers_alone():
    """A function without arrays among its arguments, whose result is of torch."""
    torch = pytest.importorskip("torch")
    task = tilevm.judge.of_function(lambda n: torch.arange(n) / 3, {"n": "int in 1..9"})
    assert _reference.Reference(task).expect((5,)).results[0].want.shape == (5,)


def test_a_frontend_that_is_not_here(monkeypatch):
    """The process that starts answers works without it: an answer that imports it says so."""
    monkeypatch.setitem(sys.modules, "cuda", None)
    _server._prepare(("cuda",))


PRODUCT_TASK = """
import torch

INPUTS = {"a": "f32[m, k] contiguous", "b": "f32[k, n] contiguous"}


def product(a, b):
    return a @ b
"""

PRODUCT = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, m, n, k, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    columns = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    sums = tl.zeros([B, B], tl.float32)
    for first in range(0, k, B):
        i = first + tl.arange(0, B)
        x = tl.load(a + rows * k + i[None, :], mask=(rows < m) & (i[None, :] < k), other=0.0)
        y = tl.load(b + i[:, None] * n + columns, mask=(i[:, None] < k) & (columns < n), other=0.0)
        sums += tl.dot(x, y)
    tl.store(c + rows * n + columns, sums, mask=(rows < m) & (columns < n))


def product(a, b):
    c = torch.empty(a.shape[0], b.shape[1], device="cuda")
    kernel[(triton.cdiv(a.shape[0], 16), triton.cdiv(b.shape[1], 16))](a, b, c, a.shape[0], b.shape[1], a.shape[1], B=16)
    return c
"""


@pytest.fixture(scope="module")
def triton_server():
    pytest.importorskip("triton")
    with tilevm.judge.Server(("torch", "triton")) as made:
        yield made


@pytest.mark.parametrize("task, old, new, verdict", [
    ("", "", "", "right"),
    ("\nTF32 = True\n", "", "", "right"),
    ("\nTF32 = False\n", "", "", "wrong"),
    ("\nTF32 = False\n", "tl.dot(x, y)", 'tl.dot(x, y, input_precision="ieee")', "right"),
    ("", "tl.dot(x, y)", "tl.dot(x.to(tl.bfloat16), y.to(tl.bfloat16))", "wrong"),
    ("", "tl.dot(x, y)", "tl.dot(x.to(tl.float16), y.to(tl.float16))", "wrong"),
    ("", "tl.dot(x, y)", "tl.dot(x, y) * 1.01", "wrong"),
])
def test_products_of_tl_dot(tmp_path, triton_server, task, old, new, verdict):
    """tf32 is the default of tl.dot, which a remark says; less than tf32 is wrong."""
    (tmp_path / "task.py").write_text(PRODUCT_TASK + task)
    (tmp_path / "answer.py").write_text(PRODUCT.replace(old, new) if old else PRODUCT)
    found = tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), server=triton_server, budget=2)
    assert found.verdict == verdict, str(found)
    if verdict == "right":
        assert any("judge.tf32" in remark for remark in found.remarks) == (task == "")


def test_error_of_the_compiler(tmp_path, triton_server):
    """Its message says what is wrong, not the place alone."""
    (tmp_path / "task.py").write_text(PRODUCT_TASK)
    (tmp_path / "answer.py").write_text(PRODUCT.replace("tl.dot(x, y)", "tl.no_such_function(x, y)"))
    found = tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), server=triton_server, budget=1)
    assert found.code == "judge.raises" and "no_such_function" in found.message, str(found)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_rounding_makes_no_negative_square(library):
    """A length of 0 is followed by no square root of a negative number: NaN in an answer stays a mistake there. A difference of squares may be one."""
    made = pytest.importorskip(library)

    def length(x):
        return made.sqrt((x * x).sum(1))

    def spread(x):
        return made.sqrt((x * x).mean(1) - x.mean(1) ** 2)

    for values in (numpy.zeros((3, 5)), numpy.full((3, 5), 1e-30)):
        array = values.astype("f4") if library == "numpy" else made.from_numpy(values.astype("f4"))
        found = _reference.Reference(tilevm.judge.of_function(length, example=(array,))).expect((array,)).results[0]
        assert numpy.isfinite(found.native).all() and (found.bound < 1e-7).all()
    values = numpy.full((3, 5), 1000.1)
    array = values.astype("f4") if library == "numpy" else made.from_numpy(values.astype("f4"))
    found = _reference.Reference(tilevm.judge.of_function(spread, example=(array,))).expect((array,)).results[0]
    assert numpy.isnan(found.native).any() or (found.bound > 0.01).all()


def test_last_digits_of_zero():
    """0 is no number near 1/2: what rounding explains of an exact 0 is the least number of the type."""
    for kind, form in _numbers.FORMATS.items():
        below, zero = _numbers.ulp(numpy.array([2.0 ** (form.least - 3), 0.0]), kind)
        assert zero == below == 2.0 ** (form.least - form.digits + 1)


def test_running_statistics():
    """A norm changes its running mean and variance, which err as sums do; without training it changes nothing, and errs by what it is given."""
    torch = pytest.importorskip("torch")
    norm = torch.nn.functional.batch_norm

    def of(train):
        def step(x, gain, mean, variance):
            return norm(x, mean, variance, gain, None, train, 0.3, 1e-5)

        generator = torch.Generator().manual_seed(1)
        x, gain = torch.randn(4, 3, 5, generator=generator) + 1000, torch.full((3,), 1000.0)
        mean, variance = torch.full((3,), 999.0), torch.rand(3, generator=generator) + 0.5
        found = _reference.Reference(tilevm.judge.of_function(step, example=(x, gain, mean, variance))).expect((x, gain, mean, variance))
        single = norm(x, mean.clone(), variance.clone(), gain, None, train, 0.3, 1e-5)
        shifted = norm(x * (1 + 2 ** -24), mean.clone(), variance.clone(), gain, None, train, 0.3, 1e-5)
        for result in (single, shifted):
            assert (abs(result.double().numpy() - found.results[0].want) <= found.results[0].bound).all()
        return found

    trained = of(True)
    assert trained.after[0] is None and all(trained.after[i].noise.min() > 1e-7 * abs(trained.after[i].want).min() for i in (2, 3))
    assert of(False).after[2:] == [None, None]


def test_groups_of_channels():
    """A group of equal numbers errs by more than one of different numbers beside it."""
    torch = pytest.importorskip("torch")
    x = torch.randn(1, 4, 6, generator=torch.Generator().manual_seed(2))
    x[0, 2:] = 1000 + 0.01 * x[0, 2:]
    task = tilevm.judge.of_function(lambda x: torch.nn.functional.group_norm(x, 2), example=(x,))
    noise = _reference.Reference(task).expect((x,)).results[0].noise
    assert noise[0, 2:].min() > 100 * noise[0, :2].max()


def test_tensors_that_compute_in_numpy():
    """As numpy.exp of x.numpy(): each operation errs, at values near 0 as elsewhere; results that rounding cannot tell from arguments are computed."""
    torch = pytest.importorskip("torch")
    task = tilevm.judge.of_function(lambda x: torch.from_numpy(numpy.tanh(x.double().numpy())).to(x.dtype), {"x": "f32[n]"})
    reference = _reference.Reference(task)
    normal = reference.expect((torch.linspace(-3, 3, 50),)).results[0]
    assert (normal.noise >= 2.0 ** -25).all()
    tiny = reference.expect((torch.full((50,), 1e-38),)).results[0]
    assert (tiny.noise >= 2.0 ** -25).all()


def test_errors_that_cancel():
    """Five samples may miss an element's own error among thousands: the bound is never far below that of its neighbours, whatever their sizes."""
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(20000, generator=generator) * 2.0 ** (torch.rand(20000, generator=generator) * 26 - 24)
    for shape in ((20000,), (10000, 2), (20, 1000, 1)):
        task = tilevm.judge.of_function(lambda x: 0.5 * x * (1.0 + torch.tanh(0.8 * x)), {"x": f"f32[{', '.join('abc'[:len(shape)])}]"})
        found = _reference.Reference(task).expect((x.reshape(shape),)).results[0]
        assert (found.noise > 2.0 ** -22 * abs(found.want)).all()


def _losses(torch, x, target):
    """Cross entropy with the sum of rows one after the other in float32."""
    rows = torch.nn.functional.cross_entropy(x, target, reduction="none")
    total = rows[0].clone()
    for row in rows[1:]:
        total = total + row
    return total / len(rows)


def _solved(torch, a, b):
    """By elimination without a choice of rows, in float32."""
    a, b = a.clone(), b.clone()
    for i in range(len(b)):
        for j in range(len(b)):
            if i != j:
                factor = a[j, i] / a[i, i]
                a[j], b[j] = a[j] - factor * a[i], b[j] - factor * b[i]
    return b / a.diagonal()


def _sampled(torch, x, grid):
    """Bilinear, with zeros outside; places between pixels as (g + 1) (W / 2) - 0.5, which rounds otherwise."""
    size = x.shape[-1]
    place = (grid + 1) * (size / 2) - 0.5
    low = place.floor().long()
    part = place - low
    found = torch.zeros(grid.shape[:3])
    for dy in (0, 1):
        for dx in (0, 1):
            u, v = low[..., 0] + dx, low[..., 1] + dy
            inside = (u >= 0) & (u < size) & (v >= 0) & (v < size)
            weight = (part[..., 0] if dx else 1 - part[..., 0]) * (part[..., 1] if dy else 1 - part[..., 1])
            found += torch.where(inside, x[0, 0][v.clamp(0, size - 1), u.clamp(0, size - 1)] * weight, 0.0)
    return found[:, None]


def _fourier(torch, x):
    """By the matrix of the transform, in complex numbers of float32."""
    count = len(x)
    angles = torch.outer(torch.arange(count), torch.arange(count)).remainder(count) * (-2 * numpy.pi / count)
    return torch.view_as_real(torch.polar(torch.ones_like(angles), angles) @ x.to(torch.complex64))


def _orders(torch):
    """(function, arguments, the same in another order of operations in float32)."""
    f = torch.nn.functional
    generator = torch.Generator().manual_seed(4)

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    a, b, hilbert = normal(1000), normal(1000), 1.0 / (torch.arange(6)[:, None] + torch.arange(6) + 1)
    return {
        "nll_loss": (f.cross_entropy, (torch.zeros(3000, 5), torch.zeros(3000, dtype=torch.int64)), lambda x, t: _losses(torch, x, t)),
        "mse_loss": (f.mse_loss, (a, b), lambda x, y: ((x - y) ** 2).cumsum(0)[-1] / 1000),
        "addcmul": (torch.addcmul, (-(a * b), a, b), lambda x, y, z: x + y * z),
        "add alpha": (lambda x, y: torch.add(x, y, alpha=0.1), (-0.1 * a, a), lambda x, y: x + y * 0.1),
        "lerp": (lambda x, y: torch.lerp(x, y, 0.3), (0.3 * a, -0.7 * a), lambda x, y: x * 0.7 + y * 0.3),
        "hardsigmoid": (f.hardsigmoid, (-3 + a * 1e-4,), lambda x: torch.clamp(x * (1 / 6) + 0.5, 0, 1)),
        "softshrink": (lambda x: f.softshrink(x, 0.1), (0.1 + a.abs() * 1e-6,), lambda x: x - 0.1),
        "remainder": (lambda x: torch.remainder(x, 0.7), (a * 100,), lambda x: x - torch.floor(x / 0.7) * 0.7),
        "exp_": (lambda x: x.clone().exp_(), (a * 20,), lambda x: torch.exp2(x * 1.4426950408889634)),
        "grid_sample": (lambda x, g: f.grid_sample(x, g, align_corners=False), (normal(1, 1, 9, 9), normal(1, 20, 30, 2).clamp(-1, 1)),
                        lambda x, g: _sampled(torch, x, g)),
        "solve": (torch.linalg.solve, (hilbert, normal(6)), lambda x, y: _solved(torch, x, y)),
        "fft": (lambda x: torch.view_as_real(torch.fft.fft(x)), (normal(300),), lambda x: _fourier(torch, x)),
    }


@pytest.mark.parametrize("name", ["nll_loss", "mse_loss", "addcmul", "add alpha", "lerp", "hardsigmoid", "softshrink", "remainder", "exp_", "grid_sample",
                                  "solve", "fft"])
def test_another_order_of_operations(name):
    """What rounds otherwise is right, and what is a thousand times as far off as that is wrong."""
    torch = pytest.importorskip("torch")
    function, arguments, other = _orders(torch)[name]
    want = _reference.Reference(tilevm.judge.of_function(lambda *given: function(*given), example=arguments)).expect(arguments).results[0]
    made = other(*arguments).double().numpy()
    error = abs(made - want.want)
    assert (error <= want.bound).all(), (error / want.bound).max()
    assert (want.bound <= 2000 * max(error.max(), 2.0 ** -24 * abs(want.want).max())).all()


def test_rounding_to_8_bits():
    """It is a step of the task: another type of 8 bits is not explained by rounding."""
    torch = pytest.importorskip("torch")
    x = torch.randn(500, generator=torch.Generator().manual_seed(5))
    task = tilevm.judge.of_function(lambda x: x.to(torch.float8_e4m3fn).to(x.dtype), example=(x,))
    want = _reference.Reference(task).expect((x,)).results[0]
    for kind, right in ((torch.float8_e4m3fn, True), (torch.float8_e5m2, False)):
        assert (abs(x.to(kind).double().numpy() - want.want) <= want.bound).all() == right


def test_errors_that_do_not_grow_with_sizes():
    """A log of a sum errs by the largest number: an element that is large beside its neighbours errs no more than they do."""
    torch = pytest.importorskip("torch")
    x = torch.ones(3, 64)
    x[0, 5] = 1e6
    task = tilevm.judge.of_function(lambda x: torch.logsumexp(x, 0), example=(x,))
    noise = _reference.Reference(task).expect((x,)).results[0].noise
    assert noise.max() < 40 * numpy.median(noise)


def test_a_task_that_is_random_at_some_values():
    """Draws with a probability of 0 are the same, and few others may be by chance."""
    torch = pytest.importorskip("torch")
    task = tilevm.judge.of_function(lambda x: (torch.rand(x.shape) < x).float(), {"x": "f32[n]"})
    reference = _reference.Reference(task)
    assert not reference.is_random_at((torch.zeros(3),))
    assert reference.is_random_at((torch.full((3,), 0.5),))


def test_sizes_for_which_a_task_gives_nan():
    """A task that knows even sizes alone promises nothing for others, unless it says that it takes them."""
    def halves(x):
        return x if x.size % 2 == 0 else x * numpy.nan

    def logs(x):
        return numpy.log(x)

    for function, options, sizes, values, refuses in ((halves, {"example": (numpy.ones(4, "float32"),)}, 4, "normal", False),
                                                      (halves, {"example": (numpy.ones(4, "float32"),)}, 5, "normal", True),
                                                      (halves, {"example": (numpy.ones(4, "float32"),)}, 5, "zeros", True),
                                                      (halves, {"inputs": {"x": "f32[m]"}}, 5, "normal", False),
                                                      (logs, {"example": (numpy.ones(4, "float32"),)}, 50, "negative", False)):
        judge = tilevm.judge.Judge(tilevm.judge.of_function(function, **options), "answer.py", None)
        case = _cases.Case((("m", sizes),), values=values)
        if refuses:
            with pytest.raises(_reference.Refused, match="NaN alone"):
                judge.expect(case)
        else:
            judge.expect(case)


def jacobi(a):
    """The singular value decomposition by rotations of pairs of columns, in float32: U, S, Vh, with the largest of S first."""
    u, v = a.copy(), numpy.eye(a.shape[1], dtype=numpy.float32)
    for _ in range(12):
        for p, q in itertools.combinations(range(a.shape[1]), 2):
            x, y, both = (numpy.sum(u[:, i] * u[:, j], dtype=numpy.float32) for i, j in ((p, p), (q, q), (p, q)))
            if abs(both) <= 1e-7 * numpy.sqrt(x * y):
                continue
            zeta = (y - x) / (2 * both)
            tangent = numpy.sign(zeta) / (abs(zeta) + numpy.sqrt(1 + zeta * zeta))
            cosine = numpy.float32(1 / numpy.sqrt(1 + tangent * tangent))
            sine = numpy.float32(cosine * tangent)
            for each in (u, v):
                each[:, [p, q]] = numpy.stack([cosine * each[:, p] - sine * each[:, q], sine * each[:, p] + cosine * each[:, q]], 1)
    s = numpy.sqrt(numpy.sum(u * u, 0, dtype=numpy.float32))
    order = numpy.argsort(-s)
    return (u / s)[:, order], s[order], v[:, order].T


def test_decompositions_by_rotations():
    """A GPU takes other steps than LAPACK, and their errors differ. Numbers that are cut to tf32 are still too far off."""
    torch = pytest.importorskip("torch")

    def approximated(a):
        u, s, vh = torch.linalg.svd(a, full_matrices=False)
        return u[..., :3] @ torch.diag_embed(s[..., :3]) @ vh[..., :3, :]

    for seed in (5, 8, 12):
        a = numpy.random.default_rng(seed).standard_normal((97, 5)).astype(numpy.float32)
        tensor = torch.from_numpy(a)
        want = _reference.Reference(tilevm.judge.of_function(approximated, example=(tensor,))).expect((tensor,)).results[0]
        u, s, vh = jacobi(a)
        assert (abs((u[:, :3] * s[:3]) @ vh[:3] - want.want) <= want.bound).all()
        cut = (u[:, :3] * s[:3]).view(numpy.int32) & ~0x1fff
        assert not (abs(cut.view(numpy.float32) @ vh[:3] - want.want) <= want.bound).all()


def test_the_largest_of_far_different_eigenvalues():
    """That of a matrix of nearly equal numbers erred by 0.0147 in 49001 on an H200; one that is off by a digit of tf32 is wrong."""
    torch = pytest.importorskip("torch")
    a = torch.from_numpy((1000 + numpy.abs(numpy.random.default_rng(24).standard_normal((49, 49)))).astype(numpy.float32))
    want = _reference.Reference(tilevm.judge.of_function(lambda a: torch.linalg.eig(a)[0].abs().amax(), example=(a,))).expect((a,)).results[0]
    assert 0.0147 < want.bound < 49001 * 2.0 ** -11
    # The same of magnitudes of all sizes: off by 0.0019 in 2948 there.
    a = torch.from_numpy(numpy.abs(100 * numpy.random.default_rng(29).standard_normal((37, 37))).astype(numpy.float32))
    want = _reference.Reference(tilevm.judge.of_function(lambda a: torch.linalg.eig(a)[0].abs().amax(), example=(a,))).expect((a,)).results[0]
    assert 6.5e-7 < want.bound / want.want < 2.0 ** -11


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_single_number_that_few_ways_of_rounding_move():
    """Five draws of one number may all be small: the bound of an eigenvalue was a sixth of what forty give, and a GPU's is beyond that."""
    import torch
    from tilevm.judge import _compare, _findings, _judge

    reference = _reference.Reference(tilevm.judge.of_function(lambda a: torch.linalg.eig(a)[0].abs().amax(), example=(torch.eye(2),)))
    bounds = []
    for seed in range(12):
        a = torch.from_numpy(numpy.abs(numpy.random.default_rng(seed).standard_normal((12, 12))).astype(numpy.float32) * 100)
        bounds.append([float(each.expect((a,)).results[0].noise) for each in (reference, reference.closer())])
    few, many = zip(*bounds)
    assert max(few) / min(few) > 2 > max(many) / min(many), bounds
    expected = reference.expect((torch.eye(2),))
    for elements, asked in ((1, True), (4, True), (5, False)):
        difference = _compare.Difference("judge.differs", "", elements=elements, wrong=1)
        found = _findings.Finding("wrong", "judge.differs", "", difference=difference)
        assert _judge._is_of_few(found, expected) == asked


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_integers_that_few_ways_of_rounding_change():
    """Where a number lies next to what decides about an integer, five ways in which rounding may go can all go one way."""
    import torch

    x = torch.arange(400.0) * 3 + 1.5
    reference = _reference.Reference(tilevm.judge.of_function(lambda x: (x / 3 + 0.5).trunc().to(torch.int32), example=(x,)))
    few, many = (each.expect((x,)).results[0].open for each in (reference, reference.closer()))
    assert few.sum() > 300 and not few.all() and many.all()
