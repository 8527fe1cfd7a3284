"""By what each operation of torch errs beyond the last digit of its result.

    more("exp", result, None, (x,), {})       # float64, in units of the last digit of 1 (2^-24 of float32); None: by nothing more
    is_exact("amax"), is_linear("sum", …)     # nothing is rounded; the sum of magnitudes bounds what is lost

Names are those of torch's operators. An operation in place (`add_`) errs as the one that is not.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, List

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
else:
    import torch

from ._numbers import FORMATS

SINGLE = FORMATS["float32"].unit  # sums are in float32 at least, and functions are computed there

# Nothing is rounded: values are moved, compared or chosen.
_EXACT = frozenset("""relu max min amax amin maximum minimum clamp clamp_min clamp_max abs neg where gather index index_select embedding cat stack sort topk
sign floor ceil round trunc frac masked_fill fill zero clone zeros ones full empty zeros_like ones_like full_like empty_like new_zeros new_full new_empty
hardtanh threshold hardshrink flip roll tril triu max_pool2d_with_indices max_pool3d_with_indices nan_to_num constant_pad_nd repeat im2col scatter
index_copy index_fill select_scatter slice_scatter masked_select cummax cummin arange lift_fresh _local_scalar_dense scalar_tensor reflection_pad1d
reflection_pad2d replication_pad1d replication_pad2d fmax fmin aminmax kthvalue diagonal_copy diag_embed pixel_shuffle pixel_unshuffle repeat_interleave
upsample_nearest1d upsample_nearest2d upsample_nearest3d fractional_max_pool2d max_unpool2d""".split())
# Linear in magnitudes: the sum of |terms| is the same operation on absolute values.
_LINEAR = frozenset("""sum mean cumsum nansum mm bmm addmm baddbmm addbmm mv addmv dot convolution index_add scatter_add index_put _index_put_impl
avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d upsample_bilinear2d upsample_linear1d upsample_trilinear3d upsample_bicubic2d
trace _convolution convolution_overrideable einsum bincount mkldnn_convolution nll_loss_forward nll_loss2d_forward _embedding_bag
_embedding_bag_forward_only col2im _trilinear""".split())
PRODUCTS = frozenset(("mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "dot"))
# They err by a last digit of 1, however small the result is.
_ABSOLUTE = frozenset("""tanh erf erfc gelu mish elu selu celu softplus atan asin acos asinh acosh atanh sinh log log2 log10 log1p logit sinc hardswish
hardsigmoid softshrink log_sigmoid_forward""".split())
_WIDE = ("gelu", "mish", "softplus", "hardswish", "softshrink", "sinh")  # … and of their argument
# A loss of all elements in one operation: terms of one sign.
_LOSSES = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy soft_margin_loss multi_margin_loss multilabel_margin_loss_forward".split())

# They add what they round before.
_TERMS = frozenset("add sub rsub addcmul addcdiv addr lerp remainder fmod xlogy glu linalg_cross affine_grid_generator".split())

# They have a running mean and variance as arguments 3 and 4.
_NORM_OF_BATCHES = ("native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update", "cudnn_batch_norm")

# Sums of series and quotients of polynomials, whose terms exceed the result.
_SERIES = frozenset("digamma polygamma lgamma mvlgamma erfinv igamma igammac i0".split())

# Their result is that of arguments which are off by some last digits: solvers, factors, transforms, places between pixels.
_OF_NEARBY = ("linalg_", "_linalg_", "_fft_", "cholesky", "lu_", "triangular_solve", "geqrf", "ormqr", "grid_sampler")
_ITERATED = ("linalg_eig", "_linalg_eig", "linalg_svd", "_linalg_svd")
_NOT_OF_NEARBY = ("linalg_vector_norm", "_linalg_check_errors", "linalg_cross", "lu_unpack")


def _plain(name: str) -> str:
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def is_exact(name: str) -> bool:
    return _plain(name) in _EXACT


def is_linear(name: str, arguments: Any) -> bool:
    if name.startswith("scatter_reduce"):
        return any(each in ("sum", "mean") for each in arguments[3:] if isinstance(each, str))
    return _plain(name) in _LINEAR


def is_of_nearby(name: str) -> bool:
    return name.startswith(_OF_NEARBY) and name not in _NOT_OF_NEARBY


def size_of(name: str, number: int, value: Any) -> Any:
    """By how much an argument of such an operation is off, in units of the last digit of 1."""
    if name.startswith("grid_sampler"):
        return value.abs() if number == 0 else 2 * value.abs().clamp(min=1.0)
    dims = list(range(max(0, value.dim() - 2), value.dim()))
    size = value.abs().amax(dims, keepdim=True) if dims else value.abs()
    if name.startswith(_ITERATED) and value.dim() > 1:
        # Some steps for each row, and each of these errs; along a vector that is much larger than others errors add up, to a few last digits of its value.
        steps = min(value.shape[-2:])
        return 4 * (math.sqrt(steps) + steps) * size
    return 4 * size if name.startswith("_fft_") else size  # by the sum of all terms, which a kernel may take in place of log n steps


def more(name: str, result: Any, magnitude: Any, arguments: Any, keywords: "Dict[str, Any]") -> Any:
    """`magnitude`: of a linear operation, the result of magnitudes."""
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    x = tensors[0] if tensors else None
    name = _plain(name)
    if magnitude is not None:
        if isinstance(magnitude, (tuple, list)):
            magnitude = magnitude[0]
        # Places between pixels are numbers of float32: where they err by a last digit, so do weights.
        places = max(x.shape[2:], default=0) if name.startswith("upsample") and x is not None else 0
        return magnitude.abs() * (1 + math.sqrt(_terms(name, tensors, result, arguments)) + places)
    if name == "logspace":
        return result.abs() * (2 + 4 * result.abs().clamp(min=1e-300).log().abs())
    if x is None or not x.is_floating_point():
        return None
    if name.startswith("special_") or name in _SERIES:
        return 16 * (1 + result.abs())
    if name in ("exp", "exp2", "expm1", "sigmoid", "silu", "cosh"):
        return result.abs() * (2 + x.abs()) if result.shape == x.shape else None
    if name in _ABSOLUTE:
        return 1 + result.abs() * 2 + (x.abs() if name in _WIDE and x.shape == result.shape else 0)
    if name in ("sin", "cos", "tan"):
        return 1 + x.abs()
    if name == "pow" and len(arguments) > 1:
        power = arguments[1]
        return result.abs() * (1 + (power * x.abs().clamp(min=1e-300).log()).abs())
    return _of_terms(name, result, arguments, keywords) if name in _TERMS else _of_rows(name, result, x, arguments)


def _of_terms(name: str, result: Any, arguments: Any, keywords: "Dict[str, Any]") -> Any:
    """Of operations on single elements that add what they round before: terms may cancel."""
    scale = abs(keywords.get("alpha", keywords.get("value", 1)))
    given = [torch.as_tensor(a, dtype=torch.float64).abs() if isinstance(a, (int, float, torch.Tensor)) else a for a in arguments[:3]]
    if name in ("add", "sub", "rsub"):
        return None if scale == 1 else given[1] * scale
    if name == "addcmul":
        return given[1] * given[2] * scale
    if name == "addcdiv":
        return torch.nan_to_num(given[1] / given[2] * scale, nan=0.0, posinf=0.0)
    if name == "addr":
        return given[1][:, None] * given[2] * scale
    if name == "lerp":
        return (given[0] + given[1]) * (1 + given[2])
    if name in ("remainder", "fmod"):
        return torch.maximum(given[0], given[1])
    if name == "xlogy":
        return given[0]
    if name == "glu":
        dim = arguments[1] if len(arguments) > 1 else -1
        return result.abs() * (2 + arguments[0].chunk(2, dim)[1].abs())
    if name == "linalg_cross":
        return 2 * given[0].amax() * given[1].amax()
    return 3 * given[0].amax() if given[0].numel() else None  # affine_grid_generator


def _of_rows(name: str, result: Any, x: Any, arguments: Any) -> Any:
    """Of operations over whole rows."""
    if name in ("_softmax", "_log_softmax", "logsumexp", "logcumsumexp", "logaddexp"):
        dim = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], int) else -1
        span = math.sqrt(max(1, x.numel() // max(1, result.numel()) if name == "logsumexp" else x.shape[dim] if x.dim() else 1))
        if name == "_softmax":
            top = x.amax(dim, keepdim=True) if x.numel() else x
            whole = torch.nan_to_num(top.abs(), posinf=0.0)  # as exp(x - logsumexp(x)) errs, whose second term is that large
            return result.abs() * (1 + span + whole + torch.nan_to_num((x - top).abs(), posinf=0.0))
        return 1 + span + result.abs() + (torch.nan_to_num(x, posinf=0.0, neginf=0.0).abs().max() if x.numel() else 0)
    if name in ("var", "std") and x.numel():  # by a mean that errs as the largest number does, which later numbers do not quite make good
        dims = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], (list, tuple)) and arguments[1] else list(range(x.dim()))
        size, deviation = x.abs().amax(dims, keepdim=True), x.std(dims, correction=0, keepdim=True)
        scale = torch.nan_to_num(size / deviation, nan=1.0, posinf=1e6).clamp(max=1e6).reshape(result.shape)
        return result.abs() * (2 + math.sqrt(max(1, x.numel() // max(1, result.numel()))) + scale)
    if name in ("var", "std", "var_mean", "std_mean", "linalg_vector_norm", "norm", "prod", "cumprod"):
        return result.abs() * (2 + math.sqrt(max(1, x.numel() // max(1, result.numel()))))
    if name in _LOSSES:
        return result.abs() * (2 + math.sqrt(max(1, x.numel() // max(1, result.numel())))) + (name == "binary_cross_entropy")
    if name == "embedding_renorm":
        return result.abs() * (2 + math.sqrt(x.shape[-1]))
    if "layer_norm" in name or "group_norm" in name or "batch_norm" in name:
        return result.abs() * 64 if result.shape != x.shape else _of_norm(name, result, x, arguments)
    if "scaled_dot_product" in name and len(arguments) > 2:
        return result.abs() * 4 + math.sqrt(x.shape[-1] * arguments[1].shape[-2]) * arguments[2].abs().max()
    return None


def _of_norm(name: str, result: Any, x: Any, arguments: Any) -> Any:
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
    if "batch_norm" in name and not trains(name, arguments):  # by the mean and the variance that it is given
        mean, variance = (each.reshape(of_channel) for each in arguments[3:5])
        size, deviation = torch.maximum(size, mean.abs()), (variance + arguments[-1]).abs().sqrt()
    count = max(1, shared.numel() // max(1, size.numel()))
    scale = (size / deviation.clamp(min=1e-30)).clamp(max=1e6).expand_as(shared).reshape(x.shape)
    return result.abs() * 2 + (4 + math.sqrt(count)) * scale * (1 if weight is None else weight.abs())


def trains(name: str, arguments: Any) -> bool:
    """Whether a norm of batches computes mean and variance itself."""
    return name.endswith(_NORM_OF_BATCHES) and any(each is True for each in arguments[3:])


def _terms(name: str, tensors: "List[Any]", result: Any, arguments: Any) -> int:
    """How many numbers are added for an element of the result."""
    size = max((t.numel() for t in tensors), default=1)
    if name in PRODUCTS:
        return max(1, int(tensors[-1].shape[0] if tensors[-1].dim() == 1 else tensors[-1].shape[-2]))
    if "convolution" in name and len(tensors) > 1:
        return max(1, int(tensors[1].numel() // max(1, tensors[1].shape[0])))
    if name == "cumsum":
        return max(1, int(tensors[0].shape[arguments[1]])) if tensors[0].dim() else 1
    if name.startswith("nll_loss"):
        return max(1, int(tensors[1].numel() // max(1, result.numel())))
    count = result[0].numel() if isinstance(result, (tuple, list)) else result.numel()
    indices = max((t.numel() for t in tensors if not t.is_floating_point()), default=1) if "index" in name or "scatter" in name else 1
    return max(1, int(size // max(1, count)), int(indices))
