"""How exactly a task's function is defined: torch runs it in float64, and each operation gets the rounding errors that element types allow.

    with Precise(kinds) as run: want = function(*doubled)                     # no error but float64's
    with Precise(kinds, generator) as run: noisy = function(*doubled)         # one way in which rounding may go

A conversion to float32 inside of the function does not round: `kind` of a tensor is the type that it would have. An operation of kind k errs
by half of the last digit of k. Sums and products of matrices also err as adding n numbers in float32 does: by sqrt(n) times the sum of
magnitudes. So cancellation, long sums and steep functions widen the bound, and nothing else does.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Set

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
    TorchDispatchMode: Any
else:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

from . import _modes, _noise_rules
from ._noise_rules import SINGLE
from ._numbers import FORMATS
from ._watch import PLAIN

_KIND = "_tilevm_kind"
# Rounding to 8 bits is a step of the task, which no answer leaves out: its error is that step alone, and not that of many ways to compute.
_COARSE, _STEP = 2.0 ** -5, 0.2


@_modes.without_dynamo
class Precise(TorchDispatchMode):  # type: ignore[misc]
    """`noise`: where random errors come from; None: no errors. `widest`: the type with the most digits among the arguments. Integers that are
    converted to the type of an argument, which is float64 here alone, are of this one."""

    def __init__(self, noise: "Optional[Any]" = None, tf32: bool = False, widest: str = "") -> None:
        super().__init__()
        self._noise = noise
        self._tf32 = tf32
        self._widest = getattr(torch, widest) if widest else None
        self.operations: "Set[str]" = set()  # that compute

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        keywords: "Dict[str, Any]" = dict(named or {})
        name = function.overloadpacket.__name__
        if name not in PLAIN and not function.is_view:
            self.operations.add(name)
        asked = keywords.get("dtype")
        if isinstance(asked, torch.dtype) and asked.is_floating_point:
            keywords["dtype"] = torch.float64
        else:
            asked = None
        source = _kind_of(arguments)
        mutates = function._schema.is_mutable
        linear = self._noise is not None and _noise_rules.is_linear(name, arguments)
        magnitude = self._applied(torch.abs, function, arguments, keywords) if linear else None
        squares = self._applied(torch.square, function, arguments, keywords) if linear and self._tf32 and name in _noise_rules.PRODUCTS else None
        if self._noise is not None and _noise_rules.is_of_nearby(name):
            arguments = tuple(self._nearby(each, number, name) for number, each in enumerate(arguments))
        given = arguments
        if self._noise is not None and mutates and isinstance(arguments[0], torch.Tensor) and arguments[0].is_floating_point():
            given = (arguments[0].clone(), *arguments[1:])  # as it was
        result = function(*arguments, **keywords)
        kind = kind_of(arguments[0]) if mutates and arguments else asked or source
        if asked is torch.float64:  # `.to(x.dtype)`, which is float64 here alone
            kind = source or self._widest or asked
        if squares is not None:  # operands err by 2^-11 of themselves, or are cut off: then each loses as much, and each product 2^-10
            random = torch.rand(result.shape, generator=self._noise, dtype=torch.float64)
            result = result + (squares.sqrt() + 2 * result.abs()) * (2.0 ** -10 * (random - 0.5))
        if self._noise is not None and _noise_rules.trains(name, arguments) and not isinstance(arguments[3], bool):
            self._err_statistics(*arguments[:5])
        return self._finish(result, function, name, kind, source, magnitude, (given, keywords))

    def _nearby(self, value: Any, number: int, name: str) -> Any:
        """Arguments of an operation whose result is that of slightly other ones, as of a solver: its condition says how far that is off."""
        if not isinstance(value, torch.Tensor) or not (value.is_floating_point() or value.is_complex()) or value.numel() == 0:
            return value
        kind = kind_of(value)
        unit = _unit(kind) if value.is_floating_point() else SINGLE
        random = torch.rand(value.shape, generator=self._noise, dtype=torch.float64)
        made = value + _noise_rules.size_of(name, number, value) * min(unit, SINGLE) * torch.where(random < 0.5, -0.5 - random, random)
        setattr(made, _KIND, kind)
        return made

    def _err_statistics(self, x: Any, weight: Any, bias: Any, mean: Any, variance: Any) -> None:
        """Of a norm in training, which changes its running mean and variance: arguments, not results."""
        rows = [dim for dim in range(x.dim()) if dim != 1]
        terms = 1 + math.sqrt(max(1, x.numel() // max(1, x.shape[1])))
        for running, size in ((mean, x.abs().mean(rows) if x.numel() else None), (variance, variance)):
            if running is not None and size is not None:
                kind = kind_of(running)
                self._add(running, kind, running.abs() * _unit(kind) + size.abs() * terms * max(SINGLE, _unit(kind)))

    def _finish(self, result: Any, function: Any, name: str, kind: Any, source: Any, magnitude: Any, given: Any) -> Any:
        """`given`: arguments and keywords."""
        if isinstance(result, (tuple, list)):
            return type(result)(self._finish(each, function, name, kind, source, magnitude if i == 0 else None, given)
                                for i, each in enumerate(result))
        if not isinstance(result, torch.Tensor) or not result.is_floating_point():
            return result
        if result.dtype != torch.float64:  # of a function that makes values by itself
            kind = kind or result.dtype
            result = result.double()
        setattr(result, _KIND, kind or torch.float32)
        if self._noise is not None and not function.is_view:
            self._err(result, name, kind or torch.float32, source, magnitude, given)
        return result

    def _applied(self, change: Any, function: Any, arguments: Any, keywords: "Dict[str, Any]") -> Any:
        """The function of changed floats."""
        def changed(value: Any) -> Any:
            if isinstance(value, (tuple, list)):
                return type(value)(map(changed, value))
            return change(value).clone() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

        scales = {key: abs(keywords[key]) for key in ("alpha", "beta") if isinstance(keywords.get(key), (int, float))}
        return function(*map(changed, arguments), **{**keywords, **scales})

    def _err(self, result: Any, name: str, kind: Any, source: Any, magnitude: Any, given: Any) -> None:
        narrower = source is not None and _unit(kind) > _unit(source)
        if _noise_rules.is_exact(name) or (name in ("_to_copy", "copy_", "copy", "lift_fresh_copy") and not narrower):
            return
        relative = result.abs() * _unit(kind) * (_STEP if _unit(kind) >= _COARSE else 1.0)
        more = _noise_rules.more(name, result, magnitude, *given)
        if more is not None:
            relative = relative + more * (SINGLE if _unit(kind) >= SINGLE else _unit(kind))
        self._add(result, kind, relative)

    def _add(self, result: Any, kind: Any, relative: Any) -> None:
        """Errors of this size to either side, in place."""
        amplitude = relative + torch.where(result == 0, 0.0, _tiny(kind))  # a 0 in float64 is exact, or `more` says how far it is off
        amplitude = torch.where(torch.isfinite(amplitude) & torch.isfinite(result), amplitude, 0.0)
        random = torch.rand(result.shape, generator=self._noise, dtype=torch.float64)
        made = result + amplitude * torch.where(random < 0.5, -0.5 - random, random)  # 0.5 to 1 of it, to either side
        turned = (made * result.sign() < 0) & (relative < result.abs())  # rounding alone makes no negative square
        result.copy_(torch.where(turned, 0.0, made))


def _unit(kind: Any) -> float:
    return FORMATS[str(kind).replace("torch.", "")].unit


def _tiny(kind: Any) -> float:
    """What a result of 0 may be off by. Fast functions of GPUs give 0 for subnormal f32."""
    form = FORMATS[str(kind).replace("torch.", "")]
    return 2.0 ** -126 if form.least == -126 else form.unit * 2.0 ** form.least


def kind_of(tensor: Any) -> Any:
    """The type that a tensor of float64 stands for."""
    return getattr(tensor, _KIND, None) or (tensor.dtype if isinstance(tensor, torch.Tensor) and tensor.dtype != torch.float64 else torch.float64)


def _kind_of(values: Any) -> Any:
    """Of a result: the widest of those of its tensors; those with dimensions decide."""
    found: "List[Any]" = []
    single: "List[Any]" = []

    def visit(value: Any) -> None:
        if isinstance(value, (tuple, list)):
            for each in value:
                visit(each)
        elif isinstance(value, torch.Tensor) and value.is_floating_point():
            (found if value.dim() else single).append(kind_of(value))

    visit(values)
    kinds = found or single
    if not kinds:
        return None
    result = kinds[0]
    for kind in kinds[1:]:
        result = torch.promote_types(result, kind)
    return result


def doubled(tensor: Any) -> Any:
    """A float64 tensor of the same values that knows its kind; others: a copy."""
    copy = tensor.detach().clone(memory_format=torch.preserve_format)
    if copy.is_floating_point():
        kind = copy.dtype
        copy = copy.double()
        setattr(copy, _KIND, kind)
    return copy
