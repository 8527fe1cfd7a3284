"""What a task's result is, and how far an answer may be from it.

    expected = Reference(task).expect(arguments)
    expected.results[0].want, .bound             # float64 (integers exactly), and the largest error that rounding explains

The function runs once in float64, some times with rounding errors (_noise.py), and once in the element types of its arguments. The last run says
of which types and shapes results are. Where its own error exceeds the bound, the reference is unstable there: the bound grows, and
`remarks` says so.
"""
from __future__ import annotations

import copy
import dataclasses
import functools
import os
import random
import warnings


from . import _noise_numpy, _numbers, _values
from ._np import numpy
from ._numbers import FORMATS, ulp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

    Numbers = Any

_SAMPLES = 5
_MANY_SAMPLES = 40
_DRAWS = 8  # calls that say whether a result is random
_FACTOR = 10.0  # what an answer may err, in root mean squares of the few errors that were tried
_NEIGHBOURS = 4
_SEED = 7
_MOST_KNOWN = 1 << 23  # elements of results that are kept for other answers


class Refused(Exception):
    """The task's own function raises an error for this input: it is none of the task."""


@dataclasses.dataclass
class Result:
    """An array of the result: `want` in float64 or integers; `bound` for each element; `native`: what the function gives in its own types;
    `noise`: the part of the bound beyond rounding the result; `open`: elements that rounding decides (integers); `may_be_float64`: the function
    computes float64 from narrower inputs, and so may an answer."""

    dtype: str
    want: "Numbers"
    bound: "Numbers"
    native: "Numbers"
    noise: "Numbers"
    open: "Optional[Numbers]" = None
    may_be_float64: bool = False


@dataclasses.dataclass
class Expected:
    """`results` in order; `after`: of each array among the arguments what it holds then, None where the task does not change it; `operations`:
    what torch computes in the function."""

    results: "List[Result]"
    after: "List[Optional[Result]]"
    remarks: "List[str]"
    operations: "frozenset[str]" = frozenset()

    @property
    def is_nan(self) -> bool:
        """Whether nothing but NaN comes of it."""
        return bool(self.results) and all(r.want.dtype.kind == "f" and r.want.size > 0 and bool(numpy.isnan(r.want).all()) for r in self.results)

    @property
    def elements(self) -> int:
        return sum(result.want.size for result in [*self.results, *filter(None, self.after)])


def flatten(value: "Any") -> "List[Any]":
    """Arrays and numbers of a result, in order; None counts as nothing."""
    if isinstance(value, (tuple, list)):
        return [item for each in value for item in flatten(each)]
    if isinstance(value, dict):
        return flatten(list(value.values()))
    return [] if value is None else [value]


class Reference:
    """Of one task. `random`: its results differ from call to call; `has_kernels`: it launches kernels itself; `strange`: the type of a result that is
    neither array nor number. Several answers to a task share it, so that a result is computed once."""

    def __init__(self, task: "Any", tf32: bool = False, samples: int = _SAMPLES) -> None:
        self._task = task
        self._samples = samples  # of ways in which rounding may go
        self._tf32 = tf32 or bool(task.tf32)
        self._double: "Any" = None
        self.random: "Optional[bool]" = None
        self.strange = ""
        self._known: "Dict[Any, Expected]" = {}
        self._elements = 0  # of what is known
        self._with_tf32: "Optional[Reference]" = None
        self._closer: "Optional[Reference]" = None
        self._computes = False  # values that torch does not follow
        self.has_kernels = _has_kernels(task.path)
        self._takes_float64, self._without_float64 = False, 0  # whether it ever did, and how often it did not

    def expect(self, arguments: "Tuple[Any, ...]", key: "Any" = None) -> Expected:
        """`key`: what the arguments are made from, the same for the same ones; None: they are known to nobody. Errors: Refused."""
        if key is not None and key in self._known:
            return self._known[key]
        found = self._expect(arguments, key)
        if key is not None and self._elements < _MOST_KNOWN:
            self._known[key] = found
            self._elements += found.elements
        return found

    def with_tf32(self) -> "Reference":
        """Of the same task, where operands of products of float32 are rounded to tf32."""
        if self._tf32:
            return self
        if self._with_tf32 is None:
            self._with_tf32 = Reference(self._task, True)
        return self._with_tf32

    def closer(self) -> "Reference":
        """Of the same task, with more ways in which rounding may go: integers that few of them change are seen to be open, and the error of a single
        number is not underestimated."""
        if self._closer is None:
            self._closer = Reference(self._task, self._tf32, _MANY_SAMPLES)
        return self._closer

    def _look(self, native: "List[Any]", arguments: "Tuple[Any, ...]", key: "Any") -> None:
        """Whether it can be judged: at first, and at each example, whose options may differ. Errors: Refused."""
        first = self.random is None
        if not first and getattr(key, "example", None) is None:
            return
        strange = [type(a).__name__ for a in native if not _values.is_array(a) and not isinstance(a, (bool, int, float, complex, numpy.generic))]
        if strange and not first:
            raise Refused(f"its result is of {strange[0]}")
        differs = not strange and self._differ(native, arguments)
        if differs and not first:
            raise Refused("its result is random")
        if first:
            self.random, self.strange = differs, strange[0] if strange else ""

    def is_random_at(self, arguments: "Tuple[Any, ...]") -> bool:
        """A task may be random at some values, as one that draws with probabilities of 0 and 1 at others. Errors: Refused."""
        native, _ = self.native(arguments)
        return any(self._differ(native, arguments) for _ in range(_DRAWS))

    def _differ(self, native: "List[Any]", arguments: "Tuple[Any, ...]") -> bool:
        """Whether another call gives other results."""
        again, _ = self.native(arguments)
        return [a.tobytes() for a in map(numpy.asarray, map(_numbers.exact, native))] != [
            a.tobytes() for a in map(numpy.asarray, map(_numbers.exact, again))]

    def _expect(self, arguments: "Tuple[Any, ...]", key: "Any" = None) -> Expected:
        native, native_after = self.native(arguments)
        self._look(native, arguments, key)
        if self.strange:
            return Expected([], [], [])
        uses_torch = any(map(_values.is_tensor, [*flatten(list(arguments)), *native])) or self._task.model is not None
        remarks: "List[str]" = []
        try:
            if self._without_float64 >= 3:
                raise Refused("as before")
            runs, operations = self._by_torch(arguments) if uses_torch else (self._by_numpy(arguments), frozenset())
            self._takes_float64 = True
        except Refused:  # float64, for it took the arguments as they are
            if self._takes_float64:
                raise
            self._without_float64 += 1
            runs, operations = self._by_own_types(arguments), frozenset()
            remarks.append("the reference takes no float64: answers are compared with its results in the types of its arguments, and may err as if these "
                           "were off by their last digit")
        count = len(native)
        dtypes = [_numbers.dtype_of(a) if _values.is_array(a) else type(a).__name__ for a in (*native, *native_after)]
        widest = _widest(arguments)
        widened = [dtype == "float64" and i < count and widest not in ("", "float64") for i, dtype in enumerate(dtypes)]
        if any(widened):
            dtypes = [widest if wide else dtype for wide, dtype in zip(widened, dtypes)]
            remarks.append("the reference gives float64 for narrower inputs: it is read as more exact than an answer must be")
        natives = [_numbers.exact(a) for a in (*native, *native_after)]
        merged = [_merge(dtypes[i], natives[i], [run[i] for run in runs], remarks) for i in range(len(natives))]
        for result, wide in zip(merged, widened):
            result.may_be_float64 = wide
        befores = [_numbers.exact(a) for a in flatten(list(arguments)) if _values.is_array(a)]
        # What a step too small for its type leaves as it was may still be off by a last digit in an answer: float64 tells that it was a step.
        after = [None if _is_untouched(before, result.native) and _same(before, result.want) else result
                 for before, result in zip(befores, merged[count:])]
        work = frozenset() if self.has_kernels else operations  # what torch computes beside the task's own kernels is little of it
        return Expected(merged[:count], after, list(dict.fromkeys(remarks)), work)

    def _call(self, function: "Callable[..., Any]", arguments: "Tuple[Any, ...]") -> "Tuple[List[Any], List[Any]]":
        """(results, arrays of the arguments afterwards). Errors: Refused."""
        random.seed(_SEED)
        numpy.random.seed(_SEED)
        try:
            with warnings.catch_warnings(), numpy.errstate(all="ignore"):  # an overflow is what the input is meant to show
                warnings.simplefilter("ignore")
                given, named = _values.split(arguments)
                result = function(*given, **named)
        except Exception as error:  # noqa: BLE001  # whatever it raises
            raise Refused(f"{type(error).__name__}: {error}") from error
        return flatten(result), [a for a in flatten(list(arguments)) if _values.is_array(a)]

    def native(self, arguments: "Tuple[Any, ...]") -> "Tuple[List[Any], List[Any]]":
        """What the function gives in the types of its arguments, and these afterwards. Errors: Refused."""
        with _no_grad():
            return self._call(self._task.reference, _mapped(arguments, _copy))

    def reports(self, arguments: "Tuple[Any, ...]") -> "frozenset[str]":
        """What full checks report of the task's own kernels for these arguments, as codes."""
        import tilevm

        from .._errors import TrapError
        from .._warnings import KernelWarning
        from ._worker import unwritten

        found = set()
        given, named = _values.split(_mapped(arguments, _copy))
        tilevm.install(check="full")
        try:
            with warnings.catch_warnings(record=True) as said, numpy.errstate(all="ignore"), _no_grad():
                warnings.simplefilter("always")
                if unwritten(self._task.reference(*given, **named)):
                    found.add("judge.not_written")
        except TrapError as error:
            found.add(error.code)
        except Exception:  # noqa: BLE001  # whatever it raises, it reports nothing
            pass
        finally:
            tilevm.install(check="bounds")  # as prepare() has it
        return frozenset(found | {each.message.code for each in said if isinstance(each.message, KernelWarning)})

    def _by_torch(self, arguments: "Tuple[Any, ...]") -> "Tuple[List[List[Numbers]], frozenset[str]]":
        """(in float64 without errors first, then with errors; what torch computed)."""
        import torch

        from . import _noise

        function = self._task.reference if self._task.model is None else self._doubled_model()
        runs = []
        operations: "frozenset[str]" = frozenset()
        for sample in range(self._samples + 1):
            noise = None if sample == 0 else torch.Generator().manual_seed(_SEED + sample)
            given = _mapped(arguments, _noise.doubled)
            with _no_grad(), _noise.Precise(noise, self._tf32, _widest(arguments)) as precise:
                results, after = self._call(function, given)
            operations |= precise.operations
            runs.append([_numbers.exact(a) for a in (*results, *after)])
        if _are_equal(runs) and (self._computes or not _are_moved(arguments, runs[0])):
            self._computes = True  # where its result is an argument, as of functions near 0, too
            runs[1:] = self._through_numpy(arguments, function)
            if _are_equal(runs):
                generator = numpy.random.default_rng(_SEED)
                with _no_grad():
                    runs[1:] = [self._not_followed(arguments, generator, function) for _ in range(self._samples)]
        return runs, operations

    def _through_numpy(self, arguments: "Tuple[Any, ...]", function: "Callable[..., Any]") -> "List[List[Numbers]]":
        """With errors, of a function of tensors that computes in NumPy; none where it takes no arrays that err."""
        from . import _noise, _noise_tensors

        runs = []
        generator = numpy.random.default_rng(_SEED)
        try:
            for _ in range(self._samples):
                with _no_grad(), _noise_numpy.following(), _noise_tensors.as_arrays(generator):
                    results, after = self._call(function, _mapped(arguments, _noise.doubled))
                    runs.append([_numbers.exact(a) for a in (*results, *after)])
        except Refused:
            return []
        return runs

    def _doubled_model(self) -> "Any":
        from . import _noise

        if self._double is None:
            model = copy.deepcopy(self._task.model)
            kinds = {name: tensor.dtype for name, tensor in [*model.named_parameters(), *model.named_buffers()]}
            model = model.double()
            for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
                if tensor.is_floating_point():
                    setattr(tensor, _noise._KIND, kinds[name])
            self._double = model
        return self._double

    def _by_own_types(self, arguments: "Tuple[Any, ...]") -> "List[List[Numbers]]":
        """In the types of the arguments, as they are first, then with errors of arguments and of results in place of those of operations."""
        generator = numpy.random.default_rng(_SEED)
        tf32 = self._tf32
        if os.path.exists(self._task.path):
            with open(self._task.path, encoding="utf-8", errors="replace") as file:
                tf32 = tf32 or "tl.dot(" in file.read()  # it rounds operands of float32

        def about(value: "Any") -> "Any":
            form = FORMATS.get(_numbers.dtype_of(value))
            if form is None:
                return _copy(value)
            unit = 2.0 ** -11 if tf32 and form.unit == FORMATS["float32"].unit else 2 * form.unit
            exact = _numbers.exact(value)
            made = exact * (1 + unit * generator.choice([-1.0, 1.0], exact.shape))
            if not _values.is_tensor(value):
                return made.astype(value.dtype)
            import torch

            return torch.empty_like(value).copy_(torch.from_numpy(numpy.asarray(made)))

        runs = []
        for change in (_copy, *[about] * self._samples):
            with _no_grad():
                run = self._wide(arguments, change, self._task.reference)
            runs.append(run if change is _copy else [_errs(each, generator) for each in run])
        return runs

    def _by_numpy(self, arguments: "Tuple[Any, ...]") -> "List[List[Numbers]]":
        """In float64 without errors first, then with errors. Where the function loses track of them, its arguments err instead."""
        generator = numpy.random.default_rng(_SEED)
        function = self._task.reference
        runs = [self._wide(arguments, lambda value: value.astype(numpy.float64) if value.dtype.kind == "f" else value.copy(), function)]
        for _ in range(self._samples):
            with _noise_numpy.following():
                results, after = self._call(self._task.reference, _mapped(arguments, lambda value: _noise_numpy.noisy(value, generator)))
            floats = [a for a in results if _values.is_array(a) and a.dtype.kind == "f"]
            if all(map(_noise_numpy.kind_of, floats)):
                runs.append([_numbers.exact(a) for a in (*results, *after)])
            else:
                runs.append(self._not_followed(arguments, generator, function))
        return runs

    def _not_followed(self, arguments: "Tuple[Any, ...]", generator: "Any", function: "Callable[..., Any]") -> "List[Numbers]":
        """In float64, with errors of the arguments and of the results in place of those of operations."""
        return [_errs(run, generator) for run in self._wide(arguments, lambda value: _about(value, generator), function)]

    def _wide(self, arguments: "Tuple[Any, ...]", change: "Callable[[Any], Any]", function: "Callable[..., Any]") -> "List[Numbers]":
        """Results and arguments afterwards."""
        results, after = self._call(function, _mapped(arguments, change))
        return [_numbers.exact(a) for a in (*results, *after)]


def _widest(arguments: "Tuple[Any, ...]") -> str:
    """The float type with the most digits among arrays of the arguments; "" if there is none."""
    kinds = [_numbers.dtype_of(a) for a in flatten(list(arguments)) if _values.is_array(a)]
    return max((kind for kind in kinds if kind in FORMATS), key=lambda kind: FORMATS[kind].digits, default="")


def _are_equal(runs: "List[List[Numbers]]") -> bool:
    """Whether no error reached a float: the function computes outside of torch, or nothing."""
    floats = [i for i, values in enumerate(runs[0]) if values.dtype.kind == "f"]
    return bool(floats) and all(_same(run[i], runs[0][i]) for run in runs[1:] for i in floats)


def _are_moved(arguments: "Tuple[Any, ...]", results: "List[Numbers]") -> bool:
    """Whether results are nothing but elements of the arguments, or whole numbers."""
    given = [_numbers.exact(a).ravel() for a in flatten(list(arguments)) if _values.is_array(a)]
    known = numpy.concatenate([a.astype(numpy.float64) for a in given]) if given else numpy.zeros(0)
    with numpy.errstate(all="ignore"):
        return all(bool((numpy.isin(r, known) | (r == numpy.rint(r)) | ~numpy.isfinite(r)).all()) for r in results if r.dtype.kind == "f")


def _errs(result: "Numbers", generator: "Any") -> "Numbers":
    """A result of a function that is not followed, with an error of two units of float32 of itself, or of a typical element, and of the least normal
    number, below which fast functions of GPUs give 0."""
    if result.dtype.kind != "f" or result.size == 0:
        return result
    with numpy.errstate(all="ignore"):
        size = numpy.abs(numpy.where(numpy.isfinite(result), result, 0.0))
        amplitude = 2 * FORMATS["float32"].unit * numpy.maximum(size, numpy.median(size)) + numpy.where(size == 0, 0.0, 2.0 ** FORMATS["float32"].least)
    return result + amplitude * generator.choice([-1.0, 1.0], result.shape)


def _about(value: "Any", generator: "Any") -> "Any":
    """An array, as float64, with errors of two units of its type."""
    if _numbers.dtype_of(value) not in FORMATS:
        return _copy(value)
    exact = _numbers.exact(value)
    made = exact * (1 + 2 * FORMATS[_numbers.dtype_of(value)].unit * generator.choice([-1.0, 1.0], exact.shape))
    if not _values.is_tensor(value):
        return made
    import torch

    return torch.from_numpy(numpy.asarray(made))


def _has_kernels(path: str) -> bool:
    """Whether the task is made of kernels itself."""
    if not os.path.isfile(path):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return any(word in text for word in ("triton.jit", "cuda.tile"))


def _no_grad() -> "Any":
    import contextlib
    import sys

    return sys.modules["torch"].no_grad() if "torch" in sys.modules else contextlib.nullcontext()


def _copy(value: "Any") -> "Any":
    if not _values.is_tensor(value):
        return value.copy()
    import torch

    return value.detach().clone(memory_format=torch.preserve_format)


def _mapped(value: "Any", change: "Callable[[Any], Any]") -> "Any":
    """Arrays changed; one array in two places stays one."""
    done: "Dict[int, Any]" = {}

    def one(item: "Any") -> "Any":
        if isinstance(item, (tuple, list)):
            return type(item)(map(one, item))
        if isinstance(item, dict):
            return type(item)((key, one(each)) for key, each in item.items())
        if not _values.is_array(item):
            return item
        if id(item) not in done:
            done[id(item)] = change(item)
        return done[id(item)]

    return one(value)


def _same(one: "Numbers", other: "Numbers") -> bool:
    return one.shape == other.shape and bool(numpy.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def _is_untouched(before: "Numbers", after: "Numbers") -> bool:
    """Whether an argument is as it was: a zero of the other sign is another value, since an answer's bytes are compared."""
    return _same(before, after) and (before.dtype.kind != "f" or bool(numpy.array_equal(numpy.signbit(before), numpy.signbit(after))))


def _merge(dtype: str, native: "Numbers", runs: "List[Numbers]", remarks: "List[str]") -> Result:
    """The result in float64 with its bound. `runs`: without errors first."""
    want = runs[0]
    dtype = {"float": "float32", "int": "int64"}.get(dtype, dtype)
    none = numpy.zeros(want.shape)
    if want.shape != native.shape:
        raise Refused("its result has another shape in float64")
    if want.dtype.kind != "f" or dtype not in FORMATS:
        differs = functools.reduce(numpy.logical_or, [run != want for run in runs[1:]], numpy.zeros(want.shape, bool)) | (native != want)
        return Result(dtype, want, none, native, none, differs)
    with numpy.errstate(all="ignore"):
        spread = numpy.sqrt(sum(numpy.nan_to_num(run - want, nan=0.0, posinf=0.0, neginf=0.0) ** 2 for run in runs[1:]) / max(1, len(runs) - 1))
        size = numpy.abs(want)
        relative = _typical(numpy.where((size > 0) & numpy.isfinite(size), spread / size, 0.0), _NEIGHBOURS) * numpy.where(numpy.isfinite(size), size, 0.0)
        relative = numpy.minimum(relative, _typical(spread, _NEIGHBOURS, numpy.max))  # errors need not grow with sizes
        noise = numpy.maximum(spread, 0.5 * numpy.maximum(_typical(spread), relative)) * _FACTOR
        last = 0.5 * ulp(want, dtype) * 1.01
        error = numpy.abs(native - want)
        error = numpy.where(numpy.isfinite(error), error, 0.0)
        bound = noise + last
        for run in runs[1:]:  # what overflows in the types of the arguments, though the function itself computes in float64
            native = numpy.where(numpy.isfinite(run) | ~numpy.isfinite(want), native, run)
        unstable = error > bound
        if unstable.any():
            remarks.append(f"the reference is unstable: in {dtype} its own result is off by {float(error[unstable].max()):.3g}, "
                           f"where rounding explains {float(bound[unstable].min()):.3g}; the bound is 2 times its own error there")
            bound = numpy.maximum(bound, 2 * numpy.maximum(error, _typical(error)))
    return Result(dtype, want, bound, native, noise)


def _typical(spread: "Numbers", least: int = 1, of: "Callable[..., Numbers]" = numpy.median) -> "Numbers":
    """`of` the neighbours in the last dimensions, at least so many: few samples may miss an element's own error, where some cancel each other."""
    if spread.ndim == 0 or spread.size == 0:
        return spread
    axes, count = [-1], spread.shape[-1]
    while count < least and len(axes) < spread.ndim:
        axes.append(axes[-1] - 1)
        count *= spread.shape[axes[-1]]
    return numpy.broadcast_to(of(spread, axis=tuple(axes), keepdims=True), spread.shape)
