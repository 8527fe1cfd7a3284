#!/usr/bin/env python3
"""Parts of pages that follow from tables in the code.

    python3 tests/repo/generated.py        # writes them again; repo_test.py says where that is due

A part stands between `<!-- generated NAME -->` and `<!-- end -->`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

MATH_ROW = re.compile(r"TILE_MATH[12](?:_FTZ)?\((\w+), \w+, \w+, \w+, ([\d.e]+), ([\d.e]+), [\d.e]+\)")
MATH_REMARK = re.compile(r"/// ([\d.]+), ([\d.]+)(?:: (.*))?")


class Malformed(Exception):
    pass


def math_table(text):
    """The rows of vm/kernels/elementwise.def, each with its remark in the line above."""
    yield "| Function | f32 bound | f32 worst seen | f64 bound | f64 worst seen | Special values |"
    yield "|---|---|---|---|---|---|"
    lines = text.splitlines()
    for before, line in zip(lines, lines[1:]):
        row = MATH_ROW.fullmatch(line)
        if not row:
            continue
        remark = MATH_REMARK.fullmatch(before)
        if not remark:
            raise Malformed(f"{row[1]} has no `/// worst error in f32, in f64: special values` above it")
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", row[1]).lower()
        yield f"| {name} | {row[2]} | {remark[1]} | {row[3]} | {remark[2]} | {remark[3] or ''} |"


PASS_ROW = re.compile(r'TILE_PASS\((\w+), (\w+), \w+, "([^"]+)", "[^"]+"\)')
TOOL_ROW = re.compile(r'TILE_TOOL\("([^"]+)", "[^"]+"\)')
LEVELS = {"Tile": "tile code", "Gpu": "GPU level", "Llvm": "LLVM IR", "Ptx": "PTX"}


def pass_picture(text):
    """The passes of codegen/passes.def in order, a line for each level."""
    of_level = {}
    for line in text.splitlines():
        if row := PASS_ROW.fullmatch(line):
            if row[2] not in LEVELS:
                raise Malformed(f"{row[1]} has the unknown level {row[2]}")
            of_level.setdefault(row[2], []).append(row[3])
        elif row := TOOL_ROW.fullmatch(line):
            of_level.setdefault("Ptx", []).append(row[1])
    yield "```"
    for level, name in LEVELS.items():
        yield f"{name:12}" + " → ".join(of_level.get(level, []))
    yield "```"


# Page, name of the part, the table that it follows from, and how.
PARTS = [("vm/kernels/MATH.md", "bounds", "vm/kernels/elementwise.def", math_table),
         ("codegen/README.md", "passes", "codegen/passes.def", pass_picture)]


def written(page, name, source, make, texts):
    """The page as it must be."""
    part = re.compile(rf"(<!-- generated {name} -->\n).*?(<!-- end -->)", re.S)
    try:
        lines = "".join(line.rstrip() + "\n" for line in make(texts(source)))
    except Malformed as wrong:
        raise Malformed(f"{source}: {wrong}") from None
    text, count = part.subn(lambda m: m[1] + lines + m[2], texts(page))
    if count != 1:
        raise Malformed(f"{page}: has no part `{name}`")
    return text


def generated_parts_are_true(files):
    """What `generated.py` would write stands there already."""
    texts = {name: "\n".join(lines) + "\n" for name, lines in files}
    for page, name, source, make in PARTS:
        try:
            if written(page, name, source, make, texts.__getitem__) != texts[page]:
                yield f"{page}: part `{name}` does not follow from {source}: python3 tests/repo/generated.py"
        except Malformed as wrong:
            yield str(wrong)


def main():
    for page, name, source, make in PARTS:
        try:
            text = written(page, name, source, make, lambda path: (ROOT / path).read_text(encoding="utf-8"))
        except Malformed as wrong:
            sys.exit(str(wrong))
        (ROOT / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
