"""Loops, branches and functions of kernels."""
import numpy as np
import pytest
import tilevm
from tilevm import script


def text_of(kernel, **constants):
    return kernel.specialize(**constants).module.disassemble()


def test_for_carries_what_it_assigns(run, ops):
    @script.kernel("n: i32 -> y: i32[4]", grid=1)
    def sums(n, y):
        a, b, unchanged = 0, 1, 7
        pair = (0, script.arange(4))
        for i in script.range(n):
            a, b = b, a + b
            pair = (pair[0] + i, pair[1] * 2)
            temporary = unchanged + i
            if temporary > 1000:
                a = -1
        script.store(y, 0, pair[1] + a * 1000 + pair[0] + unchanged * 0)

    for n in (0, 1, 5):
        a, b = 0, 1
        for i in range(n):
            a, b = b, a + b
        assert run(sums, n).tolist() == [k * 2**n + a * 1000 + sum(range(n)) for k in range(4)]
    assert ops(text_of(sums), "for")[0].count("%iter") == 4


def test_numbers_become_tiles_of_the_type_that_the_body_gives(run):
    @script.kernel("x: f32[m, n] -> y: f32[8]", grid=1)
    def total(x, y):
        sum, count = 0, 0
        for i in script.range(x.shape[0]):
            sum = sum + script.load(x, (i, 0), (1, 8)).reshape(8)
            count += 1
        script.store(y, 0, sum / count)

    x = np.arange(24, dtype="float32").reshape(3, 8)
    assert run(total, x).tolist() == x.mean(0).tolist()


def test_range(run):
    @script.kernel("a: i64, b: i64, s: i64 -> y: i64[1]", grid=1)
    def count(a, b, s, y):
        total = script.int64(0)
        for i in script.range(a, b, s):
            total = total * 100 + i
        script.store(y, 0, total)

    assert run(count, 3, 10, 2).tolist() == [3050709] and run(count, 5, 5, 1).tolist() == [0]
    assert run(count, -2, 1, 1).tolist() == [(-2 * 100 - 1) * 100]


def test_pythons_range_is_unrolled(ops):
    @script.kernel("inout y: i32[n]", grid=1)
    def unrolled(y):
        for i in range(8):
            if i == 2:
                continue
            if i == 5:
                break
            script.store(y, i, i)

    text = text_of(unrolled)
    assert len(ops(text, "store_view_tko")) == 4 and not ops(text, "for") and not ops(text, "if")


def test_nested_loops(run):
    @script.kernel("x: i32[m, n] -> y: i32[1]", grid=1)
    def nested(x, y):
        total = 0
        for i in script.range(x.shape[0]):
            row = 0
            for j in script.range(x.shape[1]):
                v = script.load(x, (i, j), ())
                if v < 0:
                    v = 0
                row += v
            total += row * i
        script.store(y, 0, total)

    x = np.random.default_rng(0).integers(-9, 9, (4, 5)).astype("int32")
    assert run(nested, x)[0] == (np.maximum(x, 0).sum(1) * np.arange(4)).sum()


def test_while_with_every_way_out(run):
    @script.kernel("x: i32[n], inout y: i32[n]", grid=1)
    def walk(x, y):
        total, i = 0, 0
        while i < x.shape[0]:
            v = script.load(x, i, ())
            i += 1
            if v == 3:
                continue
            if v > 50:
                break
            if v % 2 == 0:
                w = v
            else:
                w = -v
            total += w
            script.store(y, i - 1, total)

    x, y = np.array([1, 2, 3, 4, 5, 60, 7], "int32"), np.full(7, -99, "int32")
    run(walk, x, y)
    assert y.tolist() == [-1, 1, -99, 5, 0, -99, -99]


def test_while_true_gives_what_every_break_has(run):
    @script.kernel("x: i32[n] -> y: i32[2]", grid=1)
    def find(x, y):
        i = 0
        while True:
            found = script.load(x, i, ())
            if found > 10:
                break
            i += 1
        script.store(y, 0, found)
        script.store(y, 1, i)

    assert run(find, np.array([1, 5, 12, 3], "int32")).tolist() == [12, 2]


def test_while_of_python_values(ops):
    @script.kernel("inout y: i32[n]", grid=1)
    def python(y, N=20):
        size = 1
        x = script.arange(4)
        while size < N:
            size *= 2
            x = x + size
        script.store(y, 0, x + size)

    assert not ops(text_of(python), "loop") and "<i32: 32>" in text_of(python)


def test_branches(run):
    @script.kernel("n: i32 -> y: i32[4]", grid=1)
    def choose(n, y):
        static = 3
        if n > 2:
            a = 1
            b = script.arange(4)
            same = 5
        elif n > 0:
            a = 2
            b = script.full(4, 7)
            same = 5
        else:
            a = n * 3
            b = script.zeros(4, script.int32)
            same = 5
        assert same == 5 and static == 3  # Python's numbers still
        script.store(y, 0, a * 100 + b)

    assert [run(choose, n).tolist() for n in (3, 1, -1)] == [[100, 101, 102, 103], [207] * 4, [-300] * 4]


def test_static_branches_are_not_traced(ops):
    @script.kernel("inout y: i32[n]", grid=1)
    def static(y, DEBUG=False):
        if DEBUG:
            script.print("debug")
        script.store(y, 0, 1 if DEBUG else 2)

    assert not ops(text_of(static), "if") and not ops(text_of(static), "print_tko")
    assert ops(text_of(static, DEBUG=True), "print_tko")


def test_return_from_a_kernel(run):
    @script.kernel("inout x: i32[n]", grid=4)
    def early(x):
        i = script.bid()
        if i >= x.shape[0]:
            return
        script.store(x, i, i + 1)

    x = np.zeros(3, "int32")
    run(early, x)
    assert x.tolist() == [1, 2, 3]


def test_functions(run, refused):
    @script.function
    def steps(n):
        count = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        return count

    def plain(x, scale=2):
        return x * scale

    @script.kernel("n: i32 -> y: i32[1]", grid=1)
    def collatz(n, y):
        script.store(y, 0, plain(steps(n)))

    assert run(collatz, 27)[0] == 222

    @script.function
    def bad(n):
        if n > 0:
            return 1
        return 2

    def calls(x, y):
        bad(script.bid())

    error = refused("script.control", calls)
    assert "assign the value" in error.fix and error.line == calls.__code__.co_firstlineno - 3


def test_accesses_come_in_the_order_of_the_code(run):
    """Whatever the loops and branches: --check=full finds what no token orders."""
    @script.kernel("inout x: i32[8], n: i32", grid=1)
    def order(x, n):
        own = script.shared(8, script.int32)
        script.store(own, 0, script.load(x, 0, 8))
        for i in script.range(n):
            v = script.load(own, 0, 8)
            if i % 2 == 0:
                script.store(own, 0, v * 2)
            else:
                script.scatter(x, script.arange(8), v)
                script.store(own, 0, v + script.gather(x, 7 - script.arange(8)))
        for i in script.range(n):
            script.store(x, 0, script.load(x, 0, 8) + script.load(own, 0, 8))

    x = np.arange(8, dtype="int32")
    y, own = x.copy(), x.copy()
    for i in range(5):
        if i % 2 == 0:
            own = own * 2
        else:
            y[:] = own
            own = own + y[::-1]
    for i in range(5):
        y += own
    run(order, x, 5)
    assert np.array_equal(x, y)


def test_arrays_that_nobody_writes_have_no_tokens(ops):
    @script.kernel("a: f32[m, k], b: f32[k, n] -> c: f32[m, n]", grid="ceildiv(m, 16), ceildiv(n, 16)")
    def matmul(a, b, c):
        i, j = script.bid(0), script.bid(1)
        sum = script.zeros((16, 16))
        for k in script.range(script.num_tiles(a, 1, (16, 16))):
            sum = script.mma(script.load(a, (i, k), (16, 16)), script.load(b, (k, j), (16, 16)), sum)
        script.store(c, (i, j), sum)

    text = text_of(matmul)
    assert " token =" not in text and len(ops(text, "make_partition_view")) == 3 and ops(text, "for")[0].count("%iter") == 1
    assert all("    " not in line for line in ops(text, "make_partition_view"))


def test_assert(run):
    @script.kernel("n: i32", grid=1)
    def small(n):
        assert 1 + 1 == 2
        assert n < 10, "n must be small"  # here

    run(small, 9)
    with pytest.raises(tilevm.TrapError) as e:
        small(10)
    assert "n must be small" in str(e.value) and (e.value.file, e.value.line) == (__file__, small._file[1] + 3)


def test_print(capsys):
    @script.kernel("n: i32", grid=1)
    def say(n):
        script.print("n is", n, "100%", n.astype(script.uint64) + 5, n > 3, n * 0.5, end="!\n")
        script.print(script.arange(4))

    say(4)
    assert capsys.readouterr().out == "n is 4 100% 9 1 2!\n[0, 1, 2, 3]\n"


WRONG = {
    "for_else": ("script.syntax", "for i in range(3):\n    pass\nelse:\n    pass", "for with else"),
    "global": ("script.syntax", "global z\nz = 1", "global z"),
    "try": ("script.syntax", "try:\n    pass\nexcept Exception:\n    pass", "try in a kernel"),
    "break_of_for": ("script.control", "for i in script.range(n):\n    if i > 2:\n        break", "break out of a for loop"),
    "return_of_for": ("script.control", "for i in script.range(n):\n    if i > 2:\n        return", "return in a for loop"),
    "break_of_unrolled": ("script.control", "for i in range(3):\n    if n > i:\n        break", "a loop that Python unrolls"),
    "returns": ("script.control", "return n", "returns"),
    "type_changes": ("script.carry", "a = n\nfor i in script.range(3):\n    a = a * 0.5", "`a` is a tile of i32[]"),
    "shape_changes": ("script.carry", "a = script.zeros(4)\nfor i in script.range(3):\n    a = script.zeros(8)", "f32[4]"),
    "branches_differ": ("script.carry", "if n > 1:\n    a = 1.0 * n\nelse:\n    a = n", "in one branch and"),
    "arrays_change": ("script.carry", "z = y\nfor i in script.range(n):\n    z = i\n", "only tiles, numbers"),
    "one_branch": ("script.unset", "if n > 1:\n    a = n\nscript.store(y, 0, a)", "only one branch assigns it"),
    "behind_a_loop": ("script.unset", "for i in script.range(n):\n    a = i\nscript.store(y, 0, a)", "may run no round"),
    "index_behind": ("script.unset", "for i in script.range(n):\n    pass\nscript.store(y, 0, i)", "the index of a loop"),
    "leaks": ("script.scope", "out = []\nfor i in script.range(n):\n    out.append(i)\nscript.store(y, 0, out[-1])", "made in a loop"),
    "tile_of_tiles": ("script.control", "if script.arange(4) > n:\n    pass", "`if` on a tile of shape (4,)"),
    "while_of_tiles": ("script.control", "while script.arange(4) > n:\n    pass", "`while` on a tile of shape (4,)"),
    "and": ("script.value", "if n > 1 and n < 5:\n    pass", "&, | and ~"),
    "chain": ("script.value", "if 0 < n < 5:\n    pass", "&, | and ~"),
    "ternary": ("script.value", "a = 1 if n > 0 else 2", "script.where"),
    "python_range": ("script.constant", "for i in range(n):\n    pass", "script.range"),
    "list_of_range": ("script.control", "list(script.range(3))", "outside of a `for`"),
    "step": ("script.number", "for i in script.range(0, 3, -1):\n    pass", "positive"),
    "float_range": ("script.type", "for i in script.range(0.5):\n    pass", "integers"),
    "shared_in_loop": ("script.scope", "for i in script.range(n):\n    script.shared(4, script.int32)", "make it before"),
    "item": ("script.value", "a = script.arange(4)\na[1] = 2", "a tile never changes"),
    "index": ("script.value", "script.arange(4)[1]", "script.extract"),
    "array_index": ("script.value", "y[0]", "script.load"),
    "array_arithmetic": ("script.type", "n + y", "array y: i32[?]"),
    "len": ("script.value", "len(script.arange(4))", ".shape"),
    "float": ("script.constant", "float(n)", "astype"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use(tmp_path, name):
    code, body, words = WRONG[name]
    file = tmp_path / f"{name}.py"
    lines = "\n".join("    " + line for line in body.split("\n"))
    file.write_text(f'from tilevm import script\n\n@script.kernel("n: i32, inout y: i32[m]", grid=1)\ndef kernel(n, y):\n{lines}\n')
    with pytest.raises(script.ScriptError) as e:
        exec(compile(file.read_text(), str(file), "exec"), scope := {})
        scope["kernel"].specialize()
    assert e.value.code == code and words in str(e.value) and e.value.fix
    assert e.value.file == str(file) and (4 if name == "returns" else 5) - (name == "returns") <= e.value.line <= 4 + body.count("\n") + 1
