"""Circles in python/: files that need each other, directly or through others.

C: a unit is X.c with X.h. It needs the units whose headers it includes, and those whose functions it names. Python: a module needs what it
imports when it is loaded; imports in functions and under TYPE_CHECKING run later or never. Of a package, `from . import name` needs the
module of that name where there is one, and otherwise the package's own file.

    python3 tests/repo/circles.py [ROOT]     # each circle with its arrows
"""
import ast
import pathlib
import re
import sys

C_FOLDERS = ("python/ext", "python/jax_ffi")
PACKAGE = "python/tilevm"


def circles(arrows):
    """Strongly connected sets of more than one node, of {node: set of nodes}; by Tarjan."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in sorted(arrows.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] != index[node]:
            return
        circle = set()
        while node not in circle:
            circle.add(stack.pop())
        on_stack.difference_update(circle)
        if len(circle) > 1:
            found.append(sorted(circle))

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return sorted(found)


def code(text):
    """Of C, without comments and texts."""
    return re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', " ", text, flags=re.S)


def c_functions(text):
    """Names of functions and objects that other files can see, and that this file defines."""
    text = code(text)
    yield from re.findall(r"^(?!static|typedef|extern)\w[\w *]*?\b(\w+)\([^;{}]*\)\s*\{", text, re.M)
    for objects in re.findall(r"^(?!static|typedef|extern)\w[\w ]*?[ *]+(\*?\w+(?:,\s+\*?\w+)*);", text, re.M):
        yield from re.findall(r"\w+", objects)


def c_arrows(root, folder):
    """{unit: {unit: names}} of a folder of C files."""
    files = [p for p in sorted((root / folder).rglob("*")) if p.suffix in (".c", ".h")]
    texts = {p: p.read_text(encoding="utf-8") for p in files}
    unit = {p: str(p.relative_to(root).with_suffix("")) for p in files}
    defined = {name: unit[p] for p, text in texts.items() if p.suffix == ".c" for name in c_functions(text)}
    arrows = {u: {} for u in unit.values()}
    for path, text in texts.items():
        for header in re.findall(r'^#include "([^"]+)"', text, re.M):
            for found in (path.parent / header, root / header):
                if found in unit:
                    arrows[unit[path]].setdefault(unit[found], set()).add(header)
        if path.suffix == ".c":
            own = set(c_functions(text)) | set(re.findall(r"^static [^;={]*?\b(\w+)\(", code(text), re.M))
            for name in set(re.findall(r"(?<![.>])\b\w+\b", code(text))) - own:
                if name in defined:
                    arrows[unit[path]].setdefault(defined[name], set()).add(name)
    return {u: {v: names for v, names in to.items() if v != u} for u, to in arrows.items()}


def between_folders(arrows):
    """Of arrows between files."""
    folders = {str(pathlib.PurePath(a).parent): {} for a in arrows}
    for a, to in arrows.items():
        for b in to:
            one, other = str(pathlib.PurePath(a).parent), str(pathlib.PurePath(b).parent)
            if one != other:
                folders[one].setdefault(other, set()).add(f"{pathlib.PurePath(a).name} takes {pathlib.PurePath(b).name}")
    return folders


def loaded(body):
    """Import statements that run when a module is loaded."""
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from loaded(statement.orelse)
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for field in ("body", "orelse", "finalbody"):
                yield from loaded(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from loaded(handler.body)


def imported(statement, name, is_package, modules):
    """(module, names) of ours that an import of the module `name` takes from."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name in modules:
                yield alias.name, {"*"}
        return
    parts = name.split(".")
    base = parts[:len(parts) - statement.level + is_package] if statement.level else []
    origin = ".".join(base + ([statement.module] if statement.module else []))
    for alias in statement.names:
        module = f"{origin}.{alias.name}"
        if module in modules:
            yield module, {"*"}
        elif origin in modules:
            yield origin, {alias.name}


def python_arrows(root):
    """{module: {module: names}} of the package."""
    base = (root / PACKAGE).parent
    files = {}
    for path in sorted((root / PACKAGE).rglob("*.py*")):
        if path.suffix not in (".py", ".pyi"):  # a .pyi stands for the extension
            continue
        parts = path.relative_to(base).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    arrows = {name: {} for name in files}
    for name, path in files.items():
        for statement in loaded(ast.parse(path.read_text(encoding="utf-8")).body):
            for module, names in imported(statement, name, path.stem == "__init__", files):
                if module != name:
                    arrows[name].setdefault(module, set()).update(names)
    return arrows


def all_circles(root):
    """(circle, its arrows), of files and of the folders of the extension."""
    c = [c_arrows(root, folder) for folder in C_FOLDERS]
    for arrows in c + [between_folders(arrows) for arrows in c] + [python_arrows(root)]:
        for circle in circles(arrows):
            yield circle, [(a, b, sorted(arrows[a][b])) for a in circle for b in circle if b in arrows[a]]


def main():
    for circle, arrows in all_circles(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")):
        print(f"{len(circle)} files: {', '.join(circle)}")
        for a, b, names in arrows:
            print(f"  {a} -> {b}: {', '.join(names)}")


if __name__ == "__main__":
    main()
