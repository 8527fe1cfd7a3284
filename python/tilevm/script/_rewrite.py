"""Python's `for`, `while` and `if` as parts of a kernel.

A traced function runs as Python. That gives names, functions, closures and constants for nothing, but Python itself decides which branch
to run and how often a loop runs; a scalar tile cannot tell it. So the statements of a kernel are rewritten, once, to ask objects of
_control.py: those let Python decide where the condition or the iterable is a Python value (then a loop is unrolled, a branch chosen while
tracing) and build an operation where it is a tile or a `script.range`. Variables that a body assigns are handed to these objects, which carry them
out of the body: users write ordinary assignments. Context managers (`with script.If(c)`) would need no rewriting, but could neither see
assignments nor leave a body, so that every variable that changes would have to be declared.

    for i in R:            __c1 = __script__.For(R, ("x",), (get x,))
        x = x + f(i)       for i in __c1.rounds():
                               (x,) = __c1.enter((get x,))
                               x = x + f(i)
                               __c1.next((get x,))
                           (x,) = __c1.leave((get x,)); (i,) = __c1.targets((get i,))

where `get x` is `__script__.get("x", lambda: x)`, for a variable that may not be set yet. Lines and columns stay those of the source.
"""
from __future__ import annotations

import ast
import inspect
import textwrap
import types

from ._errors import script_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Sequence, Tuple

    Function = Callable[..., Any]

_HELPER = "__script__"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _assigned(nodes: "Sequence[ast.AST]") -> "List[str]":
    """Names that statements assign, in order; not those of functions within."""
    found: "List[str]" = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in found and not node.id.startswith("__c"):
            found.append(node.id)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return
        if isinstance(node, _SCOPES):
            return
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in nodes:
        visit(node)
    return found


class _Rewriter(ast.NodeTransformer):
    def __init__(self, file: str) -> None:
        self.file = file
        self.count = 0
        self.depth = 0  # of functions
        self.loops: "List[Tuple[str, List[str]]]" = []  # the object of each loop around, and the names that it carries

    # --- pieces

    def refuse(self, node: ast.AST, what: str, fix: str) -> "Any":
        raise script_error("script.syntax", what, fix, (self.file, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1))

    def fresh(self) -> str:
        self.count += 1
        return f"__c{self.count}"

    def parse(self, text: str, at: ast.AST) -> "List[ast.stmt]":
        made = ast.parse(text).body
        for statement in made:
            for node in ast.walk(statement):
                for field in ("lineno", "col_offset"):  # Python places the call of a method that takes several lines at its end
                    if hasattr(node, field):
                        setattr(node, field, getattr(at, field))
                        setattr(node, f"end_{field}", getattr(at, field))
        return made

    @staticmethod
    def got(names: "Sequence[str]") -> str:
        return "(" + "".join(f'{_HELPER}.get("{n}", lambda: {n}), ' for n in names) + ")"

    @staticmethod
    def names(names: "Sequence[str]") -> str:
        return "(" + "".join(f'"{n}", ' for n in names) + ")"

    def assign(self, names: "Sequence[str]", call: str, at: ast.AST) -> "List[ast.stmt]":
        return self.parse(f"({', '.join(names)},) = {call}" if names else call, at)

    def block(self, body: "Sequence[ast.stmt]") -> "List[ast.stmt]":
        out: "List[ast.stmt]" = []
        for statement in body:
            made = self.visit(statement)
            out += made if isinstance(made, list) else [made]
        return out

    # --- statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outside, self.loops, self.depth = self.loops, [], self.depth + 1
        node.body = self.block(node.body)
        self.loops, self.depth = outside, self.depth - 1
        if self.depth > 0:  # called in a loop, branch or reduction, it returns from itself
            framed = self.parse(f"{_HELPER}.framed", node)[0]
            assert isinstance(framed, ast.Expr)
            node.decorator_list.append(framed.value)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_For(self, node: ast.For) -> "List[ast.stmt]":
        if node.orelse:
            self.refuse(node, "for with else", "test a variable behind the loop")
        me, names, targets = self.fresh(), _assigned(node.body), _assigned([node.target])
        names = [n for n in names if n not in targets]
        begin = self.parse(f"{me} = {_HELPER}.For(0, {self.names(names)}, {self.got(names)})", node)
        call = begin[0].value  # type: ignore[attr-defined]
        call.args[0] = self.visit(node.iter)
        loop = self.parse(f"for _ in {me}.rounds(): pass", node)[0]
        assert isinstance(loop, ast.For)
        loop.target = node.target
        self.loops.append((me, names))
        body = self.block(node.body)
        self.loops.pop()
        loop.body = [*self.assign(names, f"{me}.enter({self.got(names)})", node), *body, *self.parse(f"{me}.next({self.got(names)})", node.body[-1])]
        return [*begin, loop, *self.assign(names, f"{me}.leave({self.got(names)})", node),
                *self.assign(targets, f"{me}.targets({self.names(targets)}, {self.got(targets)})", node)]

    def visit_While(self, node: ast.While) -> "List[ast.stmt]":
        if node.orelse:
            self.refuse(node, "while with else", "test a variable behind the loop")
        me, names = self.fresh(), _assigned([node.test, *node.body])
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        begin = self.parse(f"{me} = {_HELPER}.While({forever}, {self.names(names)}, {self.got(names)})", node)
        test = self.parse(f"{me}_t = {me}.test(0, {self.got(names)})\nif {me}_t == 1: break\nif {me}_t == 2: continue", node.test)
        test[0].value.args[0] = self.visit(node.test)  # type: ignore[attr-defined]
        loop = self.parse(f"for {me}_r in {me}.rounds(): pass", node)[0]
        assert isinstance(loop, ast.For)
        self.loops.append((me, names))
        body = self.block(node.body)
        self.loops.pop()
        loop.body = [*self.assign(names, f"{me}.enter({self.got(names)})", node), *test, *body,
                     *self.parse(f"{me}.next({self.got(names)})", node.body[-1])]
        return [*begin, loop, *self.assign(names, f"{me}.leave({self.got(names)})", node)]

    def visit_If(self, node: ast.If) -> "List[ast.stmt]":
        me, names = self.fresh(), _assigned([*node.body, *node.orelse])
        begin = self.parse(f"{me} = {_HELPER}.If(0, {self.names(names)}, {self.got(names)})", node)
        begin[0].value.args[0] = self.visit(node.test)  # type: ignore[attr-defined]
        done = f"{me}.done({self.got(names)})"
        then, other = (self.parse(f"if {me}.{which}(): pass", node)[0] for which in ("then", "otherwise"))
        assert isinstance(then, ast.If) and isinstance(other, ast.If)
        then.body = [*self.block(node.body), *self.parse(done, node.body[-1])]
        out = [*begin, then]
        if node.orelse:
            other.body = [*self.assign(names, f"{me}.before({self.got(names)})", node), *self.block(node.orelse), *self.parse(done, node.orelse[-1])]
            out.append(other)
        return [*out, *self.assign(names, f"{me}.leave({self.got(names)})", node)]

    def visit_Break(self, node: ast.Break) -> "List[ast.stmt]":
        return self._jump(node, "break_", "break")

    def visit_Continue(self, node: ast.Continue) -> "List[ast.stmt]":
        return self._jump(node, "continue_", "continue")

    def _jump(self, node: ast.stmt, method: str, word: str) -> "List[ast.stmt]":
        me, names = self.loops[-1]
        ask = self.parse(f"if {me}.{method}({self.got(names)}): pass", node)[0]
        assert isinstance(ask, ast.If)
        ask.body = [node]
        return [ask]

    def visit_Return(self, node: ast.Return) -> "List[ast.stmt]":
        ask = self.parse(f"if {_HELPER}.returns({node.value is not None}): pass", node)[0]
        assert isinstance(ask, ast.If)
        if node.value is not None and self.depth > 1:
            node.value = self.visit(node.value)
        elif node.value is not None:
            given = self.parse(f"{_HELPER}.result(0)", node)[0]
            assert isinstance(given, ast.Expr) and isinstance(given.value, ast.Call)
            given.value.args[0] = self.visit(node.value)
            node.value = given.value
        ask.body = [node]
        return [ask]

    def visit_Assert(self, node: ast.Assert) -> "List[ast.stmt]":
        made = self.parse(f"{_HELPER}.assert_(0, lambda: 0)", node)
        call = made[0].value  # type: ignore[attr-defined]
        call.args[0] = self.visit(node.test)
        call.args[1].body = node.msg or ast.copy_location(ast.Constant(""), node)
        return made

    def visit_Global(self, node: ast.Global) -> "Any":
        return self.refuse(node, f"global {', '.join(node.names)} in a kernel", "a kernel changes its own variables only")

    def visit_Nonlocal(self, node: ast.Nonlocal) -> "Any":
        return self.refuse(node, f"nonlocal {', '.join(node.names)} in a kernel", "a kernel changes its own variables only")

    def visit_Try(self, node: ast.Try) -> "Any":
        return self.refuse(node, "try in a kernel", "a kernel raises nothing while it runs")


def rewrite(function: "Function", helper: "Any") -> "Function":
    """The function with its statements rewritten; as it is, if its source cannot be read (typed into `python`, or piped to it): then a
    statement that would ask a tile says so. Errors: script.source, script.syntax."""
    code = function.__code__
    at = (code.co_filename, code.co_firstlineno, _first_column(code))
    if function.__name__ == "<lambda>":
        raise script_error("script.source", "a kernel that is a lambda", "write it as def: a kernel has a name", at)
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return function
    text = "".join(lines)
    plain = textwrap.dedent(text)
    indent = len(lines[0]) - len(lines[0].lstrip())
    tree = ast.parse(plain)
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise script_error("script.source", f"`{function.__name__}` is no function made by def", "write it as def", at)
    ast.increment_lineno(tree, first - 1)
    for node in ast.walk(definition):
        for field in ("col_offset", "end_col_offset"):
            if hasattr(node, field):
                setattr(node, field, getattr(node, field) + indent)
    definition.decorator_list = []
    definition.returns = None
    arguments = definition.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    defaults = function.__defaults__, function.__kwdefaults__
    arguments.defaults = [ast.copy_location(ast.Constant(None), definition) for _ in arguments.defaults]
    arguments.kw_defaults = [None if d is None else ast.copy_location(ast.Constant(None), definition) for d in arguments.kw_defaults]
    _Rewriter(code.co_filename).visit(definition)
    free = (*code.co_freevars, _HELPER)
    outer = ast.parse(f"def __outer__({', '.join(free)}): pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [definition]
    module = compile(ast.fix_missing_locations(ast.Module([outer], [])), code.co_filename, "exec")
    made = _code(_code(module, "__outer__"), definition.name)
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    cells[_HELPER] = types.CellType(helper)
    out = types.FunctionType(made, function.__globals__, function.__name__, defaults[0], tuple(cells[n] for n in made.co_freevars))
    out.__kwdefaults__ = defaults[1]
    out.__doc__ = function.__doc__
    return out


def _first_column(code: "types.CodeType") -> int:
    """Of the first expression in the code that has a place, as `_errors.place` counts."""
    positions = getattr(code, "co_positions", lambda: ())
    return next((p[2] + 1 for p in positions() if p[2] is not None and p[3]), 1)


def _code(code: "types.CodeType", name: str) -> "types.CodeType":
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


__all__ = ["rewrite"]
