"""Operators of torch from kernels."""
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import tilevm
from conftest import EXAMPLES, SCALE
from tilevm import script

torch = pytest.importorskip("torch", reason="torch is not installed")
import tilevm.torch as operators  # noqa: E402  needs torch

def shapes_kernel(items, more=""):
    """A kernel that does nothing, with outputs of the given sizes."""
    parameters = "%x: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>" + "".join(f", %o{i}: tile<ptr<i8>>" for i in range(len(items)))
    outputs = "\n".join(f"  out o{i}: i8[{item}] at %o{i}" for i, item in enumerate(items))
    return tilevm.loads(f"""entry @k({parameters}) interface {{
  in x: f32[%m, %n] at %x
  scalar k = %k
{outputs}
{more}  grid 1
}} {{
  return
}}
""").kernel


@pytest.fixture
def module():
    return tilevm.loads(SCALE, "scale.tile")


@pytest.fixture
def norm():
    loaded = tilevm.load(EXAMPLES / "python" / "layer_norm.tile")
    return operators.op("tilevm_test::layer_norm", loaded, "layer_norm", backward=["layer_norm_backward_x", "layer_norm_backward_weight"])


def tensors(rows=10, columns=70):
    torch.manual_seed(0)
    return [torch.randn(*shape, requires_grad=True) for shape in ((rows, columns), (columns,), (columns,))]


def test_an_operator_follows_from_the_interface(module):
    scale = operators.op("tilevm_test::scale", module, "scale")
    assert str(torch.ops.tilevm_test.scale.default._schema) == "tilevm_test::scale(Tensor x, float f=2., SymInt? i=None) -> Tensor"
    x = torch.arange(3.0)
    assert torch.equal(scale(x), 2 * x + 3)
    assert torch.equal(torch.ops.tilevm_test.scale(x, f=0.5, i=1), 0.5 * x + 1)
    assert torch.equal(scale(torch.arange(6.0)[::2]), torch.arange(6.0)[::2] * 2 + 3)
    torch.library.opcheck(scale, (x,))
    torch.library.opcheck(scale, (torch.arange(8.0)[::2], 3.0, 4))
    compiled = torch.compile(lambda x, i: scale(x + 1, 1.0, i) * 2, fullgraph=True, dynamic=True)
    for n in (4, 5, 9):
        assert torch.equal(compiled(torch.ones(n), n), torch.full((n,), 2.0 * (2 + n)))


def test_arrays_that_are_changed_are_mutated_arguments(module):
    add_to = operators.op("tilevm_test::add_to", module, "add_to")
    assert "Tensor(b!) y) -> ()" in str(torch.ops.tilevm_test.add_to.default._schema)
    x, y = torch.ones(4), torch.arange(4.0)
    version = y._version
    assert add_to(x, y) is None and torch.equal(y, torch.arange(4.0) + 1) and y._version > version
    torch.library.opcheck(add_to, (x, y))

    def twice(x, y):
        add_to(x, y)
        add_to(x, y)
        return y * 2

    for n in (4, 7):
        y = torch.zeros(n)
        assert torch.equal(torch.compile(twice, fullgraph=True, dynamic=True)(torch.ones(n), y), torch.full((n,), 4.0))
        assert torch.equal(y, torch.full((n,), 2.0))


def test_strides_that_the_kernel_cannot_take(module):
    add_to = operators.op("tilevm_test::add_to", module, "add_to")
    x, y = torch.arange(8.0)[::2], torch.zeros(8)
    add_to(x, y[1::2])
    assert torch.equal(y, torch.tensor([0, 0, 0, 2, 0, 4, 0, 6.0]))
    add_to(torch.ones(1).expand(4), y[:4])
    assert torch.equal(y[:4], torch.tensor([1, 1, 1, 3.0]))


def test_gradients_by_kernels_of_other_names(module):
    scale = operators.op("tilevm_test::scale_grad", module, "scale",
                         backward=operators.Gradient("scale_backward", {"dy": "grad_y", "dx": "grad_x"}))
    x = torch.randn(5, requires_grad=True)
    (scale(x, 3.0) ** 2).sum().backward()
    torch.testing.assert_close(x.grad, 6 * scale(x.detach(), 3.0))
    scale(x, 3.0).sum().backward()  # the gradient that comes is expanded
    torch.library.opcheck(scale, (x, 3.0))
    y = torch.compile(lambda x: scale(x), fullgraph=True)(x)
    assert torch.equal(torch.autograd.grad(y, x, torch.ones(5))[0], torch.full((5,), 2.0))


def test_layer_norm_against_torch(norm):
    inputs, gradient = tensors(), torch.randn(10, 70)
    y, mean, rstd = norm(*inputs)
    assert y.requires_grad and not mean.requires_grad and not rstd.requires_grad
    expected = torch.nn.functional.layer_norm(inputs[0], (70,), inputs[1], inputs[2])
    torch.testing.assert_close(y, expected)
    for ours, theirs in zip(torch.autograd.grad(y, inputs, gradient), torch.autograd.grad(expected, inputs, gradient)):
        torch.testing.assert_close(ours, theirs)
    torch.library.opcheck(norm, tuple(tensors()), {"epsilon": 1e-3})


def test_only_the_kernels_whose_gradients_are_asked_for_run(norm, monkeypatch):
    x, weight, bias = tensors()
    ran = []
    call = tilevm.Kernel.__call__

    def seen(self, *args, **named):
        ran.append(self.name)
        return call(self, *args, **named)

    monkeypatch.setattr(tilevm.Kernel, "__call__", seen)
    norm(x, weight.detach(), bias.detach())[0].sum().backward()
    assert ran == ["layer_norm", "layer_norm_backward_x"]


def test_compiled_and_exported(norm, tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x, weight, bias):
            return (norm(x * 2, weight, bias)[0] ** 2).sum()

    model = Model()
    compiled = torch.compile(model, fullgraph=True, dynamic=True)
    for rows in (10, 13):
        ours, theirs = tensors(rows), tensors(rows)
        loss, expected = compiled(*ours), model(*theirs)
        loss.backward()
        expected.backward()
        torch.testing.assert_close(loss, expected)
        for a, b in zip(ours, theirs):
            torch.testing.assert_close(a.grad, b.grad)
    program = torch.export.export(model, tuple(tensors()), dynamic_shapes=({0: torch.export.Dim("rows")}, None, None))
    torch.export.save(program, tmp_path / "model.pt2")
    loaded = torch.export.load(tmp_path / "model.pt2").module()
    torch.testing.assert_close(loaded(*tensors(21)), model(*tensors(21)))


def test_a_package_of_aotinductor(norm, tmp_path):
    """The package has torch's code as machine code; of the operator it has the name."""
    class Model(torch.nn.Module):
        def forward(self, x, weight, bias):
            return norm(x * 2, weight, bias)[0] + 1

    inputs = [t.detach() for t in tensors()]
    program = torch.export.export(Model(), tuple(inputs), dynamic_shapes=({0: torch.export.Dim("rows", min=2)}, None, None))
    package = torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "model.pt2"))
    loaded = torch._inductor.aoti_load_package(package)
    for rows in (3, 21):
        inputs = [t.detach() for t in tensors(rows)]
        torch.testing.assert_close(loaded(*inputs), Model()(*inputs), rtol=0, atol=0)


def test_shapes_without_memory_are_those_of_the_launch_rule():
    items = ["%m", "7", "x.shape[0] + x.shape[1] * 2, ceildiv(x.shape[1], 3)", "min(k, x.shape[0]), max(k, 2)", "select(k < 3, 5, x.shape[1])",
             "x.shape[1] % 4 + x.shape[0] / 2", "(x.shape[0] == 3) + 1", "o1.shape[0] + x.stride[0]", "select(x.shape[0] == 2, k, 0)"]
    kernel = shapes_kernel(items)
    op = operators.op("tilevm_test::shapes", kernel)
    compiled = torch.compile(lambda x, k: op(x, k), fullgraph=True, dynamic=True)
    for m, n, k in ((1, 1, 0), (3, 10, 2), (2, 7, 5), (16, 3, 3)):
        x = torch.zeros(m, n)
        real = [tuple(t.shape) for t in kernel(x, k)]
        assert [tuple(t.shape) for t in op(x.to("meta"), k)] == real
        assert [tuple(t.shape) for t in compiled(x, k)] == real


@pytest.mark.parametrize("items, more, message", [
    (["x.align"], "", "depends on an address"), (["num_sms"], "", "depends on the machine"),
])
def test_shapes_that_torch_cannot_know(items, more, message):
    with pytest.raises(tilevm.ArgumentError, match=message):
        operators.op("tilevm_test::unknown", shapes_kernel(items, more))


def test_wrong_use(module, raw):
    wrong = [
        (lambda: operators.op("scale", module, "scale"), "no name of an operator"),
        (lambda: operators.op("a::b::c", module, "scale"), "no name of an operator"),
        (lambda: operators.op("a::b c", module, "scale"), "no name of an operator"),
        (lambda: operators.op("tilevm_test::raw", raw), "has no interface"),
        (lambda: operators.op("tilevm_test::w", module, "scale", backward="add_to"), "changes `y`"),
        (lambda: operators.op("tilevm_test::w", module, "add_to", backward="scale"), "only operators that change nothing"),
        (lambda: operators.op("tilevm_test::w", module, "scale", backward="scale_backward"), "reads `dy`, which is neither"),
        (lambda: operators.op("tilevm_test::w", module, "scale", backward=operators.Gradient("scale_backward", {"dz": "x"})),
         "no argument `dz`; it has dx, dy, f"),
        (lambda: operators.op("tilevm_test::w", module, "scale", backward=operators.Gradient("scale_backward", {"dy": "grad_y"})),
         "give no gradient"),
        (lambda: operators.op("tilevm_test::w", module, "scale", backward=operators.Gradient("scale_backward", {"dy": "grad_y", "dx": "x"})),
         "gives `x`, which is there already"),
        (lambda: operators.op("tilevm_test::w", module, "scale", backward=[3]), "backward= has 3"),
    ]
    for call, message in wrong:
        with pytest.raises(tilevm.ArgumentError, match=message):
            call()
    with pytest.raises(tilevm.NotFoundError, match="no kernel `nothing`"):
        operators.op("tilevm_test::w", module, "nothing")
    with pytest.raises(tilevm.NotFoundError, match="3 kernels"):
        operators.op("tilevm_test::w", module)
    assert not hasattr(torch.ops.tilevm_test, "w")  # nothing was registered


def test_a_gradient_that_no_kernel_gives():
    loaded = tilevm.load(EXAMPLES / "python" / "layer_norm.tile")
    norm = operators.op("tilevm_test::half", loaded, "layer_norm", backward="layer_norm_backward_x")
    x, weight, bias = tensors()
    norm(x, weight.detach(), bias.detach())[0].sum().backward()
    with pytest.raises(tilevm.ArgumentError, match=r"gives `grad_bias`.*\n.*bias.detach\(\)"):
        norm(x, weight, bias)[0].sum().backward()


def test_wrong_tensors(norm, module):
    x, weight, bias = (t.detach() for t in tensors())
    compiled = torch.compile(lambda *a: norm(*a), fullgraph=True)
    for arguments, message in (((x, weight[:3], bias), "must be equal"), ((x.double(), weight, bias), "`x` is of"),
                               ((x[0], weight, bias), "rank 1")):
        with pytest.raises(tilevm.ArgumentError, match=message):
            norm(*arguments)
        with pytest.raises(Exception, match=message):
            compiled(*arguments)
    with pytest.raises(RuntimeError, match="no autograd formula"):
        operators.op("tilevm_test::plain", module, "scale")(torch.ones(2, requires_grad=True)).sum().backward()


def test_options_of_launches_on_the_cpu():
    loaded = tilevm.loads("""entry @first(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) interface {
  in x: f32[?] at %x
  out y: f32[1] at %y
  grid 1
} {
  %v = load_ptr_tko weak %x
  store_ptr_tko weak %y, %v
  return
}
""", "first.tile")
    full = operators.op("tilevm_test::first", loaded, check="full", threads=1)
    assert full(torch.ones(3)).item() == 1
    with pytest.raises(tilevm.TrapError) as info:
        full(torch.ones(0))
    assert (info.value.file, info.value.line, info.value.array) == ("first.tile", 6, "x")


def test_bf16_and_bool():
    loaded = tilevm.loads("""entry @pick(%x: tile<ptr<bf16>>, %c: tile<ptr<i1>>, %y: tile<ptr<bf16>>, %f: tile<i1>) interface {
  in x: bf16[1] at %x
  in c: i1[1] at %c
  out y: bf16[1] at %y
  scalar f = %f default 1
  grid 1
} {
  %v = load_ptr_tko weak %x
  %d = load_ptr_tko weak %c
  %both = andi %d, %f
  %zero = constant <bf16: 0.0>
  %r = select %both, %v, %zero
  store_ptr_tko weak %y, %r
  return
}
""")
    pick = operators.op("tilevm_test::pick", loaded)
    x = torch.tensor([1.5], dtype=torch.bfloat16)
    assert pick(x, torch.tensor([True])).item() == 1.5
    assert pick(x, torch.tensor([True]), False).item() == 0
    torch.library.opcheck(pick, (x, torch.tensor([True])))


def test_layer_norm_example_trains():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, str(EXAMPLES / "python" / "layer_norm.py")], capture_output=True, text=True, env=environment)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "exported, saved and loaded" in said.stdout


def test_where_cuda_is_the_cpu():
    code = """
import tilevm
tilevm.install()
import torch
import tilevm.torch
from conftest import SCALE
kernel = tilevm.loads(SCALE)["scale"]
for function in kernel, tilevm.torch.op("tilevm_test::scale", kernel):
    y = function(torch.arange(3.0, device="cuda"), 2.0)
    print(y.device.type, y.tolist())
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), *sys.path])}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert said.stdout == "cuda [3.0, 5.0, 7.0]\n" * 2, said.stdout + said.stderr


def test_the_package_does_not_import_torch():
    code = f"import sys; sys.path[:0] = {sys.path!r}; import tilevm; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
    assert (pathlib.Path(tilevm.__file__).parent / "torch" / "__init__.py").exists() and numpy is not None


# --- kernels that are written in Python


@script.kernel("x: f32[m, n] -> y: f32[m, n]", grid="m")
def softmax(x, y, SIZE=256):
    assert x.shape[1] <= SIZE, "rows are longer than SIZE"
    row = script.load(x, (script.bid(), 0), (1, SIZE), padding_mode="neg_inf")
    e = script.exp(row - row.max())
    script.store(y, (script.bid(), 0), e / e.sum())


@script.kernel("y: f32[m, n], grad_y: f32[m, n] -> grad_x: f32[m, n]", grid="m")
def softmax_backward(y, grad_y, grad_x, SIZE=256):
    at = (script.bid(), 0)
    value, grad = script.load(y, at, (1, SIZE), padding_mode="zero"), script.load(grad_y, at, (1, SIZE), padding_mode="zero")
    script.store(grad_x, at, value * (grad - (value * grad).sum()))


def test_kernels_of_script():
    made = operators.op("tilevm_test::soft", softmax, backward=softmax_backward)
    x = torch.randn(3, 100, requires_grad=True)
    torch.testing.assert_close(made(x), torch.softmax(x, 1))
    torch.library.opcheck(made, (x,))
    made(x)[:, 0].sum().backward()
    other = x.detach().requires_grad_()
    torch.softmax(other, 1)[:, 0].sum().backward()
    torch.testing.assert_close(x.grad, other.grad)
    wide = torch.randn(2, 1000)
    with pytest.raises(tilevm.TrapError, match="rows are longer than SIZE"):
        made(wide)
    larger = operators.op("tilevm_test::soft_wide", softmax, constants={"SIZE": 1024})
    torch.testing.assert_close(larger(wide), torch.softmax(wide, 1))
    torch.testing.assert_close(torch.compile(larger, backend="eager", fullgraph=True)(wide), torch.softmax(wide, 1))


def test_wrong_constants():
    for call, message in ((lambda: operators.op("tilevm_test::w", softmax, constants={"SIZ": 1}), "no constant `SIZ`"),
                          (lambda: operators.op("tilevm_test::w", softmax, "softmax"), "is a kernel already"),
                          (lambda: operators.op("tilevm_test::w", softmax.module, constants={"SIZE": 8}), "those of a kernel of tilevm.script"),
                          (lambda: operators.op("tilevm_test::w", 3), "is no kernel")):
        with pytest.raises(tilevm.Error, match=message):
            call()


def test_results_without_a_gradient_are_told():
    import warnings

    x = torch.randn(3, 100, requires_grad=True)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        softmax(x)
        softmax(x.detach())
        with torch.no_grad():
            softmax(x)
        operators.op("tilevm_test::quiet", softmax)(x)
    assert [w.message.code for w in found] == ["python.gradient"] and found[0].filename == __file__ and "`x`" in str(found[0].message)
