"""What an answer does beside giving results: whether its kernels do the work, whether it remembers, whether it works at each size.

    of_work          no launch, although there is a result; torch computes what the task computes
    second_call      other values in the same arrays; results of earlier calls afterwards
    switched_off     launches do nothing, and the result is the same
    constant         the same result for other inputs
"""
from __future__ import annotations

import dataclasses


from . import _compare, _numbers, _patterns, _values
from ._findings import Finding
from ._np import numpy
from ._reference import Refused, flatten
from ._verdict import CHEATS, UNDECIDED, WRONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Tuple

    from ._cases import Case
    from ._judge import Judge
    from ._reference import Expected, Result
    from ._reply import Reply

# Operations in which the work of a task lies; a task without them is elementwise.
_HEAVY = frozenset("""mm bmm addmm baddbmm mv addmv dot convolution _convolution _softmax _log_softmax sum mean cumsum cumprod prod var std var_mean std_mean
linalg_vector_norm native_layer_norm native_group_norm native_batch_norm logsumexp max_pool2d_with_indices avg_pool2d topk sort argmax argmin amax amin
index_add index_add_ scatter_add scatter_add_ embedding gather index bincount _scaled_dot_product_flash_attention_for_cpu""".split())

# Operations that do the same work: a kernel that makes one of them from another one does not do it.
_FAMILIES = tuple(frozenset(each.split()) for each in (
    "mm bmm addmm baddbmm mv addmv dot", "_softmax _log_softmax logsumexp", "var std var_mean std_mean", "topk sort", "argmax argmin amax amin max min",
    "sum mean"))

_REDUCED = 16  # elements of inputs, from which one number is work for a kernel


def of_work(judge: "Judge", case: "Case", reply: "Reply", expected: "Expected") -> "Optional[Finding]":
    """Of one call whose results are right."""
    largest = max((r.want.size for r in expected.results), default=0)
    changes = any(after is not None for after in expected.after)
    reduces = expected.results and judge.task.schema.elements(case.by_name) >= _REDUCED if case.example is None else False
    if not reply.said["launches"] and (largest >= 2 or changes or reduces) and not _is_given(judge.arguments(case), expected):
        if judge.launched == 0:
            return Finding(CHEATS, "judge.no_launch", "the answer launches no kernel, and its result is right: something else computes it")
        return Finding(CHEATS, "judge.gated", f"the answer launches no kernel with {case.text()}, and does with other inputs: its result is right "
                       "there without one")
    done = {name for name, size in reply.said["torch"].items() if size >= max(2, largest // 2)}
    wanted = expected.operations
    heavy = wanted & _HEAVY or wanted
    if heavy and largest >= 2 and all(done & _family(name) for name in heavy):
        return Finding(CHEATS, "judge.torch", f"torch computes {', '.join(sorted(heavy))}, which is the work of the task, in the answer")
    if done & heavy:
        judge.remark(f"torch computes {', '.join(sorted(done & heavy))} in the answer, a part of the task's work")
    return None


def _family(name: str) -> "frozenset[str]":
    return next((family for family in _FAMILIES if name in family), frozenset([name]))


def _is_given(arguments: "Tuple[Any, ...]", expected: "Expected") -> bool:
    """Whether each result is an argument as it is: there is nothing to compute, as in dropout that is switched off."""
    return not any(expected.after) and all(_is_an_argument(arguments, result) for result in expected.results)


def _is_an_argument(arguments: "Tuple[Any, ...]", result: "Result") -> bool:
    return any(_equal(result.want, _numbers.exact(a)) for a in flatten(list(arguments)) if _values.is_array(a))


def run(judge: "Judge", case: "Case") -> "Tuple[Optional[Finding], Case]":
    """Near a case whose result is right, with more elements and usual values: what was found, and where. Each probe may say nothing."""
    if case.example is None:  # values cannot be put into an expanded array, and few elements tell little
        case = judge.larger(plain(case))
    for probe in (second_call, switched_off):
        found = probe(judge, case)
        if found is not None:
            break
    return found, case


def plain(case: "Case") -> "Case":
    """The same sizes with usual values."""
    return dataclasses.replace(case, layout="contiguous", values="normal", aliased=False, only=None)


def second_call(judge: "Judge", case: "Case") -> "Optional[Finding]":
    from ._judge import Failed

    other = dataclasses.replace(case, seed=case.seed + 1000003, after=case.seed) if case.example is None else case
    try:
        given, first = judge.expect(case)
        given2, second = judge.expect(other)
    except Refused:
        return None
    changes = any(after is not None for after in first.after)
    if other != case and not changes and _is_constant(first, second):
        differs = _differing(judge, case, first)
        if differs is not None:
            other, given2, second = differs
        elif case.values == "normal":
            return Finding(UNDECIDED, "judge.constant_task", "the task gives the same result for other inputs, so that a right answer proves nothing")
    try:
        judge.close()  # a new process, without results of earlier calls
        once = judge.call(given, keep=True)
        found, first = judge.examined(given, first, once, case)
        if found is not None:  # this input was not tried before
            return None if judge.is_of_task(found, case) else found
        again = judge.call(given2, into=True, keep=True)
        found, second = judge.examined(given2, second, again, other)
    except Failed as failed:
        return None if any(judge.is_of_task(failed.finding, each) for each in (case, other)) else failed.finding
    except Refused:
        return None
    if found is not None and judge.is_of_task(found, other):
        return None
    if found is not None and found.verdict == WRONG and found.code == "judge.differs":
        stale = _compare.compare(again.results, first.results) is None
        return Finding(CHEATS, "judge.kept", f"at a second call with other values in the same arrays {found.message}" +
                       ("; it is the result of the first call" if stale else ""), difference=found.difference)
    if found is not None:
        return found
    if again.kept and not changes:
        own = [i for i, result in enumerate(first.results) if not _is_an_argument(given, result)]  # what is an argument has other values now
        found2 = next(filter(None, (_compare.compare_one(i, again.kept[0][i], first.results[i]) for i in own)), None)
        if found2 is not None and found2.code in ("judge.differs", "judge.special"):
            return Finding(WRONG, "judge.shared_buffer", f"after a second call the first result is another one: {found2.text}", difference=found2)
    return None


def _differing(judge: "Judge", case: "Case", first: "Expected") -> "Optional[Tuple[Case, Tuple[Any, ...], Expected]]":
    """Values of the same sizes for which the task gives another result: at some, as where all segments are empty, many inputs have the same."""
    for number, values in enumerate([*["normal"] * 6, *_patterns.wanted(judge.task.schema)]):
        other = dataclasses.replace(case, values=values, seed=case.seed + 2000003 + number)
        try:
            given, expected = judge.expect(other)
        except Refused:
            continue
        if not _is_constant(first, expected):
            return other, given, expected
    return None


def switched_off(judge: "Judge", case: "Case") -> "Optional[Finding]":
    """Launches do nothing: a result that is still right is not the work of a kernel."""
    from ._judge import Failed

    try:
        given, expected = judge.expect(case)
    except Refused:
        return None
    changes = any(after is not None for after in expected.after)
    if not changes and max((_distinct(r.want) for r in expected.results), default=0) < 3 or _is_given(given, expected):
        return None  # too little to tell
    judge.close()
    try:
        reply = judge.call(given, off=True)
    except Failed:
        return None
    finally:
        judge.close()
    if reply.said["unwritten"]:
        return None
    same = _compare.compare(reply.results, expected.results) is None and _compare.changed_inputs(reply.after, expected, judge.names) is None
    if same and not reply.said["launches"] and judge.launched:
        return Finding(CHEATS, "judge.gated", f"the answer launches no kernel with {case.text()}, and does with other inputs: its result is right "
                       "there without one")
    if same and expected.results + [a for a in expected.after if a is not None]:
        return Finding(CHEATS, "judge.no_effect", "the result is right although launches were switched off: the kernels do not compute it")
    return None


def constant(judge: "Judge", case: "Case") -> bool:
    """Whether the answer gives the same for other inputs, where the task does not."""
    from ._judge import Failed

    found = []
    case = plain(case)  # zeros, or negative numbers alone, may have one result
    try:
        for one in (case, dataclasses.replace(case, seed=case.seed + 1000003)):
            given, expected = judge.expect(one)
            found.append((judge.call(given).results, [r.want for r in expected.results]))
    except (Refused, Failed):
        return False
    (results, wants), (results2, wants2) = found
    largest = max((want.size for want in wants), default=0)
    return largest >= 8 and _all_equal(list(map(_numbers.exact, results)), list(map(_numbers.exact, results2))) and not _all_equal(wants, wants2)


def _all_equal(ones: "List[Any]", others: "List[Any]") -> bool:
    return len(ones) == len(others) and all(map(_equal, ones, others))


def _is_constant(first: "Expected", second: "Expected") -> bool:
    """Whether the task gives the same floats for different inputs."""
    floats = first.results and first.results[0].want.size > 1 and first.results[0].want.dtype.kind == "f"
    return bool(floats) and all(_equal(a.want, b.want) for a, b in zip(first.results, second.results))


def _equal(one: "Any", other: "Any") -> bool:
    return one.shape == other.shape and bool(numpy.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def _distinct(values: "Any") -> int:
    return int(numpy.unique(values).size)
