"""A function of Tilus' IR as a kernel in the text form.

    text, workspaces, lets = translate(function, "matmul")

Statements are here; instructions have a row each in the tables of the families (_registers.py, _global.py, …), by the name of their
class. The IR is that after Tilus' passes up to layout_inference: tensors are still tensors, with bounds, and layouts say which thread has
which element. Layouts matter to `view` and to the order of accesses only.
"""
from __future__ import annotations

import math

from . import _groups, _scan
from ._expr import Expressions
from ._order import Order
from ._refuse import Refusal, at
from ._scan import kind
from ._state import State
from ._types import NoElement, dtypes, element, is_pointer, is_small, padded
from ._writer import Tile, Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

    from .._places import Place

    Row = Callable[["Translator", Any], None]

ROWS: "Dict[str, Row]" = {}


def row(*names: str) -> "Callable[[Row], Row]":
    """Adds a function to the table, for the instructions of these classes."""
    def add(function: "Row") -> "Row":
        ROWS.update(dict.fromkeys(names, function))
        return function

    return add


def _load_rows() -> None:
    from . import _atomics, _barriers, _copies, _global, _matrix, _printing, _random, _registers, _shared, _tmem, _views  # noqa: F401


class Workspace:
    """Global memory that the program allocates: its parameter, element type and number of elements, an expression of the parameters."""

    def __init__(self, name: str, dtype: "Any", size: "Any") -> None:
        self.name, self.dtype, self.size = name, dtype, size


class Translator:
    """Errors, of all methods: Refusal."""

    def __init__(self, function: "Any", name: str) -> None:
        self.function = function
        self.name = name
        self.w = Writer(name)
        self.state = State(self.w)
        self.x = Expressions(self.w, self.state)  # type: ignore[arg-type]
        self.order = Order(self.state, _scan.depths(function))
        self.shared_root = _scan.roots(function)
        self.tmem_root = _scan.tmem_roots(function)
        self.memory = _scan.Memory(function)
        self.views: "Dict[Any, Any]" = {}  # the pointers of global tensors, the windows of shared and tmem tensors
        self.workspaces: "List[Workspace]" = []
        self.lets: "Dict[Any, Any]" = {}  # expressions of variables that are bound once: for sizes that the host computes
        self.tiles: "Dict[Any, Any]" = {}  # a family's own facts
        self.threads = [function.metadata.num_warps * 32]  # of the groups around

    # --- for the families

    def register(self, tensor: "Any") -> Tile:
        """The value that a register tensor has now."""
        if tensor not in self.state:
            raise Refusal("a register tensor without a value", "give it one (init=, or an assignment) before it is read")
        found: Tile = self.state[tensor]
        return found

    def define(self, tensor: "Any", value: Tile) -> None:
        """Gives a register tensor a value, of its type."""
        if tuple(value.shape) != tuple(Tile("", tensor.shape, tensor.dtype).shape):
            if len(value.shape) != len(tensor.shape):
                value = self.w.reshape(value, (1,) * (len(tensor.shape) - len(value.shape)) + value.shape)
            value = self.w.broadcast(value, tensor.shape)
        value = self.x.cast(value, tensor.dtype)
        self.state[tensor] = Tile(value.name, value.shape, tensor.dtype)

    def static(self, expr: "Any", what: str) -> int:
        """A number that is known before the launch. Errors: Refusal."""
        if isinstance(expr, int):
            return expr
        value = getattr(expr, "value", None)
        if isinstance(value, int):
            return value
        raise Refusal(f"{what} that is no number", f"give {what} as a number of Python")

    def iota(self, dim: int, shape: "Sequence[int]", dtype: "Any") -> Tile:
        """The coordinates along a dimension of a shape, as a tile of size 1 in the other dimensions."""
        size = padded(shape)[dim]
        line = self.w.op("iota", (size,), dtype, typed=True)
        return self.w.reshape(line, tuple(size if d == dim else 1 for d in range(len(shape))))

    def inside(self, dim: int, shape: "Sequence[int]") -> "Optional[Tile]":
        """Which coordinates along a dimension a tensor of this shape has, as a tile of size 1 in the others; None for all of its tile."""
        size = shape[dim]
        if padded(shape)[dim] == size:
            return None
        return self.x.op("cmpi less_than", self.iota(dim, shape, dtypes.int64), self.x.number(size, dtypes.int64), dtype=dtypes.boolean,
                         words=", signed")

    def both(self, a: "Optional[Tile]", b: "Optional[Tile]") -> "Optional[Tile]":
        """The conjunction of two masks; None stands for all elements."""
        if a is None or b is None:
            return b if a is None else a
        return self.x.op("andi", a, b, dtype=a.dtype)

    # --- the kernel

    def run(self) -> str:
        _load_rows()
        f = self.function
        head = f"entry @{self.name}({', '.join([*map(self._parameter, f.params), *self._workspace_parameters()])})"
        with self.w.body(head, end="") as line:
            self.w.kinds[line] = "entry"
            self._begin()
            self.statement(f.body)
            if not self.state.ended:
                self.w.put("return")
            self.tiles["scratch"].end(self)
        self.w.put("}", "end")
        return self.w.text()

    def first_place(self) -> "Place":
        for inst in _scan.instructions(self.function.body):
            place: "Optional[Place]" = getattr(inst, "tilevm_place", None)
            if place:
                return place
        return ("", 0, 1)

    def _parameter(self, var: "Any") -> str:
        name = f"%p_{var.name or var.hint}"
        self.state[var] = Tile(name, (), var.type)
        return f"{name}: tile<{element(var.type)}>"

    def _workspace_parameters(self) -> "List[str]":
        """A parameter for each allocation of global memory."""
        made = []
        for inst in _scan.instructions(self.function.body):
            if kind(inst) != "AllocateGlobalInst":
                continue
            name = f"%workspace{len(self.workspaces)}"
            self.workspaces.append(Workspace(name[1:], inst.output.dtype, inst.output.layout.size))
            self.tiles[inst] = name
            made.append(f"{name}: tile<ptr<{'i8' if is_small(inst.output.dtype) else element(inst.output.dtype)}>>")
        return made

    def _begin(self) -> None:
        from . import _barriers
        from ._scratch import Scratch
        from ._shared import allocate

        self.state.begin()
        self.tiles["scratch"] = Scratch(self)
        _barriers.begin(self)
        self._block_numbers()
        for var, divisor in self.function.metadata.param2divisibility.items():
            if divisor > 1 and var in self.state and not is_pointer(var.type):
                value = self.state[var]
                self.state[var] = self.w.op(f"assume div_by<{divisor}>, {value}", (), var.type)
        for inst in _scan.instructions(self.function.body):
            if kind(inst) == "AllocateSharedInst":
                allocate(self, inst)

    def _block_numbers(self) -> None:
        from tilus.hidet.ir.primitives.vars import lookup_primitive_variable as builtin

        int32, about = dtypes.int32, self.function.metadata
        numbers: "Dict[str, List[Tile]]" = {}
        for op, name in (("get_tile_block_id", "blockIdx"), ("get_num_tile_blocks", "gridDim")):
            numbers[name] = [Tile(self.w.name(), (), int32) for _ in range(3)]
            self.w.put(f"{', '.join(map(str, numbers[name]))} = {op}")
            self.state.update((builtin(f"{name}.{letter}"), value) for letter, value in zip("xyz", numbers[name]))
        self.state.update(zip(about.block_indices, numbers["blockIdx"]))
        self._cluster_numbers(numbers["blockIdx"], [int(n) for n in about.cluster_blocks])

    def _cluster_numbers(self, blocks: "Sequence[Tile]", sizes: "Sequence[int]") -> None:
        """The place of a block in its cluster. Blocks of a cluster run as others do: instructions that reach other blocks are refused."""
        from tilus.hidet.ir.primitives.vars import lookup_primitive_variable as builtin

        int32 = dtypes.int32
        dims = [self.x.number(n, int32) for n in sizes]
        places = [self.x.number(0, int32) if n == 1 else self.x.op("remi", block, dim, dtype=int32, words=" signed")
                  for block, n, dim in zip(blocks, sizes, dims)]
        clusters = [block if n == 1 else self.x.op("divi", block, dim, dtype=int32, words=" signed") for block, n, dim in zip(blocks, sizes, dims)]
        rank = places[2]
        for d in (1, 0) if math.prod(sizes) > 1 else ():
            rank = self.x.op("addi", self.x.op("muli", rank, dims[d], dtype=int32), places[d], dtype=int32)
        self.state.update({builtin("clusterBlockRank"): rank, builtin("clusterSize"): self.x.number(math.prod(sizes), int32)})
        for name, values in (("clusterBlockIdx", places), ("clusterDim", dims), ("clusterIdx", clusters)):
            self.state.update((builtin(f"{name}_{letter}"), value) for letter, value in zip("xyz", values))

    # --- statements

    def statement(self, stmt: "Any") -> None:
        if self.state.ended or stmt is None:
            return
        getattr(self, f"_{kind(stmt)}")(stmt)

    def _SeqStmt(self, s: "Any") -> None:
        for inner in s.seq:
            self.statement(inner)

    def _InstStmt(self, s: "Any") -> None:
        place = getattr(s.inst, "tilevm_place", None)
        if place:
            self.w.place = place
        instruction = ROWS.get(kind(s.inst))
        if instruction is None:
            raise Refusal(f"the instruction {kind(s.inst).removesuffix('Inst')}", "docs/tilus.md lists the instructions that run")
        instruction(self, s.inst)

    def _DeclareStmt(self, s: "Any") -> None:
        self.state[s.var] = self._initial(s.var, s.init)

    def _initial(self, var: "Any", init: "Any") -> Tile:
        if init is not None:
            return self.x.cast(self.x.value(init), var.type)
        if is_pointer(var.type):
            return self.x.cast(self.x.number(0, dtypes.int64), var.type)
        return self.x.number(0, var.type)

    def _AssignStmt(self, s: "Any") -> None:
        self.state[s.var] = self.x.cast(self.x.value(s.value), s.var.type)

    def _LetStmt(self, s: "Any") -> None:
        for var, value in zip(s.bind_vars, s.bind_values):
            self.lets[var] = value
            self.state[var] = self.x.cast(self.x.value(value), var.type)
        self.statement(s.body)

    def _EvaluateStmt(self, s: "Any") -> None:
        name = str(s.expr.func_var.name) if kind(s.expr) == "Call" else kind(s.expr)
        if "cluster" in name:
            raise Refusal(f"{name}, which waits for other blocks of a cluster", "write a version of the kernel for single blocks", "cluster")
        raise Refusal(f"a call of {name} for its effect", "use the instructions of tilus.Script; PTX has no meaning in tile code")

    def _ForStmt(self, s: "Any") -> None:
        changed = _scan.changed(s.body, self.tmem_root)
        extent = self.x.cast(self.x.value(s.extent), s.iter_var.type)
        zero, one = self.x.number(0, s.iter_var.type), self.x.number(1, s.iter_var.type)
        if not _scan.leaves(s.body):
            index = Tile(self.w.name(), (), s.iter_var.type)
            with self.state.loop(f"for {index} in ({zero} to {extent}, step {one}) : {index.type}", changed):
                self.state[s.iter_var] = index
                self.statement(s.body)
            return
        with self.state.loop("loop", changed, (s.iter_var, zero, f"addi {{}}, {one}")):
            more = self.w.op(f"cmpi less_than {self.state[s.iter_var]}, {extent}, signed", (), dtypes.boolean)
            self.state.branches(more, lambda: None, self.state.leave_loop)
            self.statement(s.body)

    def _WhileStmt(self, s: "Any") -> None:
        with self.state.loop("loop", _scan.changed(s.body, self.tmem_root)):
            condition = self.x.truth(self.x.value(s.cond))
            self.state.branches(condition, lambda: None, self.state.leave_loop)
            self.statement(s.body)

    def _IfStmt(self, s: "Any") -> None:
        condition = self.x.truth(self.x.value(s.cond))
        otherwise = None if s.else_body is None else lambda: self.statement(s.else_body)
        self.state.branches(condition, lambda: self.statement(s.then_body), otherwise)

    def _BreakStmt(self, s: "Any") -> None:
        self.state.leave_loop()

    def _ReturnStmt(self, s: "Any") -> None:
        self.state.leave_kernel()

    def _ThreadGroupStmt(self, s: "Any") -> None:
        self.threads.append(s.num_threads)
        with self.order.group(f"group {s.thread_begin} {s.num_threads}", s.num_threads):
            self.statement(s.body)
        self.threads.pop()

    def _TensorItemValueStmt(self, s: "Any") -> None:
        from ._global import read_item
        from ._shared import read_item as read_shared_item

        if kind(s.tensor) == "RegisterTensor":
            value = self.w.reshape(self.register(s.tensor), ())
        elif kind(s.tensor) == "GlobalTensor":
            value = read_item(self, s.tensor)
        elif kind(s.tensor) == "SharedTensor":
            value = read_shared_item(self, s.tensor)
        else:
            raise Refusal(f"an element of a {kind(s.tensor)} as a number", "load it into registers first")
        self.state[s.var] = self.x.cast(value, s.var.type)

    def _TensorItemPtrStmt(self, s: "Any") -> None:
        from ._global import address

        if kind(s.tensor) != "GlobalTensor":
            raise Refusal(f"the address of an element of a {kind(s.tensor)}",
                          "use load_shared, store_shared and slices; only global memory has addresses")
        self.state[s.ptr_var] = self.x.cast(address(self, s.tensor), s.ptr_var.type)


def translate(function: "Any", name: str) -> "Tuple[str, List[Workspace], Dict[Any, Any]]":
    """The text, the memory that a launch provides, and the expressions of variables that sizes may use.

    Errors: UnsupportedError names the line of Python, and what would work."""
    t = Translator(function, name)
    t.w.place = t.first_place()
    try:
        _groups.check(function)
        return t.run(), t.workspaces, t.lets
    except NoElement as error:
        raise at(t.w.place, Refusal(str(error), "use a type of docs/tilus.md")) from None
    except Refusal as refusal:
        raise at(t.w.place, refusal) from None
