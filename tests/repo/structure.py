#!/usr/bin/env python3
"""Counts that show whether knowledge stands in one place.

    python3 tests/repo/structure.py [ROOT]     # a table; ROOT: another tree, as `git archive` unpacks it

`repo_test.py` holds the first of them to the bounds in MOST and CODEGEN_COUNTS. Tests do not count. Figures are found by patterns, which is exact enough to
compare two trees of this project.
"""
import pathlib
import re
import sys

import circles

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
    stem = {"PlanFetched": "staged_mma", "PlanCopied": "staged_mma", "PlanMma": "mma_layout",
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
MOST = {"switches over opcodes": 2, "look-ups of operands and attributes by name": 19, "places that ask PlanFetched": 1,
        "places that ask PlanCopied": 2, "places that ask PlanMma": 0, "places that ask PlanTmaStore": 2,
        "places that ask StageOperand": 1}
MOST_LINES = 100  # of a function in codegen


def bounded_counts(root):
    """(what, its places)."""
    yield "switches over opcodes", opcode_switches(root)
    yield "look-ups of operands and attributes by name", lookups_by_name(root)
    for f in ("PlanFetched", "PlanCopied", "PlanMma", "PlanTmaStore", "StageOperand"):
        yield f"places that ask {f}", callers(root, f)


def rows_of(root, table, macro):
    """The arguments of a table's rows."""
    text = (root / "codegen" / table).read_text(encoding="utf-8")
    return [[a.strip() for a in row.split(",")] for row in re.findall(r"^" + macro + r"\((.*)\)", text, re.M)]


def steps_that_are_no_rows(root):
    """Names that passes, the emitter and others give to Trace::TakesStep, and that codegen/passes.def does not have."""
    names = {row[3].strip('"') for row in rows_of(root, "passes.def", "TILE_PASS")}
    asked = matches(root, r'(?:TakesStep\(|TakesFetch\(|StepTexts \w+ = \{)[^;"]*"([a-z0-9-]+)"', ("codegen",))
    return {m[1] for _, m in asked} - names


def remarks_of_no_row(root):
    """Categories of remarks of passes that are no passes. What emitting finds out has categories of its own."""
    names = {row[3].strip('"') for row in rows_of(root, "passes.def", "TILE_PASS")}
    about = matches(root, r'remark\[([a-z0-9-]+)\]', ("codegen/passes",)) + matches(root, r'[.>]Remark\("([a-z0-9-]+)"', ("codegen/passes",))
    return {m[1] for _, m in about} - names


def cost_models(root):
    """Files with functions that say how long something takes, and that with the table of fractions by which schedules are chosen."""
    cycles = matches(root, r"(?m)^(?:double|int64_t|float|Busy) (?:\w+::)?(?:CyclesOf\w*|BusyWith|Overlap)\((?=[^;]*\{)", ("codegen",))
    return {path for path, _ in cycles + matches(root, r"struct Beside\b", ("codegen/target",))}


# What acts in kernels like attention only. Lines of these files, wherever they are.
ATTENTION = ("coarsen_by_rows", "copy_products", "cross_iteration_mma", "defer_products", "elide_masks", "fold_accumulators", "integer_max",
             "keep_lhs_in_registers", "lazy_rescale", "lhs_in_registers", "merge_peeled_loops", "order_steps", "overlap_products",
             "overlapped_products", "promote_f8_operands", "conversion_buffers", "scale_beside", "step_products", "take_turns")


def codegen_counts(root):
    """(what, how many) of what the GPU level is to change (CODEGEN_COUNTS)."""
    texts = {path: text for path, text in sources(root, ("codegen",))}
    yield "operations of gpu/ops.def", len(rows_of(root, "gpu/ops.def", "TILE_GPU_OP"))
    yield "annotations of decisions.def", len(rows_of(root, "target/decisions.def", "TILE_DECISION"))
    yield "files that name wgmma", sum("wgmma" in text.lower() for text in texts.values())
    yield "optional steps that are no rows of passes.def", len(steps_that_are_no_rows(root))
    yield "remarks of passes under other names", len(remarks_of_no_row(root))
    yield "passes over LLVM IR that reorder it", sum(row[1] == "Llvm" and row[2] == "Whole" for row in rows_of(root, "passes.def", "TILE_PASS")) - 1
    yield "empty inline assembly", len(matches(root, r'(?:(?:\.|->)Ptx|Through)\([^;",]*, "",', ("codegen",)))
    yield "files that reserve shared memory", len({p for p, _ in matches(root, r"(?:shared\(\)|account_)\.(?:Reserve|Scratch|Keep|Once)\w*\(", ("codegen",))})
    yield "cost models", len(cost_models(root))
    yield "lines of files for attention only", sum(text.count("\n") for path, text in texts.items() if path.stem in ATTENTION)


# What the GPU level is to change: today's number, which no change makes worse, and the target. Where a change comes nearer to the target, its
# number goes here.
CODEGEN_COUNTS = {
    "operations of gpu/ops.def": (60, 30),
    "annotations of decisions.def": (63, 30),
    "files that name wgmma": (12, 12),
    "optional steps that are no rows of passes.def": (1, 0),
    "remarks of passes under other names": (0, 0),
    "passes over LLVM IR that reorder it": (4, 0),
    "empty inline assembly": (2, 0),
    "files that reserve shared memory": (1, 1),
    "cost models": (2, 1),
    "lines of files for attention only": (3288, 2000),
}


def codegen_counts_that_got_worse(root):
    for what, count in codegen_counts(root):
        today, target = CODEGEN_COUNTS[what]
        if count < today < target or count > today >= target:
            yield f"{what}: {count}, farther from the target of {target} than {today}"


def circles_in_python(root):
    """None is allowed: a line for each."""
    for circle, arrows in circles.all_circles(root):
        a, b, names = arrows[0]
        yield f"a circle in python/, {', '.join(circle)}: {a} needs {', '.join(names)} of {b} (tests/repo/circles.py lists all)"


def counts_that_rose(root):
    """A line for each."""
    yield from circles_in_python(root)
    yield from codegen_counts_that_got_worse(root)
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
    rows.append(("circles in python/", len(list(circles.all_circles(root)))))
    rows += [(what, f"{count}, target {CODEGEN_COUNTS[what][1]}") for what, count in codegen_counts(root)]
    rows += [(f"files for: {walk[0].lower() + walk[1:]}", n) for walk, n in walks(root).items()]
    for what, count in rows:
        print(f"{what:52} {count}")


if __name__ == "__main__":
    main()
