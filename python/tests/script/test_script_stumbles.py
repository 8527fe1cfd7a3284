"""Mistakes of a first hour with script: each error stands at its Python line and says what takes the place."""
import math
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tilevm
from tilevm import script


def load(x):
    return script.load(x, 0, 8)


def scalar(x):
    return script.load(x, 0, ())


# What is written in a kernel of x and y; the code of the error, and what its fix offers.
MISTAKES = {
    "np.exp": (lambda x, y: np.exp(load(x)), "foreign", "script.exp"),
    "np.sum": (lambda x, y: np.sum(load(x)), "foreign", "script.sum"),
    "np.maximum": (lambda x, y: np.maximum(load(x), 0), "foreign", "script.maximum"),
    "np.add.reduce": (lambda x, y: np.add.reduce(load(x)), "foreign", "script.sum"),
    "np.where": (lambda x, y: np.where(load(x) > 0, 1, 2), "foreign", "script.where"),
    "np.log1p": (lambda x, y: np.log1p(load(x)), "foreign", "script.log(1 + x)"),
    "np.asarray": (lambda x, y: np.asarray(load(x)), "value", "functions of script"),
    "np.exp of an array": (lambda x, y: np.exp(x), "foreign", "script.exp"),
    "an array of NumPy": (lambda x, y: np.arange(8) * load(x), "type", "script.load"),
    "math.exp": (lambda x, y: math.exp(scalar(x)), "constant", "script.exp"),
    "math.floor": (lambda x, y: math.floor(load(x)), "foreign", "script.floor"),
    "math.ceil": (lambda x, y: math.ceil(load(x)), "foreign", "script.ceil"),
    "math.trunc": (lambda x, y: math.trunc(load(x)), "foreign", "script.ceil"),
    "round": (lambda x, y: round(load(x)), "foreign", "script.floor"),
    "divmod": (lambda x, y: divmod(load(x), 2), "foreign", "x // y and x % y"),
    "int": (lambda x, y: int(scalar(x)), "constant", "script.int32"),
    "float": (lambda x, y: float(scalar(x)), "constant", "script.float32"),
    "complex": (lambda x, y: complex(scalar(x)), "constant", "real and imaginary"),
    "max of two": (lambda x, y: max(load(x), 0), "value", "script.maximum"),
    "max of one": (lambda x, y: max(load(x)), "value", "x.max()"),
    "sum": (lambda x, y: sum(load(x)), "value", "x.sum()"),
    "any": (lambda x, y: any(load(x)), "value", "script.any"),
    "sorted": (lambda x, y: sorted(load(x)), "value", "script.range"),
    "reversed": (lambda x, y: list(reversed(load(x))), "value", "reverse=True"),
    "range": (lambda x, y: list(range(scalar(x))), "constant", "script.range"),
    "script.range without for": (lambda x, y: list(script.range(4)), "control", "by `for`"),
    "len": (lambda x, y: len(load(x)), "value", ".shape"),
    "len of an array": (lambda x, y: len(x), "value", ".shape"),
    "in": (lambda x, y: 3 in load(x), "value", "script.any"),
    "and": (lambda x, y: load(x) > 0 and load(x) < 1, "value", "&"),
    "or": (lambda x, y: load(x) > 0 or load(x) < 1, "value", "|"),
    "not": (lambda x, y: not load(x), "value", "~"),
    "a chain": (lambda x, y: 0 < load(x) < 1, "value", "&"),
    "a if c else b": (lambda x, y: 1 if scalar(x) > 0 else 2, "value", "script.where"),
    "a format": (lambda x, y: f"{load(x):.3f}", "value", "script.print"),
    "an element": (lambda x, y: load(x)[0], "value", "script.extract"),
    "a slice": (lambda x, y: load(x)[0:2], "value", "script.extract"),
    "an element is set": (lambda x, y: load(x).__setitem__(0, 1), "value", "script.where"),
    "an element of an array": (lambda x, y: x[0], "value", "script.load"),
    "an element of an array is set": (lambda x, y: y.__setitem__(0, 1), "value", "script.store"),
    "a loop over an array": (lambda x, y: [v for v in x], "value", "script.num_tiles"),
    "array + number": (lambda x, y: x + 1, "value", "script.load"),
    "number - array": (lambda x, y: 1 - x, "value", "script.load"),
    "array > number": (lambda x, y: x > 0, "value", "script.load"),
    "-array": (lambda x, y: -x, "value", "script.load"),
    "array @ array": (lambda x, y: x @ y, "value", "script.load"),
    "tile + array": (lambda x, y: load(x) + x, "type", "script.load"),
    "a tile is called": (lambda x, y: load(x)(0), "value", "script.extract"),
    "array.sum": (lambda x, y: x.sum(), "foreign", "script.load(x, index, shape).sum"),
    "array.size": (lambda x, y: x.size, "foreign", "x.shape[0]"),
    "array.numel": (lambda x, y: x.numel(), "foreign", "x.shape"),
    "array.stride": (lambda x, y: x.stride(0), "foreign", "x.strides"),
    "array.data_ptr": (lambda x, y: x.data_ptr(), "foreign", "x.ptr"),
    "tile.mean": (lambda x, y: load(x).mean(), "foreign", "script.sum(x, axis) / n"),
    "tile.relu": (lambda x, y: load(x).relu(), "foreign", "script.maximum(x, 0)"),
    "tile.abs": (lambda x, y: load(x).abs(), "foreign", "script.abs"),
    "tile.to": (lambda x, y: load(x).to("float16"), "foreign", "astype"),
    "tile.float": (lambda x, y: load(x).float(), "foreign", "script.float32"),
    "tile.item": (lambda x, y: load(x).item(), "foreign", "script.extract"),
    "tile.view": (lambda x, y: load(x).view(2, 4), "foreign", "reshape"),
    "tile.unsqueeze": (lambda x, y: load(x).unsqueeze(0), "foreign", "script.expand_dims"),
    "tl.program_id": (lambda x, y: script.program_id(0), "foreign", "script.bid"),
    "tl.num_programs": (lambda x, y: script.num_programs(0), "foreign", "script.num_blocks"),
    "tl.sigmoid": (lambda x, y: script.sigmoid(load(x)), "foreign", "script.exp(-x)"),
    "tl.softmax": (lambda x, y: script.softmax(load(x)), "foreign", "keepdims"),
    "tl.constexpr": (lambda x, y: script.constexpr, "foreign", "constant"),
    "tl.associative_scan": (lambda x, y: script.associative_scan(load(x), 0, max), "foreign", "script.scan"),
    "tl.clamp": (lambda x, y: script.clamp(load(x), 0, 1), "foreign", "script.minimum"),
    "tl.trans": (lambda x, y: script.trans(load(x)), "foreign", "script.transpose"),
    "ct.matmul": (lambda x, y: script.matmul(load(x), load(x)), "foreign", "x @ y"),
    "threadIdx": (lambda x, y: script.threadIdx.x, "foreign", "script.arange"),
    "__syncthreads": (lambda x, y: script.syncthreads(), "foreign", "no barrier"),
    "a misspelt name": (lambda x, y: script.maximun(load(x), 0), "foreign", "script.maximum"),
    "tl.load of pointers": (lambda x, y: script.load(x.ptr + script.arange(8), mask=True), "arguments", "script.pointer.load"),
    "tl.load with a mask": (lambda x, y: script.load(x, 0, 8, mask=True), "arguments", "script.gather"),
    "tl.load with other": (lambda x, y: script.load(x, 0, 8, other=0.0), "arguments", "padding_mode"),
    "tl.arange": (lambda x, y: script.arange(0, 8), "arguments", "start + script.arange"),
    "torch's dim": (lambda x, y: script.sum(load(x), dim=0), "arguments", "axis="),
    "torch's keepdim": (lambda x, y: script.max(load(x), 0, keepdim=True), "arguments", "keepdims="),
    "store without a tile": (lambda x, y: script.store(y, load(x)), "arguments", "store(array, /, index, tile"),
    "an index of elements": (lambda x, y: script.load(x, script.arange(8), 8), "index", "script.gather"),
    "a size of no power of two": (lambda x, y: script.zeros(3), "shape", "use 4"),
    "a size that is a tile": (lambda x, y: script.zeros(x.shape), "constant", "constant"),
    "x @ y of one dimension": (lambda x, y: load(x) @ load(x), "shape", "script.sum(x * y)"),
    "None": (lambda x, y: script.exp(None), "type", "pass a tile"),
    "a store to an input": (lambda x, y: script.store(x, 0, load(x)), "const", "inout x"),
    "a kernel in a kernel": (lambda x, y: returning(x), "nested", "script.function"),
    "scan by a name": (lambda x, y: script.scan(load(x), 0, "add", 0), "type", "lambda a, b"),
    "scan by one argument": (lambda x, y: script.scan(load(x), 0, lambda a: a, 0), "type", "2 scalars"),
    "scan to another type": (lambda x, y: script.scan(load(x), 0, lambda a, b: a > b, 0), "type", "astype"),
    "an identity too few": (lambda x, y: script.scan((load(x), load(x)), 0, lambda a, b, c, d: (a, c), 0), "type", "identity"),
    "an identity of another type": (lambda x, y: script.scan(load(x).astype("i32"), 0, lambda a, b: a + b, 0.5), "number", "an integer"),
    "an axis too far": (lambda x, y: script.scan(load(x), 1, script.maximum, 0), "axis", "-1 to 0"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_fix(name, refused):
    body, code, offered = MISTAKES[name]
    error = refused(f"script.{code}", body, "f32", "f32")
    assert offered in error.fix, str(error)
    assert any("^" in note for note in error.notes), "the line with a caret"
    assert error.line == body.__code__.co_firstlineno or "load" in body.__code__.co_names or "scalar" in body.__code__.co_names


def test_what_takes_the_place_of_a_name_is_there():
    from tilevm.builder import table
    from tilevm.script._foreign import arguments_instead, instead, names_instead

    rows = [row for row in table()["foreign_names"] if row["script"]]
    assert {row["kind"] for row in rows} == {"op", "element", "script", "argument"} and len(rows) > 300
    for row in rows:
        for path in re.findall(r"script((?:\.[A-Za-z_]\w*)+)", row["script"]):
            thing = script
            for name in path[1:].split("."):
                thing = getattr(thing, name, None)
            assert thing is not None, f"{row['name']}: script{path}"
        if row["kind"] == "element":
            assert isinstance(getattr(script, row["script"]), script.DType), row
    assert (instead("relu"), instead("plus")) == ("script.maximum(x, 0)", "x + y")
    assert instead("fp32").startswith("script.float32;") and instead("u16").startswith("script.uint16;")
    assert (instead("f16"), instead("i1")) == ("script.float16", "script.bool_")
    assert names_instead()["byte"].startswith("script.uint8;") and arguments_instead()["keepdim"] == "keepdims="
    assert not [name for name in names_instead() if name in script.__all__ and instead(name) != f"script.{name}"]


TORCH = {
    "torch.exp": (lambda t, x: t.exp(load(x)), "script.exp"),
    "torch.relu": (lambda t, x: t.relu(load(x)), "script.maximum(x, 0)"),
    "torch.where": (lambda t, x: t.where(load(x) > 0, load(x), load(x)), "script.where"),
    "torch.zeros_like": (lambda t, x: t.zeros_like(load(x)), "script.zeros"),
    "F.softmax": (lambda t, x: t.nn.functional.softmax(load(x), 0), "keepdims"),
    "torch.matmul": (lambda t, x: t.matmul(load(x), load(x)), "@"),
}


@pytest.mark.parametrize("name", TORCH)
def test_functions_of_torch(name, built):
    torch = pytest.importorskip("torch")
    body, offered = TORCH[name]
    with pytest.raises(script.ScriptError) as e:
        built(lambda x, y: body(torch, x), "f32", "f32")
    assert (e.value.file, e.value.line) == (__file__, body.__code__.co_firstlineno) and offered in f"{e.value.fix} {e.value.message}"


def test_numbers_of_other_libraries_are_numbers(built):
    wanted = built(lambda x, y: script.store(y, 0, 2.0 * load(x)), "f32", "f32")
    assert built(lambda x, y: script.store(y, 0, np.float32(2) * load(x)), "f32", "f32") == wanted
    assert built(lambda x, y: script.store(y, 0, np.array(2.0) * load(x)), "f32", "f32") == wanted
    assert built(lambda x, y: script.store(y, 0, np.multiply(2.0, load(x))), "f32", "f32") == wanted
    torch = pytest.importorskip("torch")
    assert built(lambda x, y: script.store(y, 0, torch.tensor(2.0) * load(x)), "f32", "f32") == wanted


def test_asking_for_attributes(built):
    def probe(x, y):
        for thing in (load(x), x):
            assert not hasattr(thing, "relu") and not hasattr(thing, "__cuda_array_interface__") and getattr(thing, "item", None) is None
        assert "script.print" in str(load(x)) and f"{load(x)}" == str(load(x))

    built(probe, "f32", "f32")
    assert not hasattr(script, "relu") and not hasattr(script, "__path") and callable(script.scan)
    with pytest.raises(ImportError):
        from tilevm.script import relu  # noqa: F401


# --- calls

@script.kernel("x: f32[n] -> y: f32[n]", grid="ceildiv(n, BLOCK)")
def plain(x, y, BLOCK=128):
    script.store(y, script.bid(), script.load(x, script.bid(), BLOCK))


@script.kernel("x: f32[n] -> y: f32[n]", grid=1)
def returning(x, y):
    value = load(x)
    return value + 1


A = np.ones(10, "float32")
CALLS = {
    "float64": (lambda: plain(np.ones(10)), 'x.astype("float32")'),
    "integers": (lambda: plain(np.arange(10)), 'x.astype("float32")'),
    "every second element": (lambda: plain(np.ones(20, "float32")[::2]), "numpy.ascontiguousarray(x)", "strides [s0]"),
    "backwards": (lambda: plain(A[::-1]), "numpy.ascontiguousarray(x)"),
    "a list": (lambda: plain([1.0, 2.0]), "numpy.array(x, 'float32')"),
    "a number": (lambda: plain(3.0), "numpy.array(x, 'float32')"),
    "the output by position": (lambda: plain(A, A), "`y` is an output", "out="),
    "another case": (lambda: plain(A, block=64), "did you mean BLOCK?"),
    "a slip": (lambda: plain(A, BLOK=64), "did you mean BLOCK?", "constants are BLOCK"),
    "a slip of an option": (lambda: plain(A, chek="full"), "did you mean check?"),
    "num_warps": (lambda: plain(A, num_warps=4), "leave it out"),
    "Triton's brackets": (lambda: plain[(4,)](A), "grid=(4, 1)"),
    "brackets of a kernel of a module": (lambda: plain.specialize()[4](A), "grid="),
    "a constant of another name": (lambda: plain.specialize(block=4), "did you mean BLOCK?"),
    "a lambda": (lambda: script.kernel("x: f32[n]", grid=1)(lambda x: None), "def"),
    "no function": (lambda: script.kernel("x: f32[n]", grid=1)(3), "def"),
    "a matrix": (lambda: plain(np.ones((2, 3), "float32")), "x.reshape(-1)"),
    "complex numbers": (lambda: plain(np.ones(8, "complex64")), "real and imaginary"),
    "objects": (lambda: plain(np.array([1, None], object)), "x.astype('float32')"),
    "an output of another type": (lambda: plain(A, out=np.ones(10)), "float32"),
    "no launch rule": (lambda: script.kernel("x: f32[n] -> y: f32[n]")(copy_all)(A), "grid="),
    "a method": (lambda: script.kernel("x: f32[n] -> y: f32[n]", grid=1)(method)(A), "self"),
}


def copy_all(x, y):
    script.store(y, 0, load(x))


def method(self, x, y):
    script.store(y, 0, load(x))


SIGNATURES = {
    "x: float[n] -> y: f32[n]": "write f32", "x: double[n] -> y: f32[n]": "write f64", "x: fp16[n] -> y: f32[n]": "write f16",
    "x: int[n] -> y: f32[n]": "write i32", "x: F32[n] -> y: f32[n]": "write f32", "x: torch.float32[n] -> y: f32[n]": "x: float32[n]",
    "x: *f32, y: *f32": "x: f32[n]", "f32[n] -> f32[n]": "x: f32[n]", "x: f32[n] => y: f32[n]": "->", "x: f32(n) -> y: f32(n)": "square brackets",
    "x: f32[:] -> y: f32[:]": "?",
}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_signatures(signature):
    with pytest.raises(script.ScriptError) as e:
        script.kernel(signature, grid=1)(copy_all).specialize()
    assert e.value.code == "script.signature" and SIGNATURES[signature] in e.value.fix, str(e.value)


GRIDS = {"n / 4": "ceildiv(n, 4)", "math.ceil(n, 4)": "ceildiv", "triton.cdiv(n, 4)": "ceildiv", "len(x)": "x.shape[0]", "x.size // 4": "x.shape[0]",
         "x.numel()": "x.shape[0]", "N": "sizes are n", print: "as text"}


@pytest.mark.parametrize("grid", GRIDS)
def test_grids(grid):
    with pytest.raises(script.ScriptError) as e:
        script.kernel("x: f32[n] -> y: f32[n]", grid=grid)(copy_all).specialize()
    assert e.value.code == "script.signature" and GRIDS[grid] in e.value.fix, str(e.value)


def test_names_that_kernels_lack():
    for name, offered in (("run", "plain(…)"), ("warmup", "plain.specialize"), ("asm", "plain.text"), ("compile", "plain.module.compile")):
        with pytest.raises(AttributeError, match=re.escape(offered)):
            getattr(plain, name)
    assert not hasattr(plain, "__array__") and not hasattr(plain, "nothing")


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    call, *offered = CALLS[name]
    with pytest.raises(tilevm.Error) as e:
        call()
    assert all(part in e.value.fix for part in offered), str(e.value)
    files = [frame.f_code.co_filename for frame in frames(e.value)]
    assert sum(file.startswith(tilevm.__path__[0]) for file in files) <= 1, "the frame of the entry alone"


def test_float64_of_torch():
    torch = pytest.importorskip("torch")
    with pytest.raises(tilevm.ArgumentError) as e:
        plain(torch.ones(10, dtype=torch.float64))
    assert "x.to(torch.float32)" in e.value.fix
    with pytest.raises(tilevm.ArgumentError) as e:
        plain(torch.ones(20)[::2])
    assert "x.contiguous()" in e.value.fix


def frames(error):
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame
        at = at.tb_next


# --- places

def test_what_a_kernel_returns_is_refused_at_the_statement():
    with pytest.raises(script.ScriptError) as e:
        returning(A)
    first = returning._file[1]
    column = 5 if hasattr(test_what_a_kernel_returns_is_refused_at_the_statement.__code__, "co_positions") else 1  # since Python 3.11
    assert (e.value.line, e.value.column, e.value.code) == (first + 3, column, "script.control") and "script.store" in e.value.fix


def test_statements_of_several_lines():
    @script.kernel("x: f32[n] -> y: f32[n]", grid=1)
    def kernel(x, y, WHAT=""):
        if WHAT == "if":
            if load(x) > 3:
                x = (x,
                     x)
        elif WHAT == "while":
            while load(x) > 3:
                x = (x,
                     x)
        else:
            t = load(x)
            for i in script.range(4):
                t = (t,
                     t)

    for what, line in (("if", 3), ("while", 7), ("", 12)):
        with pytest.raises(script.ScriptError) as e:
            kernel(A, WHAT=what)
        assert e.value.line - kernel._file[1] in (line, line + 1), str(e.value)


def test_a_function_in_a_kernel_returns_from_itself(run):
    @script.kernel("x: f32[n] -> y: f32[n]", grid=1)
    def kernel(x, y):
        def twice(a):
            if a > 3:
                b = a * 2
            else:
                b = a
            return b

        def greatest(a, b):
            return script.maximum(a, b)

        for i in script.range(4):
            script.store(y, i, twice(script.load(x, i, ())))
        script.store(y, 1, script.reduce(script.load(x, 1, 4), 0, greatest, float("-inf")).reshape(1).broadcast_to(4))

    assert run(kernel, np.arange(1, 9, dtype="float32")).tolist() == [1, 2, 3, 8, 8, 8, 8, 8]


def test_traceback_shows_the_callers_code():
    @script.kernel("x: f32[n] -> y: f32[n]", grid=1)
    def wrong(x, y):
        script.store(y, 0, np.exp(load(x)))

    with pytest.raises(script.ScriptError) as e:
        wrong(A)
    names = [frame.f_code.co_name for frame in frames(e.value)]
    assert names[:1] == ["test_traceback_shows_the_callers_code"] and names[-1] == "wrong" and len(names) <= 3, names


# --- kernels without source text

UNREAD = '''
import numpy, tilevm
from tilevm import script

@script.kernel("x: f32[n] -> y: f32[n]", grid="ceildiv(n, 128)")
def kernel(x, y, DOUBLE=True, MODE=""):
    assert x.shape[0] <= 128, "at most 128 elements"
    v = script.load(x, script.bid(), 128)
    for _ in range(2):
        v = v + 1
    if DOUBLE:
        v = v * 2
    if MODE == "range":
        for i in script.range(3):
            v = v + 1
    if MODE == "if" and script.load(x, 0, ()) > 3:
        v = v + 1
    script.store(y, script.bid(), v)

print(kernel(numpy.ones(3, "float32")))
for mode in ("range", "if"):
    try:
        kernel(numpy.ones(3, "float32"), MODE=mode)
    except script.ScriptError as e:
        print(e.code, e.line, e.fix)
try:
    kernel(numpy.ones(200, "float32"))
except tilevm.TrapError as e:
    print(e.code, e.message)
'''


def test_kernels_that_are_piped_to_python():
    ran = subprocess.run([sys.executable, "-"], input=UNREAD, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    first, *rest, last = ran.stdout.splitlines()
    assert (first, last) == ("[6. 6. 6.]", "vm.assert assertion failed: at most 128 elements")
    if rest:  # Python keeps the text from 3.13 on
        assert [line.split()[:2] for line in rest] == [["script.source", "14"], ["script.source", "16"]]
        assert all("file or a notebook" in line for line in rest)


def test_assertions_of_plain_functions(tmp_path):
    (tmp_path / "plain_check.py").write_text("def check(n):\n    assert n <= 8, 'at most eight'\n    assert n > 0, f'{n} is not above 0'\n    return n\n")
    names = {}
    exec(compile((tmp_path / "plain_check.py").read_text(), str(tmp_path / "plain_check.py"), "exec"), names)  # pytest rewrites those of tests
    check = names["check"]

    @script.kernel("x: f32[n] -> y: f32[n]", grid=1)
    def kernel(x, y):
        check(x.shape[0])
        script.store(y, 0, load(x))

    assert kernel(np.ones(8, "float32")).tolist() == [1] * 8
    with pytest.raises(tilevm.TrapError, match="at most eight") as e:
        kernel(A)
    assert (e.value.code, e.value.line) == ("vm.assert", 2)


def test_kernels_of_an_interactive_python(tmp_path):
    text = textwrap.dedent('''
        import code
        lines = """
        import numpy
        from tilevm import script
        @script.kernel("x: f32[n] -> y: f32[n]", grid=1)
        def kernel(x, y):
            script.store(y, 0, script.load(x, 0, 4) + 1)

        print(kernel(numpy.ones(4, "float32")))
        """.split("\\n")
        console = code.InteractiveConsole({})
        for line in lines:
            console.push(line)
        ''')
    (tmp_path / "session.py").write_text(text)
    ran = subprocess.run([sys.executable, str(tmp_path / "session.py")], capture_output=True, text=True)
    assert ran.stdout == "[2. 2. 2. 2.]\n", ran.stdout + ran.stderr
