"""Instructions on register tensors: arithmetic, casts, shapes, slices, reductions, scans."""
from __future__ import annotations

import math

from ._expr import compare
from ._refuse import Refusal
from ._scan import kind
from ._scratch import numbers, rearranged
from ._translate import Translator, row
from ._types import dtypes, element, is_float, is_padded, sign
from ._window import offset_of
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Sequence


@row("NopInst", "AnnotateLayoutInst", "AssumeInst", "FreeSharedInst")
def _nothing(t: Translator, i: "Any") -> None:
    """Layouts, hints and the end of a lifetime do not change values."""


@row("ExitInst")
def _exit(t: Translator, i: "Any") -> None:
    t.state.leave_kernel()


@row("AllocateRegisterInst")
def _allocate(t: Translator, i: "Any") -> None:
    shape = i.output.shape
    if i.init is None:
        t.define(i.output, t.x.number(0, i.output.dtype, shape))
        return
    for d, axis in enumerate(i.axes):
        t.state[axis] = t.iota(d, shape, axis.type)
    t.define(i.output, t.w.broadcast(_ranked(t, t.x.value(i.init), len(shape)), shape))


def _ranked(t: Translator, value: Tile, rank: int) -> Tile:
    return value if len(value.shape) in (0, rank) else t.w.reshape(value, (1,) * (rank - len(value.shape)) + value.shape)


@row("AssignInst")
def _assign(t: Translator, i: "Any") -> None:
    t.define(i.inputs[0], t.register(i.inputs[1]))


@row("CastInst")
def _cast(t: Translator, i: "Any") -> None:
    t.define(i.output, t.x.cast(t.register(i.inputs[0]), i.output.dtype))


@row("ElementwiseUnaryInst", "NegInst", "AbsInst", "ClipInst")
def _unary(t: Translator, i: "Any") -> None:
    from tilus.hidet.ir.expr import Var

    x = t.register(i.inputs[0])
    arg = i.arg if kind(i) == "ElementwiseUnaryInst" else Var("x", type=i.inputs[0].dtype)
    t.state[arg] = x
    t.define(i.output, t.x.value(i.value if kind(i) == "ElementwiseUnaryInst" else i.f_compute(arg)))


@row("ElementwiseBinaryInst", "AddInst", "SubInst", "MulInst", "DivInst", "ModInst")
def _binary(t: Translator, i: "Any") -> None:
    from tilus.hidet.ir.expr import Var

    own = kind(i) == "ElementwiseBinaryInst"
    args = i.args if own else [Var(name, type=x.dtype) for name, x in zip("xy", i.inputs)]
    for arg, x in zip(args, i.inputs):
        t.state[arg] = t.register(x)
    t.define(i.output, t.x.value(i.value if own else i.f_compute(*args)))


@row("WhereInst")
def _where(t: Translator, i: "Any") -> None:
    condition, a, b = (t.register(x) for x in i.inputs)
    a, b = t.x.promoted(a, b)
    t.define(i.output, t.x.op("select", t.x.truth(condition), a, b, dtype=a.dtype))


# --- shapes


@row("TransposeInst")
def _transpose(t: Translator, i: "Any") -> None:
    x = t.register(i.inputs[0])
    t.define(i.output, t.w.op(f"permute {x} [1, 0]", x.shape[::-1], x.dtype))


@row("SqueezeInst", "UnsqueezeInst")
def _ones(t: Translator, i: "Any") -> None:
    t.define(i.output, t.w.reshape(t.register(i.inputs[0]), i.output.shape))


@row("ReshapeRegisterInst")
def _reshape(t: Translator, i: "Any") -> None:
    """Elements keep their row-major order. If there is padding between them, they go through memory."""
    x, old, new = t.register(i.inputs[0]), i.inputs[0].shape, i.output.shape
    same = [n for n in old if n != 1] == [n for n in new if n != 1]
    if same or not (is_padded(old) or is_padded(new)):
        t.define(i.output, t.w.reshape(x, new))
    else:
        t.define(i.output, rearranged(t, x, numbers(t, old), numbers(t, new), math.prod(old)))


@row("RepeatInst", "RepeatInterleaveInst")
def _repeat(t: Translator, i: "Any") -> None:
    """Each dimension becomes two, and the new one is broadcast."""
    x, old, new = t.register(i.inputs[0]), i.inputs[0].shape, i.output.shape
    if is_padded(new):
        raise Refusal(f"a tensor repeated to {list(new)}, sizes that are not powers of two", "use sizes that are powers of two")
    old = (1,) * (len(new) - len(old)) + tuple(old)
    whole = kind(i) == "RepeatInst"
    apart: "List[int]" = []
    wide: "List[int]" = []
    for a, b in zip(old, new):
        apart += [1, a] if whole else [a, 1]
        wide += [b // a, a] if whole else [a, b // a]
    t.define(i.output, t.w.reshape(t.w.broadcast(t.w.reshape(x, apart), wide), new))


@row("SliceRegisterInst")
def _slice(t: Translator, i: "Any") -> None:
    x, whole, part = t.register(i.inputs[0]), i.inputs[0].shape, i.output.shape
    dims = range(len(whole)) if i.dims is None else i.dims
    window = [1] * len(whole)
    for d, size in zip(dims, part):
        window[d] = size
    t.define(i.output, t.w.reshape(extract(t, x, window, i.offsets), part))


def extract(t: Translator, x: Tile, window: "Sequence[int]", offsets: "Sequence[Any]") -> Tile:
    """A window of a tile; offsets are expressions, tiles or numbers. Errors: Refusal for one that does not begin on a multiple of its size."""
    indices = _window_indices(t, x, window, offsets)
    return t.w.op(f"extract {x}[{indices}]", window, x.dtype, typed=True)


def insert(t: Translator, part: Tile, x: Tile, window: "Sequence[int]", offsets: "Sequence[Any]") -> Tile:
    """The tile with such a window replaced."""
    indices = _window_indices(t, x, window, offsets)
    return t.w.op(f"insert {t.w.reshape(part, window)}, {x}[{indices}]", x.shape, x.dtype)


def _window_indices(t: Translator, x: Tile, window: "Sequence[int]", offsets: "Sequence[Any]") -> str:
    """The number of the window in each dimension. An assertion of the kernel checks offsets that are known at run time only."""
    if is_padded(window):
        raise Refusal(f"a window of the sizes {list(window)}", "use sizes that are powers of two")
    indices = []
    for expr, size, whole in zip(offsets, window, x.shape):
        offset = 0 if size == whole else offset_of(t, expr)
        if isinstance(offset, int):
            if offset % size:
                raise Refusal(f"a window of {size} elements at {offset}", "begin windows of register tensors at multiples of their size")
            indices.append(t.x.number(offset // size, dtypes.int32))
            continue
        if size > 1:
            rest = t.x.op("andi", offset, t.x.number(size - 1, offset.dtype), dtype=offset.dtype)
            right = compare(t.x, "equal", rest, t.x.number(0, rest.dtype))
            t.w.put(f'assert {right}, "a window of {size} elements of registers does not begin at a multiple of its size"')
            offset = t.x.op("divi", offset, t.x.number(size, offset.dtype), dtype=offset.dtype, words=" signed")
        indices.append(t.x.cast(offset, dtypes.int32))
    return ", ".join(map(str, indices))


@row("SliceAssignInst")
def _slice_assign(t: Translator, i: "Any") -> None:
    target, source = i.inputs
    x, window = t.register(target), [1] * len(target.shape)
    for d, size in zip(i.dims, source.shape):
        window[d] = size
    t.define(target, insert(t, t.x.cast(t.register(source), target.dtype), x, window, i.offsets))


# --- reductions


def _bits(dtype: "Any") -> int:
    return int(dtype.nbits)


def _extreme(dtype: "Any", low: bool) -> str:
    """The smallest number of a type (low) or the largest one."""
    if is_float(dtype):
        return "-inf" if low else "inf"
    if sign(dtype) == "unsigned":
        return "0" if low else str((1 << _bits(dtype)) - 1)
    return str(-(1 << (_bits(dtype) - 1)) if low else (1 << (_bits(dtype) - 1)) - 1)


def _zero(dtype: "Any") -> str:
    return "0.0" if is_float(dtype) else "0"


def _one(dtype: "Any") -> str:
    return "1.0" if is_float(dtype) else "1"


_IDENTITY: "Dict[str, Callable[[Any], str]]" = {
    "sum": _zero, "add": _zero, "mul": _one, "max": lambda d: _extreme(d, True), "min": lambda d: _extreme(d, False),
    "any": lambda d: "false", "all": lambda d: "true", "and": lambda d: "-1", "or": _zero, "xor": _zero,
}
_WORDS = {"sum": "add", "add": "add", "mul": "mul", "max": "max", "min": "min"}
_BITS = {"any": "ori", "all": "andi", "and": "andi", "or": "ori", "xor": "xori"}


def _combiner(dtype: "Any", op: str, a: str, b: str) -> str:
    if op in _BITS:
        return f"{_BITS[op]} {a}, {b}"
    mnemonic = _WORDS[op] + ("f" if is_float(dtype) else "i")
    return f"{mnemonic} {a}, {b}" + (f" {sign(dtype)}" if op in ("max", "min") and not is_float(dtype) else "")


def combine(t: Translator, mnemonic: str, x: Tile, dim: int, op: str, shape: "Sequence[int]") -> Tile:
    """Writes `reduce` or `scan` along a dimension. `shape` is that of the result."""
    made = Tile(t.w.name(), shape, x.dtype)
    e, a, b = element(x.dtype), t.w.name(), t.w.name()
    more = " reverse=false" if mnemonic == "scan" else ""
    head = (f"{made} = {mnemonic} {x} dim={dim}{more} identities=[{_IDENTITY[op](x.dtype)} : {e}] : {x.type} -> {made.type} "
            f"({a}: tile<{e}>, {b}: tile<{e}>)")
    with t.w.body(head):
        c = t.w.op(_combiner(x.dtype, op, a, b), (), x.dtype)
        t.w.put(f"yield {c}")
    return made


def without_padding(t: Translator, x: Tile, shape: "Sequence[int]", dim: int, op: str) -> Tile:
    """The tile, with the identity of an operation in the padding along a dimension."""
    inside = t.inside(dim, shape)
    return x if inside is None else t.x.op("select", inside, x, t.w.constant(_IDENTITY[op](x.dtype), x.dtype), dtype=x.dtype)


@row("ReduceInst")
def _reduce(t: Translator, i: "Any") -> None:
    x = t.register(i.inputs[0])
    if i.op in ("any", "all"):
        x = t.x.truth(x)
    wide = t.x.computable(x)
    shape = [n for d, n in enumerate(wide.shape) if d != i.dim]
    done = combine(t, "reduce", without_padding(t, wide, i.inputs[0].shape, i.dim, i.op), i.dim, i.op, shape)
    t.define(i.output, t.w.reshape(t.x.cast(done, i.output.dtype), i.output.shape))


@row("ScanInst")
def _scan(t: Translator, i: "Any") -> None:
    x = t.x.computable(t.register(i.inputs[0]))
    scanned = _exclusive(t, x, i.dim, i.op) if i.exclusive else combine(t, "scan", x, i.dim, i.op, x.shape)
    t.define(i.output, scanned)


def _exclusive(t: Translator, x: Tile, dim: int, op: str) -> Tile:
    """Scans pairs of a run's sum without its last element, and its whole sum. Two runs (p, a) and (q, b) make (a + q, a + b)."""
    e, identity = element(x.dtype), _IDENTITY[op](x.dtype)
    before, whole = Tile(t.w.name(), x.shape, x.dtype), Tile(t.w.name(), x.shape, x.dtype)
    q, p, b, a = (t.w.name() for _ in range(4))  # the element of an operand, then the accumulator
    arguments = ", ".join(f"{name}: tile<{e}>" for name in (q, p, b, a))
    none = t.w.constant(identity, x.dtype, x.shape)
    with t.w.body(f"{before}, {whole} = scan {none}, {x} dim={dim} reverse=false identities=[{identity} : {e}, {identity} : {e}] : "
                  f"{x.type}, {x.type} -> {x.type}, {x.type} ({arguments})"):
        first = t.w.op(_combiner(x.dtype, op, a, q), (), x.dtype)
        second = t.w.op(_combiner(x.dtype, op, a, b), (), x.dtype)
        t.w.put(f"yield {first}, {second}")
    return before

