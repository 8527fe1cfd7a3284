"""Names of other systems, and what takes their place here.

    script.relu      → script.name: script has no `relu`; fix: script.maximum(x, 0)

NumPy, torch, Triton, cuTile, CUDA and Python's own functions are the systems. Methods of tiles and arrays, functions of NumPy and torch that are
called on tiles, and names that are asked of the module all go through `instead`.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_CAST = "x.astype(script.{0})"
_BLOCK = "script.load(array, index, shape) and script.store(array, index, tile) take whole tiles"

# What a name of another system is written as.
INSTEAD = {
    # Functions of elements.
    "relu": "script.maximum(x, 0)", "relu_": "script.maximum(x, 0)", "sigmoid": "1 / (1 + script.exp(-x))", "silu": "x / (1 + script.exp(-x))",
    "swish": "x / (1 + script.exp(-x))", "gelu": "0.5 * x * (1 + script.erf(x * 0.70710678))", "softplus": "script.log(1 + script.exp(x))",
    "leaky_relu": "script.where(x > 0, x, slope * x)", "square": "x * x", "reciprocal": "1 / x", "recip": "1 / x", "negative": "-x", "neg": "-x",
    "positive": "x", "add": "x + y", "subtract": "x - y", "sub": "x - y", "multiply": "x * y", "mul": "x * y", "divide": "x / y",
    "true_divide": "x / y",
    "div": "x / y", "truediv": "x / y", "floor_divide": "x // y", "floordiv": "x // y", "mod": "x % y", "remainder": "x % y", "fmod": "x % y",
    "divmod": "x // y and x % y", "div_rn": "x / y", "fdiv": "x / y", "power": "script.pow(x, y)", "float_power": "script.pow(x, y)",
    "exp10": "script.pow(10.0, x)", "expm1": "script.exp(x) - 1", "log1p": "script.log(1 + x)", "log10": "script.log(x) * 0.4342944819",
    "cbrt": "script.pow(x, 1 / 3) of x >= 0", "sqrt_rn": "script.sqrt(x)", "absolute": "script.abs(x)", "fabs": "script.abs(x)",
    "arctan2": "script.atan2(y, x)", "atan": "script.atan2(x, 1.0)", "arctan": "script.atan2(x, 1.0)", "hypot": "script.sqrt(x * x + y * y)",
    "erfc": "1 - script.erf(x)", "trunc": "script.where(x < 0, script.ceil(x), script.floor(x))",
    "fix": "script.where(x < 0, script.ceil(x), script.floor(x))",
    "round": "script.floor(x + 0.5)", "rint": "script.floor(x + 0.5)", "around": "script.floor(x + 0.5)",
    "sign": "script.where(x > 0, 1.0, script.where(x < 0, -1.0, 0.0))", "clamp": "script.minimum(script.maximum(x, low), high)",
    "clip": "script.minimum(script.maximum(x, low), high)", "fmax": "script.maximum(x, y)", "fmin": "script.minimum(x, y)", "isnan": "x != x",
    "isinf": "script.abs(x) == float('inf')", "isfinite": "script.abs(x) < float('inf')", "nan_to_num": "script.where(x != x, 0.0, x)",
    "addcmul": "x + value * y * z", "lerp": "x + weight * (y - x)", "umulhi": "(x.astype(script.uint64) * y >> 32).astype(script.uint32)",
    "logical_and": "x & y", "logical_or": "x | y", "logical_xor": "x ^ y", "logical_not": "~x", "bitwise_and": "x & y", "bitwise_or": "x | y",
    "bitwise_xor": "x ^ y", "bitwise_not": "~x", "invert": "~x", "left_shift": "x << n", "right_shift": "x >> n", "bitwise_left_shift": "x << n",
    "bitwise_right_shift": "x >> n", "xor_sum": "script.reduce(x, axis, lambda a, b: a ^ b, 0)",
    "greater": "x > y", "greater_equal": "x >= y", "less": "x < y", "less_equal": "x <= y", "equal": "x == y", "not_equal": "x != y",
    "gt": "x > y", "ge": "x >= y", "lt": "x < y", "le": "x <= y", "eq": "x == y", "ne": "x != y",
    # Along axes.
    "amax": "script.max(x, axis)", "amin": "script.min(x, axis)", "nanmax": "script.max(x, axis), which passes over NaN",
    "nanmin": "script.min(x, axis), which passes over NaN", "mean": "script.sum(x, axis) / n", "average": "script.sum(x, axis) / n",
    "var": "script.sum((x - mean) * (x - mean), axis) / n", "std": "script.sqrt(script.sum((x - mean) * (x - mean), axis) / n)",
    "norm": "script.sqrt(script.sum(x * x))", "softmax": "e = script.exp(x - x.max(axis, keepdims=True)); e / e.sum(axis, keepdims=True)",
    "log_softmax": "y = x - x.max(axis, keepdims=True); y - script.log(script.exp(y).sum(axis, keepdims=True))",
    "logsumexp": "m = x.max(axis, keepdims=True); m + script.log(script.exp(x - m).sum(axis, keepdims=True))",
    "count_nonzero": "script.sum(x != 0, axis)", "nansum": "script.sum(script.where(x != x, 0.0, x), axis)",
    "associative_scan": "script.scan(x, axis, function, identity)", "cummax": "script.scan(x, axis, script.maximum, float('-inf'))",
    "cummin": "script.scan(x, axis, script.minimum, float('inf'))", "accumulate": "script.scan(x, axis, function, identity)",
    "logcumsumexp": "script.log(script.cumsum(script.exp(x), axis))",
    # Matrices.
    "matmul": "x @ y, or script.mma(x, y, sum)", "mm": "x @ y, or script.mma(x, y, sum)", "bmm": "x @ y, or script.mma(x, y, sum)",
    "addmm": "script.mma(x, y, sum)", "einsum": "x @ y, permute and sum", "inner": "script.sum(x * y)", "vdot": "script.sum(x * y)",
    "outer": "x[:, None] * y", "tensordot": "x @ y", "tl_dot": "script.dot(x, y)",
    # Making tiles, changing their shape.
    "empty": "script.zeros(shape, dtype)", "empty_like": "script.zeros(x.shape, x.dtype)", "zeros_like": "script.zeros(x.shape, x.dtype)",
    "ones_like": "script.ones(x.shape, x.dtype)", "full_like": "script.full(x.shape, value, x.dtype)",
    "eye": "script.arange(n)[:, None] == script.arange(n)",
    "iota": "script.arange(n)", "linspace": "first + step * script.arange(n)", "tensor": "script.full(shape, value, dtype)",
    "array": "script.full(shape, value, dtype)", "asarray": "script.full(shape, value, dtype)", "constant": "script.full(shape, value, dtype)",
    "view": "x.reshape(shape); x.bitcast(dtype) has the same bits", "ravel": "x.reshape(-1)", "flatten": "x.reshape(-1)",
    "squeeze": "x.reshape(shape)", "unsqueeze": "script.expand_dims(x, axis)", "swapaxes": "script.transpose(x, axis0, axis1)",
    "trans": "script.transpose(x)", "t": "script.transpose(x)", "moveaxis": "script.permute(x, axes)", "movedim": "script.permute(x, axes)",
    "broadcast": "script.broadcast_to(x, shape)", "expand": "script.broadcast_to(x, shape)", "repeat": "script.broadcast_to(x, shape)",
    "concatenate": "script.cat(x, y, axis)", "concat": "script.cat(x, y, axis)", "stack": "script.cat(x[None], y[None], 0)",
    "join": "script.cat(x[..., None], y[..., None], -1)", "interleave": "script.cat(x[:, None], y[:, None], 1).reshape(-1)",
    "select": "script.where(condition, x, y)", "if_then_else": "script.where(condition, x, y)",
    "tril": "script.where(row >= column, x, 0)", "triu": "script.where(row <= column, x, 0)", "masked_fill": "script.where(mask, value, x)",
    "flip": "script.gather(array, n - 1 - script.arange(n))", "take": "script.gather(array, indices)",
    "index_select": "script.gather(array, indices)",
    "sort": "no operation sorts; script.argmax finds one element after the other",
    "topk": "no operation sorts; script.argmax finds one element after the other",
    # Types.
    "to": _CAST.format("float32"), "type": _CAST.format("float32"), "cast": _CAST.format("float32"), "float": _CAST.format("float32"),
    "double": _CAST.format("float64"), "half": _CAST.format("float16"), "int": _CAST.format("int32"), "long": _CAST.format("int64"),
    "bool": _CAST.format("bool_"), "float32_": _CAST.format("float32"), "bfloat16_": _CAST.format("bfloat16"), "int1": "script.bool_",
    "float8e4nv": "script.float8_e4m3fn", "float8e5": "script.float8_e5m2", "fp16": "script.float16", "bf16": "script.bfloat16",
    "fp32": "script.float32",
    "f16": "script.float16", "f32": "script.float32", "f64": "script.float64", "i8": "script.int8", "i16": "script.int16", "i32": "script.int32",
    "i64": "script.int64", "u8": "script.uint8", "u16": "script.uint16", "u32": "script.uint32", "u64": "script.uint64", "boolean": "script.bool_",
    "constexpr": "a parameter that the signature does not name is a constant",
    "Constant": "a parameter that the signature does not name is a constant",
    # The grid, memory.
    "program_id": "script.bid(axis)", "num_programs": "script.num_blocks(axis)", "blockIdx": "script.bid(axis)", "block_id": "script.bid(axis)",
    "block_idx": "script.bid(axis)", "gridDim": "script.num_blocks(axis)", "grid_dim": "script.num_blocks(axis)",
    "threadIdx": f"a kernel has no threads: script.arange(n) numbers the elements of a tile; {_BLOCK}",
    "thread_idx": f"a kernel has no threads: script.arange(n) numbers the elements of a tile; {_BLOCK}",
    "blockDim": "the shape of a tile takes the place of threads", "syncthreads": "a block needs no barrier: it sees its own accesses in order",
    "__syncthreads": "a block needs no barrier: it sees its own accesses in order",
    "debug_barrier": "a block needs no barrier: it sees its own accesses in order",
    "barrier": "a block needs no barrier: it sees its own accesses in order",
    "jit": '@script.kernel("x: f32[n] -> y: f32[n]", grid="ceildiv(n, 128)")', "launch": "call the kernel: y = kernel(x)",
    "autotune": "call the kernel with its constants: kernel(x, BLOCK=256)", "next_power_of_2": "1 << (n - 1).bit_length(), on a Python number",
    "static_range": "Python's own range, which is unrolled", "static_assert": "assert", "static_print": "Python's own print",
    "device_assert": "assert condition, 'message'", "device_print": "script.print(…)", "printf": "script.print(…)",
    "make_block_ptr": _BLOCK, "make_tensor_descriptor": _BLOCK, "advance": _BLOCK, "load_tensor_descriptor": _BLOCK, "block_ptr": _BLOCK,
    "multiple_of": "nothing: what an address is a multiple of follows from the arrays", "max_contiguous": "nothing: it follows from the arrays",
    "assume": "nothing: what holds follows from the arrays", "max_constancy": "nothing: it follows from the arrays",
    "atomic_load": "script.load(x, index, shape, memory_order=…)", "atomic_store": "script.store(x, index, tile, memory_order=…)",
    "rand": "numbers that the caller made: pass them as an array", "randn": "numbers that the caller made: pass them as an array",
    "randint": "numbers that the caller made: pass them as an array",
    "item": "script.extract(x, index, ()): a tile of one element is a scalar with x.reshape(())",
    "dot_scaled": "convert the factors with their scales, then script.dot(x, y)",
    "mma_scaled": "convert the factors with their scales, then script.mma(x, y, sum)",
}


# What a named argument of another system is called here.
ARGUMENT_INSTEAD = {
    "dim": "axis=", "dims": "axis=, or a tuple of axes", "keepdim": "keepdims=", "keep_dims": "keepdims=", "input": "the tile as the first argument",
    "mask": "nothing for tiles of arrays, whose elements outside are padding and are not written; script.gather, script.scatter and "
            "script.pointer.load_masked take one",
    "other": "padding_mode='zero' of load, padding_value= of gather", "boundary_check": "nothing: elements outside are padding and are not written",
    "padding_option": "padding_mode='zero'", "padding": "padding_mode='zero'", "fill": "padding_mode='zero'",
    "eviction_policy": "latency=, from 1 to 10",
    "cache_modifier": "latency=, from 1 to 10", "cache": "latency=, from 1 to 10", "sem": "memory_order=", "scope": "memory_scope=",
    "order_": "memory_order=",
    "input_precision": "x.astype(script.tfloat32) of both factors", "allow_tf32": "x.astype(script.tfloat32) of both factors",
    "out_dtype": "script.mma(x, y, sum), whose sum has the type", "acc": "script.mma(x, y, sum)", "device": "nothing: a tile is of the block",
    "out": "nothing: a function gives a new tile", "where": "script.where(condition, x, identity) in front",
    "initial": "script.maximum(result, number) behind",
    "correction": "a division by n - 1", "combine_fn": "the function as the third argument", "start": "start + script.arange(size)",
    "end": "script.arange(size)",
    "stop": "script.arange(size)", "step": "step * script.arange(size)", "type": "dtype=", "value": "the value as the second argument",
    "size": "the shape first",
}


def call_hint(name: str, args: "Any", named: "Any") -> str:
    """What a call with wrong arguments meant in another system; "" if nothing is known."""
    from ._dtypes import PointerType

    if args and isinstance(getattr(args[0], "dtype", None), PointerType) and name in ("load", "store", "gather", "scatter"):
        name = {"gather": "load", "scatter": "store"}.get(name, name)
        return f"pointers go to script.pointer.{name}(pointers, …) and script.pointer.{name}_masked; "
    if name == "arange" and len(args) > 1:
        return "the numbers begin at 0: start + script.arange(size); "
    found = [f"in place of {n}= there is {ARGUMENT_INSTEAD[n]}; " for n in named if n in ARGUMENT_INSTEAD]
    return found[0] if found else ""


def instead(name: str) -> str:
    """What takes the place of a name of another system, as code or in words; "" if nothing is known."""
    from . import __all__ as names
    from ._tile import Tile

    if name in INSTEAD:
        return INSTEAD[name]
    if name in names:
        return f"script.{name}"
    if hasattr(Tile, name) and not name.startswith("_"):
        return f"x.{name}(…)"
    import difflib

    near = difflib.get_close_matches(name, [*names, *INSTEAD], 1, 0.8) if len(name) > 3 else []
    return "" if not near else f"script.{near[0]}" if near[0] in names else INSTEAD[near[0]]


def refuse(what: str, name: str) -> "NoReturn":
    """Errors: script.foreign, always: a function of another library was called on a tile."""
    from ._trace import fail

    fail("script.foreign", what, instead(name) or "docs/script.md lists the functions of tiles")


def no_attribute(what: str, name: str, fix: str = "") -> AttributeError:
    """The error of `what`, which lacks an attribute. Names with an underscore in front are protocols of Python, which just look."""
    if name.startswith("_"):
        return AttributeError(f"{what} has no `{name}`")
    from ._errors import ScriptAttributeError, message_of

    return ScriptAttributeError(message_of("script.foreign", f"{what} has no `{name}`", fix or instead(name) or "docs/script.md lists what there is"))


def _plain(value: "Any", what: str) -> "Any":
    """A tile, or a number as Python's. Errors: script.type."""
    from ._tile import Tile, as_tile, number_of

    if isinstance(value, Tile):
        return value
    number = number_of(value)
    if number is None:
        return as_tile(value, None, what)
    return number.item() if hasattr(number, "item") else number  # a float64 of NumPy is a float, and asks NumPy for its operators


def _operate(name: str, left: "Any", right: "Any") -> "Any":
    import operator

    what = operator_text(name)
    return getattr(operator, name)(_plain(left, what), _plain(right, what))


def operator_text(name: str) -> str:
    """The sign of a function of Python's module operator."""
    return _SIGNS.get(name, name)


class Foreign:
    """What tiles and arrays of a kernel say to functions of other libraries. A number of NumPy or torch beside a tile is a number."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: "Any", method: str, *inputs: "Any", **named: "Any") -> "Any":
        name = ufunc.__name__
        if method == "__call__" and name in _OPERATORS and len(inputs) == 2 and not named:
            return _operate(_OPERATORS[name], *inputs)
        if method == "__call__":
            refuse(f"numpy.{name} of {self!r}", name)
        refuse(f"numpy.{name}.{method} of {self!r}", _REDUCTIONS.get(name, name) if method == "reduce" else method)

    def __array_function__(self, function: "Any", types: "Any", args: "Any", named: "Any") -> "NoReturn":
        refuse(f"numpy.{function.__name__} of {self!r}", function.__name__)

    @classmethod
    def __torch_function__(cls, function: "Any", types: "Any", args: "Any" = (), named: "Any" = None) -> "Any":
        name = getattr(function, "__name__", str(function))
        operator = _OPERATORS.get(name.strip("_"))
        if operator is not None and len(args) == 2 and not named:
            return _operate(operator, *args)
        refuse(f"torch.{name} of {next((repr(a) for a in args if isinstance(a, cls)), 'a tile')}", name)

    def __array__(self, *_: "Any", **__: "Any") -> "NoReturn":
        from ._trace import fail

        fail("script.value", f"{self!r} as an array of NumPy", "what it holds is known when the kernel runs: use functions of script")


# Functions of two arguments in NumPy and torch, as those of Python's module operator.
_OPERATORS = {"add": "add", "subtract": "sub", "sub": "sub", "multiply": "mul", "mul": "mul", "divide": "truediv", "div": "truediv",
              "true_divide": "truediv", "floor_divide": "floordiv", "remainder": "mod", "power": "pow", "pow": "pow", "greater": "gt", "gt": "gt",
              "greater_equal": "ge", "ge": "ge", "less": "lt", "lt": "lt", "less_equal": "le", "le": "le", "equal": "eq", "eq": "eq", "not_equal": "ne",
              "ne": "ne", "bitwise_and": "and_", "and": "and_", "bitwise_or": "or_", "or": "or_", "bitwise_xor": "xor", "xor": "xor",
              "left_shift": "lshift", "right_shift": "rshift", "matmul": "matmul"}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "gt": ">", "ge": ">=", "lt": "<", "le": "<=",
          "eq": "==", "ne": "!=", "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@"}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}
