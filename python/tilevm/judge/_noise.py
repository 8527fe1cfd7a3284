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

from . import _modes
from ._numbers import FORMATS
from ._watch import PLAIN

_KIND = "_tilevm_kind"
_SINGLE = FORMATS["float32"].unit  # sums are in float32 at least, and functions are computed there

# Nothing is rounded: values are moved, compared or chosen.
_EXACT = frozenset("""relu relu_ max min amax amin maximum minimum clamp clamp_ clamp_min clamp_max abs neg where gather index index_select embedding
cat stack sort topk sign floor ceil round trunc masked_fill masked_fill_ fill fill_ zero_ clone zeros ones full empty zeros_like ones_like full_like
empty_like new_zeros new_full new_empty hardtanh flip roll tril triu max_pool2d_with_indices max_pool3d_with_indices nan_to_num constant_pad_nd repeat
im2col scatter scatter_ index_copy index_copy_ select_scatter slice_scatter masked_select cummax cummin arange lift_fresh
_local_scalar_dense scalar_tensor reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d fmax fmin aminmax kthvalue diagonal_copy""".split())
# Linear in magnitudes: the sum of |terms| is the same operation on absolute values.
_LINEAR = frozenset("""sum mean cumsum nansum mm bmm addmm baddbmm addbmm mv addmv dot convolution index_add index_add_ scatter_add scatter_add_ index_put
index_put_ _index_put_impl_ avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d upsample_bilinear2d upsample_linear1d trace
_convolution convolution_overrideable einsum bincount mkldnn_convolution""".split())
_PRODUCTS = frozenset(("mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "dot"))
# They err by a last digit of 1, however small the result is.
_ABSOLUTE = frozenset("tanh erf erfc tanh_ gelu mish elu selu celu softplus atan asin acos log log2 log10 log1p hardswish".split())

# They have a running mean and variance as arguments 3 and 4.
_NORM_OF_BATCHES = ("native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update", "cudnn_batch_norm")

# Sums of series and quotients of polynomials, whose terms exceed the result.
_SERIES = frozenset("digamma polygamma lgamma mvlgamma erfinv igamma igammac i0".split())


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
        magnitude = self._applied(torch.abs, function, arguments, keywords) if self._noise is not None and name in _LINEAR else None
        squares = self._applied(torch.square, function, arguments, keywords) if magnitude is not None and self._tf32 and name in _PRODUCTS else None
        result = function(*arguments, **keywords)
        kind = kind_of(arguments[0]) if mutates and arguments else asked or source
        if asked is torch.float64:  # `.to(x.dtype)`, which is float64 here alone
            kind = source or self._widest or asked
        if squares is not None:  # operands err by 2^-11 of themselves, or are cut off: then each loses as much, and each product 2^-10
            random = torch.rand(result.shape, generator=self._noise, dtype=torch.float64)
            result = result + (squares.sqrt() + 2 * result.abs()) * (2.0 ** -10 * (random - 0.5))
        if self._noise is not None and _trains(name, arguments) and not isinstance(arguments[3], bool):
            self._err_statistics(*arguments[:5])
        return self._finish(result, function, name, kind, source, magnitude, arguments)

    def _err_statistics(self, x: Any, weight: Any, bias: Any, mean: Any, variance: Any) -> None:
        """Of a norm in training, which changes its running mean and variance: arguments, not results."""
        rows = [dim for dim in range(x.dim()) if dim != 1]
        terms = 1 + math.sqrt(max(1, x.numel() // max(1, x.shape[1])))
        for running, size in ((mean, x.abs().mean(rows) if x.numel() else None), (variance, variance)):
            if running is not None and size is not None:
                kind = kind_of(running)
                self._add(running, kind, running.abs() * _unit(kind) + size.abs() * terms * max(_SINGLE, _unit(kind)))

    def _finish(self, result: Any, function: Any, name: str, kind: Any, source: Any, magnitude: Any, arguments: Any) -> Any:
        if isinstance(result, (tuple, list)):
            return type(result)(self._finish(each, function, name, kind, source, magnitude if i == 0 else None, arguments)
                                for i, each in enumerate(result))
        if not isinstance(result, torch.Tensor) or not result.is_floating_point():
            return result
        if result.dtype != torch.float64:  # of a function that makes values by itself
            kind = kind or result.dtype
            result = result.double()
        setattr(result, _KIND, kind or torch.float32)
        if self._noise is not None and not function.is_view:
            self._err(result, name, kind or torch.float32, source, magnitude, arguments)
        return result

    def _applied(self, change: Any, function: Any, arguments: Any, keywords: "Dict[str, Any]") -> Any:
        """The function of changed floats."""
        def changed(value: Any) -> Any:
            if isinstance(value, (tuple, list)):
                return type(value)(map(changed, value))
            return change(value).clone() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

        return function(*map(changed, arguments), **keywords)

    def _err(self, result: Any, name: str, kind: Any, source: Any, magnitude: Any, arguments: Any) -> None:
        narrower = source is not None and _unit(kind) > _unit(source)
        if name in _EXACT or (name in ("_to_copy", "copy_", "copy", "lift_fresh_copy") and not narrower):
            return
        relative = result.abs() * _unit(kind)
        more = _more(name, result, magnitude, arguments)
        if more is not None:
            relative = relative + more * (_SINGLE if _unit(kind) >= _SINGLE else _unit(kind))
        self._add(result, kind, relative)

    def _add(self, result: Any, kind: Any, relative: Any) -> None:
        """Errors of this size to either side, in place."""
        amplitude = relative + torch.where(result == 0, 0.0, _tiny(kind))  # a 0 in float64 is exact, or `more` says how far it is off
        amplitude = torch.where(torch.isfinite(amplitude) & torch.isfinite(result), amplitude, 0.0)
        random = torch.rand(result.shape, generator=self._noise, dtype=torch.float64)
        made = result + amplitude * torch.where(random < 0.5, -0.5 - random, random)  # 0.5 to 1 of it, to either side
        turned = (made * result.sign() < 0) & (relative < result.abs())  # rounding alone makes no negative square
        result.copy_(torch.where(turned, 0.0, made))


def _more(name: str, result: Any, magnitude: Any, arguments: Any) -> Any:
    """What an operation errs by beyond its last digit, in units of the last digit of 1; None: nothing."""
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    x = tensors[0] if tensors else None
    if magnitude is not None:
        if isinstance(magnitude, (tuple, list)):
            magnitude = magnitude[0]
        count = _terms(name, tensors, result)
        # Places between pixels are numbers of float32: where they err by a last digit, so do weights.
        places = max(x.shape[2:], default=0) if name.startswith("upsample") and x is not None else 0
        return magnitude * (1 + math.sqrt(count) + places)
    if name == "logspace":
        return result.abs() * (2 + 4 * result.abs().clamp(min=1e-300).log().abs())
    if x is None or not x.is_floating_point():
        return None
    if name.startswith("special_") or name in _SERIES:
        return 16 * (1 + result.abs())
    if name in ("exp", "exp2", "expm1", "sigmoid", "silu", "exp_", "sigmoid_"):
        return result.abs() * (2 + x.abs()) if result.shape == x.shape else None
    if name in _ABSOLUTE:
        return 1 + result.abs() * 2 + (x.abs() if name in ("gelu", "mish", "softplus", "hardswish") else 0)
    if name in ("sin", "cos", "tan"):
        return 1 + x.abs()
    if name == "pow" and len(arguments) > 1:
        power = arguments[1]
        return result.abs() * (1 + (power * x.abs().clamp(min=1e-300).log()).abs())
    return _more_of_rows(name, result, x, arguments)


def _more_of_rows(name: str, result: Any, x: Any, arguments: Any) -> Any:
    """Of operations over whole rows."""
    if name in ("_softmax", "_log_softmax", "logsumexp", "logcumsumexp", "logaddexp"):
        dim = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], int) else -1
        span = math.sqrt(max(1, x.numel() // max(1, result.numel()) if name == "logsumexp" else x.shape[dim] if x.dim() else 1))
        if name == "_softmax":
            top = x.amax(dim, keepdim=True) if x.numel() else x
            return result.abs() * (1 + span + torch.nan_to_num((x - top).abs(), posinf=0.0))
        return 1 + span + result.abs() + (torch.nan_to_num(x, posinf=0.0, neginf=0.0).abs().max() if x.numel() else 0)
    if name in ("var", "std", "var_mean", "std_mean", "linalg_vector_norm", "norm", "prod", "cumprod"):
        return result.abs() * (2 + math.sqrt(max(1, x.numel() // max(1, result.numel()))))
    if "layer_norm" in name or "group_norm" in name or "batch_norm" in name:
        return result.abs() * 64 if result.shape != x.shape else _more_of_norm(name, result, x, arguments)
    if "scaled_dot_product" in name and len(arguments) > 2:
        return result.abs() * 4 + math.sqrt(x.shape[-1] * arguments[1].shape[-2]) * arguments[2].abs().max()
    return None


def _more_of_norm(name: str, result: Any, x: Any, arguments: Any) -> Any:
    """An error of the mean is one of the largest number, and moves all that shares the mean."""
    if x.numel() == 0:
        return None
    layer = "layer_norm" in name
    weight = arguments[2 if layer else 1]
    of_channel = [1, -1, *[1] * (x.dim() - 2)]
    if weight is not None and not layer:
        weight = weight.reshape(of_channel)
    shared = x.reshape(arguments[3] * arguments[6], -1) if "group_norm" in name else x
    rows = [dim for dim in range(shared.dim()) if ("batch_norm" in name) == (dim != 1) or shared.dim() == 1]
    if layer:
        rows = list(range(x.dim() - len(arguments[1]), x.dim()))
    size, deviation = shared.abs().amax(rows, keepdim=True), shared.std(rows, correction=0, keepdim=True)
    if "batch_norm" in name and not _trains(name, arguments):  # by the mean and the variance that it is given
        mean, variance = (each.reshape(of_channel) for each in arguments[3:5])
        size, deviation = torch.maximum(size, mean.abs()), (variance + arguments[-1]).abs().sqrt()
    count = max(1, shared.numel() // max(1, size.numel()))
    scale = (size / deviation.clamp(min=1e-30)).clamp(max=1e6).expand_as(shared).reshape(x.shape)
    return result.abs() * 2 + (4 + math.sqrt(count)) * scale * (1 if weight is None else weight.abs())


def _trains(name: str, arguments: Any) -> bool:
    """Whether a norm of batches computes mean and variance itself."""
    return name.endswith(_NORM_OF_BATCHES) and any(each is True for each in arguments[3:])


def _terms(name: str, tensors: "List[Any]", result: Any) -> int:
    """How many numbers are added for an element of the result."""
    size = max((t.numel() for t in tensors), default=1)
    if name in _PRODUCTS:
        return max(1, int(tensors[-1].shape[0] if tensors[-1].dim() == 1 else tensors[-1].shape[-2]))
    if "convolution" in name and len(tensors) > 1:
        return max(1, int(tensors[1].numel() // max(1, tensors[1].shape[0])))
    if name == "cumsum":
        return max(1, size)
    count = result[0].numel() if isinstance(result, (tuple, list)) else result.numel()
    indices = max((t.numel() for t in tensors if not t.is_floating_point()), default=1) if "index" in name or "scatter" in name else 1
    return max(1, int(size // max(1, count)), int(indices))


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
