"""Functions of torch that round otherwise on the CPU than on a GPU, as a GPU rounds them: references of programs for GPUs, which are
compared closely, come out as they would there.

    products of 16-bit tensors    exact products, added in float32 in the order of k; a CPU may round the sums on the way
    products of float32           of TF32 operands if torch.backends.cuda.matmul.allow_tf32 says so
    norms, attention of 16 bits   computed in float32, backward too
    float32 functions             rounded once; vectorised ones of a CPU may be off by some of the last digits
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Tuple

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
else:
    import torch

_MATMUL = frozenset(("matmul", "__matmul__", "mm", "bmm"))
_PRODUCTS = _MATMUL | {"__rmatmul__", "linear", "addmm", "baddbmm", "einsum"}
_WIDE = frozenset(("layer_norm", "group_norm", "rms_norm", "batch_norm", "scaled_dot_product_attention", "instance_norm"))
_ROUNDED_ONCE = frozenset(("sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh",
                           "tanh", "asin", "acos", "atan", "atan2", "erf", "sigmoid", "pow", "__pow__"))
CHANGED = _PRODUCTS | _WIDE | _ROUNDED_ONCE | {"abs"}

_HALF = (torch.float16, torch.bfloat16)
_MOST_STEPS = 1 << 29  # multiplications that are done one k after the other

Function = Callable[..., Any]

_of_the_program = 0


def leave_to_the_program(count: int) -> None:
    """So many more operators of torch, or fewer, are implemented by the program: what is called is its code, in the types that it is called with."""
    global _of_the_program
    _of_the_program += count


def _types(values: "Tuple[Any, ...]") -> "set[Any]":
    found = set()
    for value in values:
        if isinstance(value, torch.Tensor):
            found.add(value.dtype)
        elif isinstance(value, (tuple, list)):
            found |= _types(tuple(value))
    return found


def _widened(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype in _HALF:
        return value.float()
    return type(value)(map(_widened, value)) if isinstance(value, (tuple, list)) and not hasattr(value, "numel") else value


def _as_tf32(value: Any) -> Any:
    """A float32 operand with ten bits of mantissa, rounded as tile code rounds: to nearest, ties to even."""
    if not isinstance(value, torch.Tensor) or value.dtype != torch.float32:
        return value
    with torch.no_grad():
        source = value.detach()
        bits = source.clone().view(torch.int32)
        rounded = torch.where(torch.isfinite(source), (bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF, bits).view(torch.float32)
    return value + (rounded - source) if value.requires_grad else rounded


def _in_order(a: Any, b: Any) -> Any:
    """a @ b of 16-bit operands in float32, or None where that would take too long."""
    if a.dim() < 2 or b.dim() < 2 or a.requires_grad or b.requires_grad:
        return None
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    steps = a.shape[-1]
    if batch.numel() * a.shape[-2] * b.shape[-1] * steps > _MOST_STEPS or a.shape[-1] != b.shape[-2]:
        return None
    a, b = a.float(), b.float()
    total = torch.zeros((*batch, a.shape[-2], b.shape[-1]))
    for k in range(steps):
        total += a[..., :, k:k + 1] * b[..., k:k + 1, :]
    return total


def _product(function: Function, name: str, arguments: Any, keywords: "Dict[str, Any]") -> Any:
    wanted = keywords.pop("out_dtype", None) if name in _PRODUCTS else None
    if wanted is None and name in _MATMUL and len(arguments) == 3 and isinstance(arguments[2], torch.dtype):
        arguments, wanted = arguments[:2], arguments[2]
    types = _types(arguments)
    if not keywords and (types == {torch.float16} or types == {torch.bfloat16}):
        result = _in_order(arguments[0], arguments[1]) if name in _MATMUL else None
        if result is None:
            result = function(*map(_widened, arguments))
        return result.to(wanted or types.pop())
    if wanted is not None:
        arguments = tuple(a.to(wanted) if isinstance(a, torch.Tensor) else a for a in arguments)
    if torch.backends.cuda.matmul.allow_tf32:
        arguments = tuple(map(_as_tf32, arguments))
    return function(*arguments, **keywords)


def _rounded_once(function: Function, arguments: "Tuple[Any, ...]", keywords: "Dict[str, Any]") -> Any:
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    result_type = torch.result_type(*arguments) if len(arguments) == 2 else tensors[0].dtype
    if result_type != torch.float32 and (result_type.is_floating_point or result_type.is_complex):
        return function(*arguments, **keywords)
    if keywords or any(t.requires_grad for t in tensors) or torch.get_default_dtype() != torch.float32:
        return function(*arguments, **keywords)
    if len(arguments) == 2 and not result_type.is_floating_point:
        return function(*arguments)  # integers to a power are integers
    return function(*(a.double() if isinstance(a, torch.Tensor) else a for a in arguments)).float()


def call(function: Function, name: str, arguments: "Tuple[Any, ...]", keywords: "Dict[str, Any]") -> Any:
    """A function of CHANGED, as a GPU computes it."""
    if _of_the_program:
        return function(*arguments, **keywords)
    if name in _PRODUCTS:
        return _product(function, name, arguments, keywords)
    if name in _ROUNDED_ONCE:
        return _rounded_once(function, arguments, keywords) if _types(arguments) else function(*arguments, **keywords)
    if name == "abs":  # a GPU has that of bool, too
        return arguments[0].clone() if arguments[0].dtype == torch.bool else function(*arguments, **keywords)
    types = _types(arguments) & set(_HALF)
    if len(types) != 1:
        return function(*arguments, **keywords)
    result = function(*map(_widened, arguments), **{key: _widened(value) for key, value in keywords.items()})
    return result.to(types.pop())
