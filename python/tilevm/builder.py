"""Programs built operation by operation, from the table of operations that this package carries.

    b = tilevm.Builder("examples")
    with b.entry("twice", x="tile<ptr<f32>>", interface=["inout x: f32[1] at %x", "grid 1"]) as (x,):
        v, t = b.load_ptr_tko(x, ordering="weak", result="tile<f32>")
        b.store_ptr_tko(x, b.addf(v, v), ordering="weak", token=t)
    module = b.build()                       # verified: a tilevm.Module
    module["twice"](numpy.ones(1, "float32"))

Every operation of the table is a method: operands by position or by name, attributes by name, `result=` (or `results=`) the types
that do not follow from the operands. `print(tilevm.Builder.help("addf"))` says what one takes and means. The three with bodies and
a count of their own are context managers: `for_`, `loop`, `if_`; their siblings `reduce` and `scan` too. Whatever the text form can
say can be added by `line`. The place of every operation is the Python line that made it: messages about it name file and line, and
so does a launch that it ends (operations that `line` added have no place of their own).
"""
from __future__ import annotations

import difflib
import json
import os
import sys

from ._errors import argument_error, entry
from ._places import located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, Union

    from ._module import Module
    from ._places import Place

_table: "Optional[Dict[str, Any]]" = None


def table() -> "Dict[str, Any]":
    """The table of operations: elements, enums, formats, ops, structures, rules, foreign names, as `tilevm ops --json` prints it."""
    global _table
    if _table is None:
        with open(os.path.join(os.path.dirname(__file__), "operations.json"), encoding="utf-8") as file:
            _table = json.load(file)
        _table["format_of"] = {f["name"]: f for f in _table["formats"]}
        _table["op_of"] = {o["mnemonic"]: o for o in _table["ops"]}
    return _table


def _advice(word: str) -> str:
    """What is meant by a word that is no operation: what other systems call one, a part of a name, a slip."""
    name = word.rpartition(".")[2].lower()
    for row in table()["foreign_names"]:
        if row["kind"] == "op" and row["name"].lower() == name:
            return f"in text: {row['form']}" + (f"; Builder.help('{row['own']}')" if row["own"] else "")
    return _near(name)


class Value:
    """What an operation gave, or a parameter: `name` ("%3") and `type` ("tile<8xf32>")."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: str) -> None:
        self.name = name
        self.type = type

    def __repr__(self) -> str:
        return f"<{self.name}: {self.type}>"


class Body:
    """The inside of an entry or of an operation with a body: `with` gives its arguments as Values; `results`, afterwards, what the
    operation gave."""

    def __init__(self, builder: "Builder", head: str, arguments: "Tuple[Value, ...]", results: "Tuple[Value, ...]" = (),
                 end: str = "") -> None:
        self.results = results
        self._builder = builder
        self._head = head
        self._arguments = arguments
        self._end = end

    def __enter__(self) -> "Tuple[Value, ...]":
        self._place = self._builder._place()
        self._builder._put(self._head + " {", "open")
        self._builder._depth += 1
        return self._arguments

    def __exit__(self, kind: "Optional[Type[BaseException]]", error: "Optional[BaseException]",
                 trace: "Optional[TracebackType]") -> None:
        if kind is not None:
            return
        if self._end and not self._builder._lines[-1].lstrip().startswith(self._end):
            self._builder._put(self._end, "op")
        self._builder._depth -= 1
        self._builder._put("}", "close", self._place)


class Else(Body):
    """The other body of an `if_`."""

    def __enter__(self) -> "Tuple[Value, ...]":
        arguments = super().__enter__()
        self._builder._kinds[-1] = ""
        return arguments


class Entry(Body):
    """The inside of an entry."""

    def __enter__(self) -> "Tuple[Value, ...]":
        arguments = super().__enter__()
        self._builder._kinds[-1] = "entry"
        return arguments

    def __exit__(self, kind: "Optional[Type[BaseException]]", error: "Optional[BaseException]",
                 trace: "Optional[TracebackType]") -> None:
        super().__exit__(kind, error, trace)
        if kind is None:
            self._builder._kinds[-1] = "end"


class Builder:
    """See the module. Not for several threads at once."""

    def __init__(self, name: str = "kernels") -> None:
        self.name = name
        self._lines: "List[str]" = [f"module {_symbol(name)}"]
        self._places: "List[Place]" = [("", 0, 1)]
        self._kinds: "List[str]" = [""]  # of a line: "op", "open" and "close" (of an operation with a body), "entry", "end", ""
        self._depth = 0
        self._next = 0

    # --- the program

    @property
    def text(self) -> str:
        """What was built so far, in the text form."""
        return "\n".join(self._lines) + "\n"

    @entry
    def build(self) -> "Module":
        """The program, verified. Errors: ModuleError; its diagnostics name the Python lines that made the operations."""
        from ._errors import ModuleError
        from ._module import loads

        if self._depth != 0:
            raise argument_error("build() inside of a body", "call it behind the `with`")
        try:
            return loads(located(self._lines, self._places, self._kinds), self.name)
        except ModuleError as error:
            raise ModuleError(self._with_places(str(error)), error.code) from None

    def _with_places(self, message: str) -> str:
        import re

        def place(match: "re.Match[str]") -> str:
            file, line, column = self._places[min(int(match[1]), len(self._places)) - 1]
            return f"{file}:{line}:{column}: " if file else match[0]

        return re.sub(rf"^{re.escape(self.name)}:(\d+):\d+: ", place, message, flags=re.M)

    def line(self, text: str) -> None:
        """Adds a line of the text form (docs/text.md)."""
        if not isinstance(text, str):
            raise argument_error(f"a line is text, not {type(text).__name__}")
        self._put(text, "")

    def _put(self, text: str, kind: str, place: "Optional[Place]" = None) -> None:
        place = place or self._place()
        for part in text.split("\n"):
            self._lines.append("  " * self._depth + part)
            self._places.append(place)
            self._kinds.append(kind)

    def _place(self) -> "Place":
        """Of the Python code that called: file, line, column."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        return frame.f_code.co_filename, frame.f_lineno, 1

    def entry(self, name: str, *, interface: "Sequence[str]" = (), **parameters: str) -> Body:
        """A kernel: parameters with their types, in order, and the lines of its interface."""
        for parameter, type_ in parameters.items():
            if not isinstance(type_, str):
                raise argument_error(f"the type of parameter `{parameter}` is {type(type_).__name__}, no text", "write 'tile<ptr<f32>>'")
        if isinstance(interface, str):
            raise argument_error(f"interface={interface!r} is one string", f"pass [{interface!r}]")
        arguments = tuple(Value(f"%{n}", t) for n, t in parameters.items())
        head = f"entry {_symbol(name)}({', '.join(f'{a.name}: {a.type}' for a in arguments)})"
        if interface:
            self.line(head + " interface {")
            for item in interface:
                self.line("  " + item)
            head = "}"
        return Entry(self, head, arguments, end="return")

    def _value(self, type: str) -> Value:
        self._next += 1
        return Value(f"%v{self._next}", type)

    # --- operations with bodies

    def _carried(self, init: "Sequence[Value]") -> "Tuple[str, Tuple[Value, ...], Tuple[Value, ...]]":
        _need_values("init", *init)
        inside = tuple(self._value(v.type) for v in init)
        results = tuple(self._value(v.type) for v in init)
        names = ", ".join(f"{i.name} = {v.name}" for i, v in zip(inside, init))
        return (f" iter_values({names})" if init else ""), inside, results

    def for_(self, lower: Value, upper: Value, step: Value, init: "Sequence[Value]" = (), unsigned: bool = False) -> Body:
        """A loop over lower, lower + step, … below upper; gives the index and what is carried. End it with `continue_`."""
        _need_values("bounds of a for", lower, upper, step)
        carry, inside, results = self._carried(init)
        index = self._value(lower.type)
        begin = ", ".join(r.name for r in results) + (" = " if results else "")
        types = f" -> ({', '.join(r.type for r in results)})" if results else ""
        return Body(self, f"{begin}for {'unsigned ' if unsigned else ''}{index.name} in ({lower.name} to {upper.name}, step "
                    f"{step.name}) : {lower.type}{carry}{types}", (index, *inside), results)

    def loop(self, init: "Sequence[Value]" = (), results: "Sequence[str]" = ()) -> Body:
        """A loop until `break_`, which gives the results; `continue_` gives what is carried to the next round."""
        carry, inside, _ = self._carried(init)
        made = tuple(self._value(t) for t in _types_of(results))
        begin = ", ".join(r.name for r in made) + (" = " if made else "")
        into = f" : {', '.join(v.type for v in init)}" if init else ""
        out = f" -> {', '.join(results)}" if results else ""
        return Body(self, f"{begin}loop{carry}{into}{out}", inside, made)

    def if_(self, condition: Value, results: "Sequence[str]" = ()) -> Body:
        """What happens if the condition holds; `else_` follows for the other case. `yield_` gives the results."""
        _need_values("condition of an if", condition)
        made = tuple(self._value(t) for t in _types_of(results))
        begin = ", ".join(r.name for r in made) + (" = " if made else "")
        out = f" -> ({', '.join(results)})" if results else ""
        return Body(self, f"{begin}if {condition.name}{out}", (), made)

    def else_(self) -> Body:
        """Right behind the body of an `if_`."""
        if self._lines[-1].strip() != "}":
            raise argument_error("else_() does not follow the body of an if_()")
        self._lines.pop()
        self._places.pop()
        self._kinds.pop()
        return Else(self, "} else", ())

    def _combine(self, name: str, operands: "Sequence[Value]", dim: int, identities: "Sequence[str]", results: "Sequence[str]",
                 more: str) -> Body:
        if not operands:
            raise argument_error(f"{name} of nothing", "give it the tiles to combine")
        _need_values(f"operands of {name}", *operands)
        elements = [v.type[:-1].rsplit("x", 1)[-1] for v in operands]
        if len(identities) != len(operands) or len(results) != len(operands):
            raise argument_error(f"{name} takes an identity and a result type for each operand")
        made = tuple(self._value(t) for t in results)
        inside = tuple(self._value(f"tile<{e}>") for e in elements for _ in range(2))
        neutral = ", ".join(f"{i} : {e}" for i, e in zip(identities, elements))
        head = (f"{', '.join(r.name for r in made)} = {name} {', '.join(v.name for v in operands)} dim={dim}{more} identities=[{neutral}] : "
                f"{', '.join(v.type for v in operands)} -> {', '.join(results)} ({', '.join(f'{a.name}: {a.type}' for a in inside)})")
        return Body(self, head, inside, made)

    def reduce(self, *operands: Value, dim: int, identities: "Sequence[str]", results: "Sequence[str]") -> Body:
        """Combines the elements along a dimension; the body takes two of each operand and gives one with `yield_`. `identities`:
        numbers as text ("0", "0xFF800000")."""
        return self._combine("reduce", operands, dim, identities, results, "")

    def scan(self, *operands: Value, dim: int, identities: "Sequence[str]", results: "Sequence[str]", reverse: bool = False) -> Body:
        """Like reduce, with every intermediate value."""
        return self._combine("scan", operands, dim, identities, results, f" reverse={str(reverse).lower()}")

    def make_tensor_view(self, base: Value, shape: "Sequence[Union[int, Value]]", strides: "Sequence[Union[int, Value]]",
                         result: str) -> Value:
        """A tensor over memory; `result` is its type ("tensor_view<?xf32, strides=[1]>")."""
        _need_values("base of a view", base)
        for what, part in (("shape", shape), ("strides", strides)):
            if not isinstance(part, (list, tuple)) or not all(isinstance(n, (int, Value)) for n in part):
                raise argument_error(f"{what}={part!r} of a view", "pass a list of numbers and values")
        made = self._value(result)
        dynamic = next((s.type for s in (*shape, *strides) if isinstance(s, Value)), None)
        sizes, steps = (", ".join(s.name if isinstance(s, Value) else str(s) for s in part) for part in (shape, strides))
        into = f"{dynamic} -> " if dynamic else ""
        self._put(f"{made.name} = make_tensor_view {base.name}, shape = [{sizes}], strides = [{steps}] : {into}{result}", "op")
        return made

    # --- the rest, from the table

    @staticmethod
    def help(mnemonic: str) -> str:
        """What an operation takes, gives and means. Errors: ArgumentError if there is none of that name."""
        op = table()["op_of"].get(mnemonic)
        if op is None:
            raise argument_error(f"there is no operation `{mnemonic}`", _advice(str(mnemonic)))
        form = table()["format_of"][op["format"]]
        fields = [f["name"] + {"one": "", "optional": "=None", "variadic": ": sequence"}[f["arity"]] for f in form["operands"]]
        attributes = [f"{a['name']}: {_values_of(a)}" for a in form["attributes"]]
        return f"{mnemonic}({', '.join(fields + attributes)}) -> {', '.join(r['name'] for r in form['results']) or 'nothing'}\n{op['doc']}"

    def __getattr__(self, name: str) -> "Any":
        op = table()["op_of"].get(name.rstrip("_"))
        if op is None or name.startswith("__"):
            raise AttributeError(f"tilevm.Builder has no operation {name!r}" + ("" if name.startswith("_") else f"; {_advice(name)}"))

        def add(*operands: "Any", **named: "Any") -> "Any":
            return self._add(op, operands, named)

        add.__name__, add.__doc__ = name, op["doc"]
        return add

    def _add(self, op: "Dict[str, Any]", operands: "Tuple[Any, ...]", named: "Dict[str, Any]") -> "Any":
        form = table()["format_of"][op["format"]]
        fields = [f["name"] for f in form["operands"]]
        given: "Dict[str, Any]" = {}
        results = named.pop("results", None) or ([named.pop("result")] if "result" in named else None)
        left = list(operands)
        for field in form["operands"]:
            if field["arity"] == "variadic" and (not left or isinstance(left[0], Value)):  # single values: all that are left
                given[field["name"]], left = tuple(left), []
                break
            if left:
                given[field["name"]] = left.pop(0)
        if left:
            raise argument_error(f"{op['mnemonic']} takes {', '.join(fields) or 'no operands'}, not {len(operands)} operands")
        known = {*fields, *(a["name"] for a in form["attributes"])}
        for name, value in named.items():
            if name not in known or given.get(name, ()) != ():
                raise argument_error(f"{op['mnemonic']} has no `{name}`" if name not in known else f"{op['mnemonic']}: `{name}` is given twice",
                                     Builder.help(op["mnemonic"]).split("\n")[0])
            given[name] = value
        types = results if results is not None else self._result_types(op, form, given)
        made = [self._value(t) for t in types]
        text = f"{', '.join(v.name for v in made)} = " if made else ""
        text += f"{op['mnemonic']} {_syntax(op, form, given)}".rstrip()
        self._put(text + _types(op, form, given, made), "op")
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def _result_types(self, op: "Dict[str, Any]", form: "Dict[str, Any]", given: "Dict[str, Any]") -> "List[str]":
        rules = dict(c.replace("=", ":", 1).split(":", 1) for c in op["constraints"].split() if ":" in c or "=" in c)
        types = []
        for result in form["results"]:
            rule = rules.get(result["name"], "")
            source = given.get(rule)
            if result["arity"] == "optional" and result["name"] == "token":
                types.append("token")
            elif isinstance(source, Value):
                types.append(source.type)
            elif rule == "TOKEN":
                types.append("token")
            elif op["format"] == "BlockIds":
                types.append("tile<i32>")
            else:
                raise argument_error(f"{op['mnemonic']}: the type of `{result['name']}` does not follow from the operands",
                                     "give it as result='tile<…>', or all of them as results=[…]")
        return types


def _near(name: str) -> str:
    """The operations whose name is near or has this one in it."""
    known = list(table()["op_of"])
    parts = [part for part in name.split("_") if len(part) > 2] or [name]
    near = difflib.get_close_matches(name, known, 3, 0.7)
    found = dict.fromkeys([*near, *(k for k in known if name in k), *(k for k in known if any(p in k.split("_") for p in parts))])
    return f"did you mean {', '.join(list(found)[:6])}?" if found else "`tilevm ops` lists the operations, and docs/operations.md describes them"


def _symbol(name: object) -> str:
    """A name of a module or kernel in the text form."""
    import re

    if not isinstance(name, str) or not name:
        raise argument_error(f"{name!r} is no name", "pass text")
    return f"@{name}" if re.fullmatch(r"[A-Za-z_][\w$.]*", name, re.ASCII) else '@"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _need_values(what: str, *values: object) -> None:
    for value in values:
        if not isinstance(value, Value):
            raise argument_error(f"{what}: {value!r} is no value of this program", "pass what operations return, such as constants")


def _types_of(results: object) -> "Sequence[str]":
    if not isinstance(results, (list, tuple)) or not all(isinstance(r, str) for r in results):
        raise argument_error(f"results={results!r}", "pass a list of types, as in ['tile<f32>']")
    return results


def _values_of(attribute: "Dict[str, Any]") -> str:
    if attribute["kind"] != "enum":
        return str(attribute["kind"])
    return "|".join(v["keyword"] for v in table()["enums"] if v["enum"] == attribute["enum"])


def _text_of(value: "Any") -> str:
    if isinstance(value, Value):
        return value.name
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_text_of, value))
    return str(value)


def _attribute_text(attribute: "Dict[str, Any]", value: "Any") -> str:
    if attribute["kind"] == "string":
        return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if attribute["kind"] == "symbol":
        return "@" + str(value).lstrip("@")
    if attribute["kind"] == "flag":
        return str(attribute["name"])
    text = _text_of(value)
    return f"[{text}]" if attribute["kind"] in ("ints", "bools") else text


def _syntax(op: "Dict[str, Any]", form: "Dict[str, Any]", given: "Dict[str, Any]") -> str:
    """The operation's syntax column with what was given."""
    import re

    attributes = {a["name"]: a for a in form["attributes"]}
    optional = {f["name"] for f in form["operands"] if f["arity"] == "optional"}
    variadic = {f["name"] for f in form["operands"] if f["arity"] == "variadic"}

    def present(name: str) -> bool:
        value = given.get(name)
        return value is not None and not (name in attributes and attributes[name]["kind"] == "flag" and not value) and value != ()

    def fill(text: str) -> str:
        def one(match: "re.Match[str]") -> str:
            name = match[1]
            if not present(name):
                if name in variadic:
                    return ""
                if name in optional:
                    return "_"
                raise argument_error(f"{op['mnemonic']}: `{name}` is missing", Builder.help(op["mnemonic"]).split("\n")[0])
            return _attribute_text(attributes[name], given[name]) if name in attributes else _text_of(given[name])

        return re.sub(r"\$(\w+)", one, text)

    out, at = "", 0
    groups = list(re.finditer(r"\(([^()]*)\)\?", form["syntax"]))
    for i, group in enumerate(groups):
        out += fill(form["syntax"][at:group.start()])
        at = group.end()
        name = re.search(r"\$(\w+)", group[1])
        assert name is not None
        behind = [m for g in groups[i + 1:] if g[1].startswith(",") for m in re.findall(r"\$(\w+)", g[1])]
        if present(name[1]) or (group[1].startswith(",") and any(map(present, behind))):
            out += fill(group[1])
    return re.sub(r"\s+", " ", out + fill(form["syntax"][at:])).strip()


def _types(op: "Dict[str, Any]", form: "Dict[str, Any]", given: "Dict[str, Any]", made: "List[Value]") -> str:
    """Every type in full; those of tokens are not written."""
    operands: "List[str]" = []
    for field in form["operands"]:
        value = given.get(field["name"])
        values = [value] if isinstance(value, Value) else value if isinstance(value, (list, tuple)) else ()
        operands += [v.type for v in values if v.type != "token"]
    if not made:
        return f" : {', '.join(operands)}" if operands else ""
    results = ", ".join(v.type for v in made)
    return f" : {', '.join(operands)} -> {results}" if operands else f" : {results}"
