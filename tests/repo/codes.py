"""The codes of errors and warnings that the Python package raises: each is on a page.

    python3 tests/repo/codes.py            # every code, and the page that has it

A code is found in the text of a message, `error[triton.type]`, and where it is a string of its own: in C beside the status, in Python as an argument
of the functions that make errors, or if no module of Python has such a name. A code whose first half is a variable stands for those of FRONTENDS.
"""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRONTENDS = ("triton", "cutile")
INSTALLED = (*FRONTENDS, "tilus")
PAGES = {"vm": "docs/checks.md", "script": "docs/script.md", "judge": "docs/judging-kernels.md"}
PAGE = "docs/codes.md"  # for all others

CODE = r"[a-z_]+\.[a-z_0-9]+"
IN_TEXT = re.compile(rf"\b(?:error|warning)\[({CODE})\]: ")
OF_FRONTEND = re.compile(r"\berror\[\{\w+\}\.([a-z_]+)\]: ")
OWN = re.compile(r"(?:script|judge|python)\.(?!json$|py$)[a-z_0-9]+")
MAKERS = {"_written", "warn_caller", "KernelWarning"}
IN_C = re.compile(rf'raise_error\(\s*[\w>.-]+,\s*"({CODE})"')


def of_python(text):
    """(line, code) of a module."""
    for number, line in enumerate(text.splitlines(), 1):
        yield from ((number, code) for code in IN_TEXT.findall(line))
        yield from ((number, f"{frontend}.{code}") for code in OF_FRONTEND.findall(line) for frontend in INSTALLED)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and OWN.fullmatch(str(node.value)):
            yield node.lineno, node.value
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS:
            for argument in node.args:
                yield from ((node.lineno, code) for code in of_argument(argument))


def of_argument(argument):
    if isinstance(argument, ast.Constant) and re.fullmatch(CODE, str(argument.value)):
        yield argument.value
    if isinstance(argument, ast.JoinedStr) and re.fullmatch(r"f'\{\w+\}(\.[a-z_]+)'", ast.unparse(argument)):
        yield from (frontend + argument.values[1].value for frontend in FRONTENDS)


def of_c(text):
    """(line, code) of a file in C."""
    for pattern in (IN_TEXT, IN_C):
        for found in pattern.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, found[1]


def raised(root=ROOT):
    """{code: "file:line"} of the package and its extension."""
    places = {}
    for folder, endings, reader in (("python/tilevm", (".py",), of_python), ("python/ext", (".c", ".h"), of_c), ("python/jax_ffi", (".c", ".h"), of_c)):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in endings:
                for line, code in reader(path.read_text(encoding="utf-8")):
                    places.setdefault(code, f"{path.relative_to(root)}:{line}")
    return places


def page_of(code):
    return PAGES.get(code.partition(".")[0], PAGE)


def named(text):
    """The codes of a page."""
    return set(re.findall(rf"`({CODE})`", text))


def codes_without_page(root=ROOT):
    known = {}
    for code, place in sorted(raised(root).items()):
        page = page_of(code)
        if page not in known:
            known[page] = named((root / page).read_text(encoding="utf-8"))
        if code not in known[page]:
            yield f"{place}: {page} does not name the code {code}"


def main():
    for code, place in sorted(raised().items()):
        print(f"{code:24} {page_of(code):26} {place}")
    wrong = list(codes_without_page())
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
