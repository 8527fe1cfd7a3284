"""Kernels in programs of JAX: shapes, jit, vmap, grad, export; the handler against the header of XLA.

They run where JAX does. On a GPU that needs a compiler: TILEVM_TILEC, or that of the wheel."""
import pathlib
import re
import subprocess
import sys
import sysconfig
import threading

import numpy
import pytest
import tilevm
from conftest import EXAMPLES, SCALE
from tilevm import script

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp  # noqa: E402  needs jax
import tilevm.jax as operators  # noqa: E402

FFI = pathlib.Path(__file__).absolute().parents[1] / "jax_ffi"
ON_GPU = jax.default_backend() != "cpu"


def runnable(module):
    """The module as JAX's platform runs it: with machine code on a GPU."""
    if not ON_GPU:
        return module
    major, minor = tilevm.device("cuda").compute_capability
    try:
        return module.compile(10 * major + minor)
    except tilevm.UnavailableError as error:
        pytest.skip(f"JAX runs on a GPU, which needs machine code of the kernel: {error}")


@pytest.fixture
def example():
    return lambda name: runnable(tilevm.load(EXAMPLES / f"{name}.tile"))


@pytest.fixture
def module():
    return runnable(tilevm.loads(SCALE, "scale.tile"))


@pytest.fixture
def scale(module):
    return operators.function(module, "scale", backward=operators.Gradient("scale_backward", {"dy": "grad_y", "dx": "grad_x"}))


@pytest.fixture
def norm():
    loaded = runnable(tilevm.load(EXAMPLES / "python" / "layer_norm.tile"))
    return operators.function(loaded, "layer_norm", backward=["layer_norm_backward_x", "layer_norm_backward_weight"])


def test_a_call(example):
    add = example("vector_add")
    a = jnp.arange(1000.0)
    assert jnp.array_equal(operators.call(add, a, 2 * a), 3 * a)
    assert jnp.array_equal(jax.jit(operators.function(add))(a, a) + 1, 2 * a + 1)
    assert jnp.array_equal(operators.call(add, b=a, a=numpy.ones(1000, "float32")), a + 1)
    assert operators.call(add, jnp.zeros(0), jnp.zeros(0)).shape == (0,)


def test_scalars_are_part_of_the_program(module):
    scale = operators.function(module, "scale")
    x = jnp.arange(3.0)
    assert jnp.array_equal(scale(x), 2 * x + 3) and jnp.array_equal(scale(x, f=0.5, i=1), 0.5 * x + 1)
    with pytest.raises(tilevm.ArgumentError, match="`f` of kernel `scale` is traced"):
        jax.jit(scale)(x, 2.0)
    assert jnp.array_equal(jax.jit(scale, static_argnums=1)(x, 4.0), 4 * x + 3)
    with pytest.raises(tilevm.ArgumentError, match="scalar `i` is 1.5"):
        scale(x, i=1.5)


def test_what_a_kernel_changes_is_a_result(module):
    add_to = operators.function(module, "add_to")
    x, y = jnp.ones(4), jnp.arange(4.0)
    assert jnp.array_equal(add_to(x, y), jnp.arange(4.0) + 1) and jnp.array_equal(y, jnp.arange(4.0))
    assert jnp.array_equal(jax.jit(lambda x, y: add_to(x, add_to(x, y)))(x, y), y + 2)
    batches = jnp.arange(12.0).reshape(3, 4)
    assert jnp.array_equal(jax.vmap(add_to, (None, 0))(x, batches), batches + 1)
    assert jnp.array_equal(jax.vmap(add_to, (0, None))(batches, y), batches + y)


def test_batches(example, module):
    add, scale = operators.function(example("vector_add")), operators.function(module, "scale")
    a, b = jnp.arange(24.0).reshape(2, 3, 4), jnp.arange(4.0)
    twice = jax.vmap(jax.vmap(add, (0, None)), (0, None))
    assert jnp.array_equal(twice(a, b), a + b) and jnp.array_equal(jax.jit(twice)(a, b), a + b)
    crossed = jax.vmap(jax.vmap(add, (None, 0)), (0, None))
    assert jnp.array_equal(crossed(a[0], a[1]), a[0][:, None] + a[1][None])
    assert jnp.array_equal(jax.vmap(add, in_axes=1, out_axes=1)(a[0], a[1]), a[0] + a[1])
    assert jnp.array_equal(jax.vmap(scale)(a[0]), 2 * a[0] + 4)
    assert jax.vmap(add)(jnp.zeros((0, 4)), jnp.zeros((0, 4))).shape == (0, 4)


def expected_norm(x, weight, bias, epsilon=1e-5):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + epsilon) * weight + bias


def test_gradients(scale, norm):
    x = jnp.arange(5.0)
    assert jnp.array_equal(jax.grad(lambda x: scale(x, 3.0).sum())(x), jnp.full(5, 3.0))
    assert jnp.array_equal(jax.jit(jax.vmap(jax.grad(lambda x: (scale(x, 3.0) * x).sum())))(jnp.ones((2, 5))), jnp.full((2, 5), 11.0))
    keys = jax.random.split(jax.random.key(0), 4)
    x, weight, bias, seen = (jax.random.normal(key, shape) for key, shape in zip(keys, ((10, 70), (70,), (70,), (10, 70))))
    for f in (lambda *a: (norm(*a)[0] * seen).sum(), jax.jit(lambda *a: (norm(*a)[0] * seen).sum())):
        found = jax.grad(f, argnums=(0, 1, 2))(x, weight, bias)
        wanted = jax.grad(lambda *a: (expected_norm(*a) * seen).sum(), argnums=(0, 1, 2))(x, weight, bias)
        for one, other in zip(found, wanted):
            numpy.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)


def test_a_gradient_that_no_kernel_gives(module, norm):
    formula = operators.Gradient("scale_backward", {"dy": "grad_y", "dx": "grad_x"})
    with pytest.raises(tilevm.ArgumentError, match="the backward kernels give no gradient"):
        operators.function(module, "scale", backward=operators.Gradient("scale_backward", {"dy": "grad_y", "dx": "other"}))
    with pytest.raises(ValueError, match="cannot be differentiated"):
        jax.grad(lambda x: operators.call(module, x, kernel="scale").sum())(jnp.ones(3))
    loaded = runnable(tilevm.load(EXAMPLES / "python" / "layer_norm.tile"))
    only_x = operators.function(loaded, "layer_norm", backward="layer_norm_backward_x")
    x, weight = jnp.ones((2, 8)), jnp.ones(8)
    jax.grad(lambda x: only_x(x, weight, weight)[0].sum())(x)
    with pytest.raises(tilevm.ArgumentError, match="gives `grad_weight`, but `weight` is differentiated"):
        jax.grad(lambda w: only_x(x, w, weight)[0].sum())(weight)
    assert jax.grad(lambda x: operators.call(module, x, kernel="scale", backward=formula).sum())(jnp.ones(3)).shape == (3,)


def test_a_kernel_in_python():
    @script.kernel("x: f32[m, n] -> y: f32[m, n]", grid="m")
    def softmax(x, y, SIZE=1024):
        row = script.load(x, (script.bid(), 0), (1, SIZE), padding_mode="neg_inf")
        e = script.exp(row - row.max())
        script.store(y, (script.bid(), 0), e / e.sum())

    x = jax.random.normal(jax.random.key(1), (3, 2000))
    if ON_GPU:
        kernel = softmax.specialize(SIZE=2048)
        f = operators.function(runnable(kernel.module), kernel.name)
    else:
        f = operators.function(softmax, constants={"SIZE": 2048})
    y = jax.jit(f)(x)
    numpy.testing.assert_allclose(y, jax.nn.softmax(x), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("element, dtype", [("i8", "uint8"), ("i16", "int16"), ("i32", "uint32"), ("i1", "bool"), ("f16", "float16"), ("bf16", "bfloat16"),
                                            ("f8E4M3FN", "float8_e4m3fn"), ("f8E5M2", "float8_e5m2"), ("f8E8M0FNU", "float8_e8m0fnu"),
                                            ("f8E5M3FNU", "uint8"), ("tf32", "float32")])
def test_element_types(element, dtype):
    copy = runnable(tilevm.loads(f"""entry @copy(%x: tile<ptr<{element}>>, %y: tile<ptr<{element}>>) interface {{
  in x: {element}[4] at %x
  out y: {element}[4] at %y
  grid 4
}} {{
  %b, %_, %__ = get_tile_block_id
  %p = offset %x, %b
  %q = offset %y, %b
  %v = load_ptr_tko weak %p
  store_ptr_tko weak %q, %v
  return
}}
"""))
    x = jnp.asarray([1, 0, 2, 1]).astype(dtype)
    y = operators.call(copy, x)
    assert numpy.array_equal(numpy.asarray(y).view("uint8"), numpy.asarray(x).view("uint8"))
    assert y.dtype == x.dtype or element in ("i8", "i32", "f8E5M3FNU")
    with pytest.raises(tilevm.ArgumentError, match=f"the kernel takes {'int8' if element == 'f8E5M3FNU' else operators._call._dtypes_of(element, '')[0]}"):
        operators.call(copy, jnp.ones(4, "complex64"))


def test_mistakes(example, module):
    add = operators.function(example("vector_add"))
    with pytest.raises(tilevm.ArgumentError, match="argument `b` of kernel `vector_add` is missing"):
        add(jnp.ones(3))
    with pytest.raises(tilevm.ArgumentError, match="has no argument `d`"):
        add(jnp.ones(3), jnp.ones(3), d=3)
    with pytest.raises(tilevm.ArgumentError, match="given twice"):
        add(jnp.ones(3), jnp.ones(3), a=jnp.ones(3))
    with pytest.raises(tilevm.ArgumentError, match="must be equal"):
        add(jnp.ones(3), jnp.ones(4))
    with pytest.raises(tilevm.ArgumentError, match="rank 2"):
        add(jnp.ones((3, 3)), jnp.ones(3))
    for wrong in ({"check": "much"}, {"threads": -1}):
        with pytest.raises(tilevm.ArgumentError):
            operators.function(module, "scale", **wrong)


@pytest.mark.skipif(ON_GPU, reason="JAX runs on a GPU: only the VM checks what a kernel accesses")
def test_what_a_kernel_does_wrong(outside):
    assert jnp.array_equal(operators.call(outside, jnp.ones(4)), jnp.ones(4))
    f = jax.jit(operators.function(outside))
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"outside.tile:\d+:\d+: error\[vm.out_of_bounds\]"):
            f(jnp.ones(3)).block_until_ready()
    assert jnp.array_equal(f(jnp.ones(4)), jnp.ones(4))


def test_threads(example):
    f = jax.jit(operators.function(example("vector_add")))
    wrong = []

    def work(i):
        for n in range(50):
            a = jnp.full(100 + n % 3, float(i))
            if not jnp.array_equal(f(a, a), 2 * a):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_export(scale, tmp_path):
    """Symbolic sizes, with the gradient; another process has the handler alone."""
    pytest.importorskip("flatbuffers", reason="flatbuffers, which jax.export needs, is not installed")
    allowed = [jax.export.DisabledSafetyCheck.custom_call("tilevm_launch")]
    shape = jax.export.symbolic_shape("n")
    f = jax.jit(lambda x: scale(x + 1, 3.0))
    exported = jax.export.export(f, disabled_checks=allowed)(jax.ShapeDtypeStruct(shape, jnp.float32))
    (tmp_path / "scale.jax").write_bytes(exported.serialize(vjp_order=1))
    program = """
import pathlib, sys, jax, jax.numpy as jnp
import tilevm.jax                       # registers the handler
f = jax.export.deserialize(bytearray(pathlib.Path(sys.argv[1]).read_bytes())).call
for n in (3, 5):
    x = jnp.arange(float(n))
    assert jnp.array_equal(f(x), 3 * (x + 1) + n), f(x)
    assert jnp.array_equal(jax.grad(lambda x: f(x).sum())(x), jnp.full(n, 3.0))
print("ok")
"""
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path / "scale.jax")], capture_output=True, text=True)
    assert ran.stdout == "ok\n", ran.stderr


# What newer headers call by another name, and with it what it is.
RENAMED = """
#if XLA_FFI_API_MINOR >= 4
typedef XLA_FFI_InternalExtension XLA_FFI_Extension_Base;
#endif
"""
# Structs that the handler hands to XLA, which refuses one that ends before a member that it knows.
GIVEN = ("TypeInfo", "Error_Create_Args", "State_Set_Args", "State_Get_Args", "Stream_Get_Args", "DeviceOrdinal_Get_Args")
CONSTANTS = {"kFfiMajor": "API_MAJOR", "kExtensionMetadata": "Extension_Metadata", "kStageInstantiate": "ExecutionStage_INSTANTIATE",
             "kStageExecute": "ExecutionStage_EXECUTE", "kAttrArray": "AttrType_ARRAY", "kAttrDictionary": "AttrType_DICTIONARY",
             "kAttrScalar": "AttrType_SCALAR", "kAttrString": "AttrType_STRING", "kErrorInvalidArgument": "Error_Code_INVALID_ARGUMENT",
             "kErrorNotFound": "Error_Code_NOT_FOUND", "kErrorResourceExhausted": "Error_Code_RESOURCE_EXHAUSTED",
             "kErrorUnimplemented": "Error_Code_UNIMPLEMENTED", "kErrorInternal": "Error_Code_INTERNAL", "kErrorUnavailable": "Error_Code_UNAVAILABLE"}


def assertions(text):
    """That each struct, member and constant of the handler's header is XLA's: places, sizes, values. XLA may know more than they."""
    lines = []
    for body, struct in re.findall(r"typedef struct \w+ \{(.*?)\n\} Tv(\w+);", text, re.DOTALL):
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
        for line in body.strip().split(";\n"):
            function = re.search(r"\(\*(\w+)\)\(", line)
            names = [function[1]] if function else re.findall(r"(\w+)(?=\s*(?:,|;|$))", line)
            for name in names:
                theirs = f"XLA_FFI_{name}" if struct == "Api" and function else name
                lines.append(f'_Static_assert(offsetof(Tv{struct}, {name}) == offsetof(XLA_FFI_{struct}, {theirs}), "{struct}.{name}");')
                if not (struct == "CallFrame" and name in ("args", "rets", "attrs")):
                    size = f"sizeof(((Tv{struct}*)0)->{name}) == sizeof(((XLA_FFI_{struct}*)0)->{theirs})"
                    lines.append(f'_Static_assert({size}, "size of {struct}.{name}");')
    lines += [f'_Static_assert(sizeof(Tv{struct}) >= XLA_FFI_{struct}_STRUCT_SIZE, "{struct}");' for struct in GIVEN]
    for names in re.findall(r"enum \{(.*?)\}", text, re.DOTALL):
        for ours in re.findall(r"(k\w+) =", names):
            theirs = f"DataType_{ours[5:].upper()}" if ours.startswith("kData") else CONSTANTS.get(ours)
            # XLA takes handlers of older minor versions.
            same = "kFfiMinor <= XLA_FFI_API_MINOR" if ours == "kFfiMinor" else f"(int){ours} == (int)XLA_FFI_{theirs}"
            lines.append(f'_Static_assert({same}, "{ours}");')
    return lines


def differences(header, folder):
    """What the C compiler says of the handler's header and the text of XLA's."""
    include = folder / "xla" / "ffi" / "api"
    include.mkdir(parents=True, exist_ok=True)
    (include / "c_api.h").write_text(header)
    source = folder / "same.c"
    lines = assertions((FFI / "xla_ffi.h").read_text())
    source.write_text("\n".join(['#include "xla_ffi.h"', '#include "xla/ffi/api/c_api.h"', RENAMED, *lines, ""]))
    compiler = sysconfig.get_config_var("CC") or "cc"
    command = [compiler.split()[0], "-std=c11", "-fsyntax-only", f"-I{FFI}", f"-I{folder}", str(source)]
    return subprocess.run(command, capture_output=True, text=True).stderr


@pytest.fixture
def header():
    return (pathlib.Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h").read_text()


def test_the_header_agrees_with_that_of_xla(header, tmp_path):
    assert differences(header, tmp_path) == ""


@pytest.mark.parametrize("before, after, named", [
    (r"(void\* data;\s*int64_t rank;)", r"int64_t more; \1", "Buffer.data"), (r"int64_t rank;", "int32_t rank;", "size of Buffer.rank"),
    (r"int32_t device_ordinal;(.*?)(XLA_FFI_DEFINE_STRUCT_TRAITS\(XLA_FFI_DeviceOrdinal_Get_Args, )device_ordinal",
     r"int32_t device_ordinal; int64_t more;\1\2more", '"DeviceOrdinal_Get_Args"'),
    (r"(_XLA_FFI_API_STRUCT_FIELD\(XLA_FFI_State_Set\))", r"void* more; \1", "Api.State_Set"),
    (r"ExecutionStage_EXECUTE = 3", "ExecutionStage_EXECUTE = 4", "kStageExecute"), (r"DataType_BF16 = 16", "DataType_BF16 = 40", "kDataBf16"),
    (r"(#define XLA_FFI_API_MINOR) \d+", r"\1 2", "kFfiMinor")])
def test_another_header_is_noticed(header, tmp_path, before, after, named):
    changed, count = re.subn(before, after, header, count=1, flags=re.DOTALL)
    assert count == 1 and named in differences(changed, tmp_path)
