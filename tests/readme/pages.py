#!/usr/bin/env python3
"""The blocks of code of the pages, and who runs each.

    python3 tests/readme/pages.py        # lists how many each test runs, and those that no test runs, with their reasons

A block of commands has the language `console`: `$ command`, and below it what the command prints; the line `…` stands for any lines. What
is no code, as a grammar or a diagram, has the language `text`. A block that a test cannot run says so in the line above it:

    <!-- not run: needs a GPU -->
    <!-- run by: examples/app/app_test.sh -->          # another test does what it shows

tests/repo/repo_test.py fails where a block has neither a test nor a reason.
"""
import pathlib
import re
import sys
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(?:<!-- (not run|run by): (.+) -->\n)?```(\w*)([^\n]*)\n((?:(?!```).*\n)*)```$", re.M)
TUTORIAL = "docs/tutorial.md"
READMES = ("README.md", "docs/cli.md", "docs/checks.md", "docs/gallery.md", "examples/tile_cpp/README.md")  # whose commands tests/readme runs
NEED_NVCC = ("examples/tile_cpp/README.md",)
PYTHON = ("README.md", "docs/cutile.md", "docs/python.md", "docs/triton.md")  # whose listings python/tests/test_doc_pages.py runs
FRAGMENTS = "<!-- reference -->"  # in docs/script.md: examples of docstrings, which are taken to be Python and not run
BY_RULE = "docs/semantics/"  # tests/repo compares its listings with the files that tests run
INDIVIDUALLY = ("docs/script.md", "docs/tutorial-python.md")  # other files of python/tests


class Block(typing.NamedTuple):
    page: str
    line: int
    language: str
    words: str
    text: str
    marked: str  # "not run" or "run by"
    reason: str
    reference: bool  # made from docstrings


def blocks(page, text):
    """The blocks of a page."""
    reference = text.find(FRAGMENTS) if FRAGMENTS in text else len(text)
    for found in BLOCK.finditer(text):
        line = text[:found.start(3)].count("\n") + 1
        yield Block(page, line, found[3], found[4].strip(), found[5], found[1] or "", found[2] or "", found.start() > reference)


def commands(text):
    """(command, what is shown below it) of a block of commands."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        line, _, shown = part.partition("\n")
        while line.endswith("\\") or line.count('"') % 2:
            more, _, shown = shown.partition("\n")
            line = line.removesuffix("\\") + more
        yield re.sub(r"\s+#.*", "", line), shown.strip("\n")


def is_as_shown(printed, shown):
    """Whether what was printed is what is shown, where a line `…` stands for any lines."""
    pattern = "".join("(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in shown.split("\n"))
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


def runner(block):
    """The test that runs a block; None if it has none."""
    if block.marked:
        return block.marked + ": " + block.reason
    if block.language in ("text", "c", "cmake", "diff") and block.page != TUTORIAL:
        return "no code: " + block.language
    if block.page == TUTORIAL:
        return "tests/tutorial"
    if block.page == "docs/operations.md":
        return "ir: the examples of operations"
    if block.language == "tile" and block.page.startswith(BY_RULE):
        return "tests/repo: listings_stand_in_their_files"
    if block.language in ("tile", "mlir"):
        return "tests/readme"
    if block.language == "console" and block.page in READMES + PYTHON:
        by_python = all(command.startswith("python ") for command, _ in commands(block.text))
        return "python/tests/test_doc_pages.py" if block.page in PYTHON and (by_python or block.page not in READMES) else "tests/readme"
    if block.reference:
        return "tests/repo: examples of docstrings are Python"
    if block.language == "python":
        return "python/tests" if block.page in PYTHON + INDIVIDUALLY else None
    return None


def pages():
    """The pages for users, with their texts."""
    names = ["README.md", *(str(p.relative_to(ROOT)) for folder in ("docs", "examples") for p in sorted((ROOT / folder).rglob("*.md")))]
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in names if not name.startswith("docs/site/")}


def problems():
    """Blocks that nobody runs, tests that do not exist, docstrings' examples that are no Python."""
    for page, text in pages().items():
        for block in blocks(page, text):
            where = f"{block.page}:{block.line}"
            if runner(block) is None:
                yield f"{where}: no test runs this block, and no line above it says why (tests/readme/pages.py)"
            if block.language == "console" and not block.marked and len({c.startswith("python ") for c, _ in commands(block.text)}) > 1 and page in READMES:
                yield f"{where}: programs in Python and commands are two blocks: they have different tests"
            if block.marked == "run by" and not (ROOT / block.reason).exists():
                yield f"{where}: there is no {block.reason}"
            if block.reference:
                try:
                    compile(block.text, where, "exec")
                except SyntaxError as error:
                    yield f"{where}: the example is no Python: {error.msg}"


def main():
    found = {}
    for page, text in pages().items():
        for block in blocks(page, text):
            found.setdefault(runner(block) or "nobody", []).append(block)
    for name, listed in sorted(found.items(), key=lambda item: item[0].startswith(("not run", "nobody"))):
        print(f"{len(listed):4}  {name}" + ("" if not name.startswith(("not run", "nobody")) else
                                            "  (" + ", ".join(f"{b.page}:{b.line}" for b in listed) + ")"))
    wrong = list(problems())
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
