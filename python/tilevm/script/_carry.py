"""Variables that leave a body: what they hold, flattened, and how two bodies' values become one.

A variable holds a tile, a number, a tuple or list of such, or something else that must not change in the body.
"""
from __future__ import annotations

from ._dtypes import DType, PointerType, check_number, of_number
from ._tile import Tile, constant, number_of, type_text, use
from ._trace import fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, NoReturn, Optional, Sequence, Tuple, Union

    from ..builder import Value

    Spec = Tuple[Union[DType, PointerType], Tuple[int, ...]]  # the type and shape of a tile


class Unset:
    """What stands in a variable that has no value: any use says so."""

    def __init__(self, name: str, why: str) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_why", why)

    def _fail(self, *_: "Any", **__: "Any") -> "NoReturn":
        fail("script.unset", f"`{self._name}` has no value here: {self._why}", "assign it before, so that it has one in any case")

    def __getattr__(self, name: str) -> "Any":
        self._fail()

    @property
    def _describe(self) -> str:
        self._fail()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = _fail
    __and__ = __or__ = __xor__ = __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __getitem__ = __call__ = __iter__ = __bool__ = _fail
    __index__ = __matmul__ = __pow__ = __rand__ = __ror__ = __invert__ = __rmatmul__ = __len__ = _fail


def flatten(value: "Any") -> "List[Any]":
    """The leaves of nested tuples and lists."""
    return [leaf for part in value for leaf in flatten(part)] if isinstance(value, (tuple, list)) else [value]


def rebuild(like: "Any", leaves: "List[Any]") -> "Any":
    """The nesting of `like` around other leaves, which are taken from the front of the list."""
    if isinstance(like, (tuple, list)):
        parts = [rebuild(part, leaves) for part in like]
        return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
    return leaves.pop(0)


def shape_of_nest(value: "Any") -> "Any":
    """What of two values must agree before their leaves are compared."""
    return [type(value), *(shape_of_nest(p) for p in value)] if isinstance(value, (tuple, list)) else None


def same(a: "Any", b: "Any") -> bool:
    """Whether a leaf did not change."""
    if isinstance(a, Tile) or isinstance(b, Tile):
        return isinstance(a, Tile) and isinstance(b, Tile) and (a is b or a._value is b._value)
    if a is b:
        return True
    x, y = number_of(a), number_of(b)
    if x is not None and y is not None:
        return type(x) is type(y) and (x == y or (x != x and y != y))
    if x is not None or y is not None or type(a) is not type(b):
        return False
    try:
        return bool(a == b)
    except Exception:
        return False


def spec_of(value: "Any") -> "Optional[Spec]":
    """The type and shape that a leaf has as a tile; None if it can be none."""
    if isinstance(value, Tile):
        return value.dtype, value.shape
    number = number_of(value)
    return None if number is None else (of_number(number, None, "a variable"), ())


def merged(a: "Any", b: "Any", name: str, where: str) -> "Spec":
    """The type and shape of a leaf that two ways give. A number takes those of the other. Errors: script.carry."""
    left, right = spec_of(a), spec_of(b)
    if left is None or right is None:
        fail("script.carry", f"`{name}` is {_what(a)} {where} {_what(b)}", "only tiles, numbers, and tuples of them may change in loops and branches on tiles")
    if isinstance(a, Tile) and isinstance(b, Tile):
        if left != right:
            fail("script.carry", f"`{name}` is {_what(a)} {where} {_what(b)}", "give it one type and shape: astype, broadcast_to")
        return left
    if isinstance(a, Tile) or isinstance(b, Tile):
        tile, number = (left, b) if isinstance(a, Tile) else (right, a)
        value = number_of(number)
        assert value is not None
        if isinstance(tile[0], PointerType) or of_number(value, tile[0], f"`{name}`") is not tile[0]:
            fail("script.carry", f"`{name}` is {_what(a)} {where} {_what(b)}", "give it one type and shape: begin with script.full(shape, number, dtype)")
        return tile
    for one, two in ((left, right), (right, left)):
        if one[0].is_float or (not two[0].is_float and one[0].element in ("i64", "i32")):
            return one
    return left


def _what(value: "Any") -> str:
    if isinstance(value, Unset):
        return "unset"
    number = number_of(value)
    return f"the number {number}" if number is not None else f"a tile of {value.dtype}{list(value.shape)}" if isinstance(value, Tile) else \
        getattr(value, "_describe", None) or f"{type(value).__name__} {value!r}"


def as_spec(value: "Any", spec: "Spec", name: str) -> "Value":
    """The value that passes a leaf on as a tile of that type and shape."""
    number = number_of(value)
    if number is not None and isinstance(spec[0], DType):
        check_number(number, spec[0], f"`{name}`")
        return use(constant(number, spec[0], spec[1]))
    assert isinstance(value, Tile)
    return use(value)


def type_of(spec: "Spec") -> str:
    return type_text(spec[1], spec[0].element)


def origins(values: "Sequence[Any]") -> "frozenset[str]":
    out: "frozenset[str]" = frozenset()
    for v in values:
        out |= v._origin if isinstance(v, Tile) else frozenset()
    return out


