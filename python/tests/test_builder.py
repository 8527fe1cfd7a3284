"""Programs built from the table of operations."""
import numpy
import pytest
import tilevm


def total(b):
    with b.entry("total", x="tile<ptr<f32>>", n="tile<i32>", y="tile<ptr<f32>>",
                 interface=["in x: f32[%n] at %x", "out y: f32[1] at %y", "grid 1"]) as (x, n, y):
        zero = b.constant(value="<i32: 0>", result="tile<i32>")
        one = b.constant(value="<i32: 1>", result="tile<i32>")
        none = b.constant(value="<f32: 0.0>", result="tile<f32>")
        loop = b.for_(zero, n, one, [none])
        with loop as (i, sum_):
            v, _ = b.load_ptr_tko(b.offset(x, i), ordering="weak", results=["tile<f32>", "token"])
            b.continue_(b.addf(sum_, v))
        choice = b.if_(b.cmpi(n, one, predicate="greater_than", signedness="signed", result="tile<i1>"), ["tile<f32>"])
        with choice:
            b.yield_(loop.results[0])
        with b.else_():
            b.yield_(none)
        b.store_ptr_tko(y, choice.results[0], ordering="weak")


def test_loops_and_branches():
    b = tilevm.Builder("sums")
    total(b)
    kernel = b.build()["total"]
    assert kernel(numpy.arange(10, dtype="float32"))[0] == 45
    assert kernel(numpy.ones(1, "float32"))[0] == 0


def test_reduce_scan_loop_print(capsys):
    b = tilevm.Builder()
    with b.entry("k"):
        t = b.iota(result="tile<8xi32>")
        sum_ = b.reduce(t, dim=0, identities=["0"], results=["tile<i32>"])
        with sum_ as (p, q):
            b.yield_(b.addi(p, q))
        running = b.scan(t, dim=0, identities=["0"], results=["tile<8xi32>"])
        with running as (p, q):
            b.yield_(b.addi(p, q))
        ten = b.constant(value="<i32: 10>", result="tile<i32>")
        one = b.constant(value="<i32: 1>", result="tile<i32>")
        loop = b.loop([one], ["tile<i32>"])
        with loop as (n,):
            with b.if_(b.cmpi(n, ten, predicate="greater_than", signedness="signed", result="tile<i1>")):
                b.break_(n)
            b.continue_(b.addi(n, n))
        b.print_tko(sum_.results[0], loop.results[0], format="%d %d\n")
        b.print_tko(running.results[0], format="%d\n")
    b.build().kernel(grid=1)
    assert capsys.readouterr().out.splitlines()[0] == "28 16"


@pytest.mark.parametrize("name, offered", [("add", "addf"), ("addff", "addf"), ("load", "load_view_tko"), ("atomic_rmw", "atomic_rmw_tko"),
                                           ("nonsense", "tilevm ops")])
def test_names_near_operations(name, offered):
    with pytest.raises(tilevm.ArgumentError) as e:
        tilevm.Builder.help(name)
    assert offered in e.value.fix
    with pytest.raises(AttributeError, match=offered):
        getattr(tilevm.Builder(), name)


def test_every_operation_has_help():
    from tilevm.builder import table

    assert len(table()["ops"]) > 100
    for op in table()["ops"]:
        assert tilevm.Builder.help(op["mnemonic"]).startswith(op["mnemonic"] + "(")


def test_help_knows_what_others_call_an_operation():
    for word, fix in (
        ("relu", "in text: maxf %x, 0.0; Builder.help('maxf')"),
        ("torch.where", "in text: select %c, %x, %y; Builder.help('select')"),
        ("shape_of_tensor", None),
        ("tensor_shape", "did you mean get_tensor_shape"),
        ("adf", "did you mean addf"),
    ):
        with pytest.raises(tilevm.ArgumentError) as info:
            tilevm.Builder.help(word)
        assert fix is None or fix in str(info.value)
    with pytest.raises(AttributeError, match="in text: maxf"):
        tilevm.Builder("k").relu


def test_mistakes_name_the_python_line():
    b = tilevm.Builder("wrong")
    with b.entry("k"):
        x = b.iota(result="tile<4xi32>")
        b.addf(x, x)
    with pytest.raises(tilevm.ModuleError) as info:
        b.build()
    assert info.value.file == __file__
    assert open(__file__).readlines()[info.value.line - 1].strip() == "b.addf(x, x)"
    assert info.value.code.startswith("addf.")


def test_wrong_calls():
    b = tilevm.Builder()
    with b.entry("k", x="tile<4xi32>", y="tile<4xf32>") as (x, y):
        for call, message in [
            (lambda: b.addf(x, x, x), "addf takes lhs, rhs"),
            (lambda: b.addf(y), "`rhs` is missing"),
            (lambda: b.addf(y, y, lhs=y), "`lhs` is given twice"),
            (lambda: b.addf(y, y, colour=1), "addf has no `colour`"),
            (lambda: b.bitcast(y), "does not follow"),
            (lambda: b.reduce(x, dim=0, identities=[], results=[]), "an identity and a result type"),
            (lambda: b.else_(), "does not follow the body"),
            (lambda: b.build(), "inside of a body"),
            (lambda: b.help("nothing"), "no operation `nothing`"),
        ]:
            with pytest.raises(tilevm.ArgumentError, match=message):
                call()
        with pytest.raises(AttributeError, match="no operation 'nothing'"):
            b.nothing


def test_a_launch_that_fails_names_the_python_line():
    b = tilevm.Builder("far")
    with b.entry("far", x="tile<ptr<f32>>", interface=["inout x: f32[4] at %x", "grid 1"]) as (x,):
        with b.if_(b.constant(value="<i1: true>", result="tile<i1>")):
            far = b.offset(x, b.constant(value="<i32: 7>", result="tile<i32>"))
            b.load_ptr_tko(far, ordering="weak", results=["tile<f32>", "token"])  # here
        with b.else_():
            pass
    with pytest.raises(tilevm.TrapError) as e:
        b.build()["far"](numpy.zeros(4, "float32"))
    here = next(n for n, line in enumerate(open(__file__), 1) if line.rstrip().endswith("# here"))
    assert (e.value.file, e.value.line, e.value.array, e.value.index) == (__file__, here, "x", 7)


def test_mistakes_of_programs_with_places_name_the_python_line():
    b = tilevm.Builder("wrong")
    with b.entry("wrong") as ():
        b.iota(result="tile<3xi32>")  # three
    with pytest.raises(tilevm.ModuleError) as e:
        b.build()
    three = next(n for n, line in enumerate(open(__file__), 1) if line.rstrip().endswith("# three"))
    assert (e.value.file, e.value.line, e.value.code) == (__file__, three, "type.c1")
