#!/usr/bin/env python3
"""Counts that show whether knowledge stands in one place.

    python3 tests/repo/structure.py [ROOT]     # a table; ROOT: another tree, as `git archive` unpacks it

`repo_test.py` holds the first of them to the bounds in MOST. Tests do not count. Figures are found by patterns, which is exact enough to
compare two trees of this project.
"""
import pathlib
import re
import sys

LAYERS = ("ir", "vm", "codegen", "runtime", "tools")


def sources(root, layers=LAYERS):
    """(path below root, text) of C++ files that are no tests."""
    for layer in layers:
        for path in sorted((root / layer).rglob("*")):
            if path.suffix not in (".cc", ".h") or re.search(r"_test\.cc$|_testing|/testing/|fuzz", str(path)):
                continue
            yield path.relative_to(root), path.read_text(encoding="utf-8")


def code(text):
    """Without comments."""
    return re.sub(r"//[^\n]*", "", text)


def matches(root, pattern, layers=LAYERS):
    return [(path, m) for path, text in sources(root, layers) for m in re.finditer(pattern, code(text))]


def opcode_switches(root):
    """switch whose first case is an opcode."""
    return [p for p, _ in matches(root, r"switch \([^;{]*\) \{\s*case (ir::)?Opcode::")]


def lookups_by_name(root):
    return [p for p, _ in matches(root, r"(->|\.)(operand|attr|group|result|set_attr)\(\"")]


def function_lengths(root, layer):
    """(lines, path, first line) of functions, by clang-format's braces: a body ends with the brace in the column where it began."""
    for path, text in sources(root, (layer,)):
        lines = text.split("\n")
        for i, line in enumerate(lines):
            if not line.endswith(") {") and not re.search(r"\) (const|override|const override) \{$", line):
                continue
            indent = len(line) - len(line.lstrip())
            begin = i
            while indent > 2 and begin > 0 and lines[begin].startswith("    "):  # a parameter list of several lines
                begin -= 1
                indent = len(lines[begin]) - len(lines[begin].lstrip())
            if re.match(r"\s*(if|for|while|switch|else|\}|do|TEST)", lines[begin]) or indent > 2:
                continue
            end = next((k for k in range(i + 1, len(lines)) if lines[k].startswith(" " * indent + "}")), i)
            yield end - begin + 1, path, lines[begin].strip()


def callers(root, function):
    """Places outside of its own file that call a function."""
    stem = {"PlanWgmma": "wgmma_plan", "PlanWgmmaOfCopies": "wgmma_plan", "PlanMma": "mma_layout",
            "PlanTmaStore": "tma_store", "StageOperand": "staging"}[function]
    return [p for p, _ in matches(root, r"\b" + function + r"\(", ("codegen",)) if p.stem != stem]


def walks(root):
    """How many files the walks of CONTRIBUTING.md touch."""
    path = root / "CONTRIBUTING.md"
    if not path.exists():
        return {}
    parts = re.split(r"\n## ", path.read_text(encoding="utf-8"))
    return {p.split("\n")[0]: len(re.findall(r"^\| `", p, re.M)) for p in parts if "| file | what is added |" in p}


# What no change should make more of; where one brings a number down, it goes down here, too.
MOST = {"switches over opcodes": 2, "look-ups of operands and attributes by name": 19, "places that ask PlanWgmma": 2,
        "places that ask PlanWgmmaOfCopies": 3, "places that ask PlanMma": 1, "places that ask PlanTmaStore": 2,
        "places that ask StageOperand": 1}
MOST_LINES = 100  # of a function in codegen


def bounded_counts(root):
    """(what, its places)."""
    yield "switches over opcodes", opcode_switches(root)
    yield "look-ups of operands and attributes by name", lookups_by_name(root)
    for f in ("PlanWgmma", "PlanWgmmaOfCopies", "PlanMma", "PlanTmaStore", "StageOperand"):
        yield f"places that ask {f}", callers(root, f)


def counts_that_rose(root):
    """A line for each."""
    for what, places in bounded_counts(root):
        if len(places) > MOST[what]:
            files = ", ".join(sorted(set(map(str, places))))
            yield f"{what}: {len(places)}, more than {MOST[what]}: read what was decided, or ask a view of the operation ({files})"
    for lines, path, first in function_lengths(root, "codegen"):
        if lines > MOST_LINES:
            yield f"{path}: `{first}` has {lines} lines, more than {MOST_LINES}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    rows = [(what, f"{len(places)} in {len(set(places))} files") for what, places in bounded_counts(root)]
    longest = max(function_lengths(root, "codegen"), key=lambda f: f[0])
    rows.append(("lines of the longest function in codegen", f"{longest[0]} ({longest[1]})"))
    rows += [(f"files for: {walk[0].lower() + walk[1:]}", n) for walk, n in walks(root).items()]
    for what, count in rows:
        print(f"{what:52} {count}")


if __name__ == "__main__":
    main()
