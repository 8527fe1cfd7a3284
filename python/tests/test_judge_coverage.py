"""Inputs follow what was never seen of an answer's branches, masks and comparisons."""
import dataclasses
import itertools
import pathlib

import numpy
import pytest
import tilevm.judge
from tilevm.judge import _cases, _coverage, _patterns
from tilevm.judge._cases import Case

TASK = 'INPUTS = {"x": "f32[n] contiguous"}\n\n\ndef scale(x):\n    return x * 2\n'
ANSWER = """
from tilevm import script


@script.kernel("x: f32[n] -> y: f32[n]", grid="ceildiv(n, B)")
def kernel(x, y, B=32):
    i = script.bid()
    v = script.load(x, i, B)
    r = v * 2.0
    CHANGE
    script.store(y, i, r)


def scale(x):
    return kernel(x)
"""
RARE = {
    "value": "r = script.where(v * 0.125 == 1.5, r + 1.0, r)",
    "range": "r = script.where((v > 7.25) & (v < 7.251), r + 1.0, r)",
    "size": "r = script.where(script.num_blocks() * 5 == 115, r + 1.0, r)",
}


@pytest.fixture(scope="module")
def server():
    with tilevm.judge.Server([]) as made:
        yield made


@pytest.fixture
def judge(tmp_path, server):
    def run(change, **options):
        (tmp_path / "task.py").write_text(TASK)
        (tmp_path / "answer.py").write_text(ANSWER.replace("CHANGE", change))
        options = tilevm.judge.Options(budget=4, **options)
        return tilevm.judge.Judge(tilevm.judge.load(str(tmp_path / "task.py")), str(tmp_path / "answer.py"), server, options=options).run()

    return run


@pytest.mark.parametrize("change", RARE.values(), ids=RARE)
def test_what_no_planned_input_shows(judge, change):
    found = judge(change)
    assert (found.verdict, found.code) == ("wrong", "judge.differs"), str(found)
    plain = judge(change, steered=False)
    assert plain.verdict == "right" and plain.coverage["seen"] < plain.coverage["of"], str(plain)


def test_what_was_never_seen_is_named(judge):
    found = judge("r = script.where(script.num_blocks() < 0, r + 1.0, r)")
    assert found.verdict == "right" and found.coverage["seen"] == found.coverage["of"] - 2, str(found)
    line = 1 + ANSWER.split("CHANGE", maxsplit=1)[0].count("\n")
    assert sorted(found.coverage["never"]) == [f"answer.py:{line}: the comparison was never true", f"answer.py:{line}: the condition of select was never true"]
    assert f"not both ways: answer.py:{line}: the comparison was never true" in str(found)
    assert found.to_json()["coverage"] == found.coverage
    whole = judge("pass")
    assert whole.coverage["never"] == [] and "seen both ways" in str(whole)


def said(choice=_coverage.COMPARISON, sides=_coverage.FALSE, where="answer.py:7:3", op="cmpi", left=(3, 3), right=(9, 9), gap=(-6, -6)):
    return [choice, sides, where, op, list(left), list(right), list(gap)]


SCHEMA = tilevm.judge.of_function(lambda x: x, {"x": "f32[m, n]"}, "n <= 100").schema


SMALL = Case((("m", 3), ("n", 5)))


def proposals(*entries, case=SMALL):
    coverage = _coverage.Coverage("answer.py")
    coverage.add(list(entries), case)
    found = []
    for _ in range(60):
        found += coverage.proposals(SCHEMA)
    assert len(set(map(_coverage._identity, found))) == len(found) and all(SCHEMA.allows(case.by_name) for case in found)
    return found


def test_sizes_that_move_a_comparison():
    sizes = [tuple(case.by_name.values()) for case in proposals(said())]
    assert {(9, 5), (3, 11), (9, 5), (3, 15)} <= set(sizes), sizes  # by the difference, and by proportion


def test_values_around_what_is_compared_with():
    named = [case.values for case in proposals(said(op="cmpf", left=(-2, 2), right=(37.5, 37.5), gap=(-39.5, -35.5)))]
    assert named[0] == "at:37.5" and "at:-37.5" in named
    scaled = proposals(said(op="cmpf", left=(-2, 4), right=(37.5, 37.5), gap=(-39.5, -33.5)), case=Case((("m", 3), ("n", 5)), values="at:37.5"))
    assert any(abs(number - 351.5625) < 1e-3 for case in scaled for number in _patterns.numbers_of(case.values))  # 37.5 gave 4
    item = SCHEMA.inputs[0]
    for dtype in ("float32", "float16"):
        made = _patterns.fill(dataclasses.replace(item, dtype=dtype), {}, "at:37.5", (30, 40), numpy.random.default_rng(1))
        assert {37.5, 75.0, -37.5} <= set(made.ravel()) and ((made > 37.5) & (made < 37.6)).any() and numpy.isfinite(made).all()


def test_examples_have_no_sizes():
    """Their values are tried at other sizes, and they are not changed."""
    around = said(op="cmpf", left=(-2, 2), right=(37.5, 37.5), gap=(-39.5, -35.5))
    assert proposals(around, case=Case(example=0)) == []
    coverage = _coverage.Coverage("answer.py")
    coverage.add([around], Case(example=0))
    coverage.add([around], SMALL, 30)
    found = list(itertools.chain.from_iterable(coverage.proposals(SCHEMA) for _ in range(20)))
    assert found and all(case.example is None and case.by_name for case in found)


def test_values_keep_to_the_schema():
    inputs = {"x": "f32[n] in 0..40", "k": "i64[n] in 0..n-1", "s": "float in 0..50", "g": "int in 1..99"}
    schema = tilevm.judge.of_function(lambda x, k, s, g: x, inputs, "").schema
    met = set()
    for seed in range(40):
        x, k, s, g = _cases.build(schema, Case((("n", 50),), values="at:37.5", seed=seed), [])
        assert (x >= 0).all() and (x <= 40).all() and (k >= 0).all() and (k < 50).all() and 0 <= s <= 50 and 1 <= g <= 99
        met |= {bool((x == 37.5).any()), (k == 37).sum() > 2, s == 37.5, g == 37}
    assert met == {True, False}


def test_what_a_process_claims():
    coverage = _coverage.Coverage("answer.py")
    for entry in (7, [], ["x"] * 7, said(choice=9), said(sides="1"), said(where=3), said(left=(1,)), said(gap=("a", "b"))):
        assert not coverage.add([entry], Case())
    assert coverage.points == {} and coverage.summary() == {"seen": 0, "of": 0, "never": []}
    assert coverage.add([said()], Case()) and not coverage.add([said()], Case())
    coverage.add([said(sides=_coverage.TRUE, where=f"{pathlib.Path('library.py').resolve()}:1:1")], Case())
    assert coverage.summary() == {"seen": 0, "of": 1, "never": ["answer.py:7: the comparison was never true"]}
    assert coverage.add([said(sides=_coverage.TRUE)], Case()) and coverage.summary() == {"seen": 1, "of": 1, "never": []}


def test_rounds_of_loops():
    coverage = _coverage.Coverage("answer.py")
    coverage.add([said(_coverage.LOOP, _coverage.SEVERAL, op="for")], Case())
    assert coverage.summary()["never"] == ["answer.py:7: the loop made several rounds alone"]
    coverage.add([said(_coverage.LOOP, _coverage.FALSE, op="for")], Case())
    assert coverage.summary() == {"seen": 1, "of": 1, "never": []}


def test_steered_cases_come_between():
    coverage = _coverage.Coverage("answer.py")
    coverage.add([said()], Case((("m", 3), ("n", 5))))
    plan = [Case((("m", 1), ("n", number))) for number in range(1, 31)]
    found = list(_coverage.steered(iter(plan), coverage, SCHEMA))
    assert found[:9] == plan[:9] and len(found) >= 36
    rest = iter(found)
    assert all(case in rest for case in plan)  # in this order
