"""What the pages for people who work on the code name exists: paths and identifiers in backticks, and in CONTRIBUTING.md
every file that a walk must touch. Used by repo_test.py."""

import fnmatch
import itertools
import pathlib
import posixpath
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "GLOSSARY.md",
    "SECURITY.md",
    "docs/gpu-compiler.md",
    "docs/gpu-faults.md",
    "docs/gpu-performance.md",
    "docs/notes/gpu-compiler.md",
    "docs/notes/gpu-performance.md",
    "docs/notes/unseen-projects.md",
}
QUOTED = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w.{},*<>/-]+")
# A name without a folder is a file of the repository if it ends like one of its sources.
SOURCE = re.compile(r"\.(?:h|cc|def|fbs|py|bzl|md|sh)$|(?:^|\W)BUILD\.bazel$")
IDENTIFIER = re.compile(r"[A-Z]\w*[a-z_]\w*|k[A-Z]\w+|TILE\w*_\w+|tile(?:vm|c)_[a-z_]+")
# `Compile`, `Program::Run`, `WriteTbc()`, `PrintText(b)`
NAMED = re.compile(rf"((?:{IDENTIFIER.pattern})(?:::\w+)*)(?:\([^)]*\))?")
CODE = {".h", ".cc", ".c", ".def", ".py", ".fbs", ".bzl", ".sh"}
WORD = re.compile(r"\w+")


def is_page(name):
    return name in PAGES or name.endswith("/README.md") and not name.startswith("examples/")


def code_spans(lines):
    """Backticked texts outside of listings, with their line."""
    listing = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            listing = not listing
        elif not listing:
            for span in QUOTED.findall(line):
                yield number, span


def spellings(path):
    """`a.{h,cc}` is two paths; `eval_<family>.cc` stands for any family."""
    parts = re.split(r"\{([^}]*)\}", re.sub(r"<[^>]*>", "*", path))
    choices = [part.split(",") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


class Tree:
    def __init__(self, files):
        self.names = [name for name, _ in files]
        self.folders = {str(p) for name in self.names for p in pathlib.PurePosixPath(name).parents}
        self.roots = {name.split("/")[0] for name in self.names if "/" in name}
        self.everything = self.names + sorted(self.folders)
        self.basenames = {name.rsplit("/", 1)[-1] for name in self.names}

    def has(self, path, page):
        """Relative to the page, else to the root; a bare file name may be anywhere."""
        here = str(pathlib.PurePosixPath(page).parent)
        for start in ("", here + "/"):
            wanted = posixpath.normpath(start + path)
            if (ROOT / wanted).exists() or any(fnmatch.fnmatchcase(name, wanted) for name in self.everything):
                return True
        return "/" not in path and any(fnmatch.fnmatchcase(name, path) for name in self.basenames)

    def is_path(self, span, page):
        if not PATH.fullmatch(span) or span.startswith(("-", "/")):
            return False
        here = str(pathlib.PurePosixPath(page).parent)
        first = re.split(r"[/{*<]", span)[0]
        inside = first in self.roots or f"{here}/{first}" in self.folders
        return SOURCE.search(spellings(span)[0]) is not None or ("/" in span and inside)


def pages_name_what_exists(files):
    """Paths and identifiers in backticks of the pages for people who work on the code."""
    tree = Tree(files)
    known = {w for name, lines in files if pathlib.Path(name).suffix in CODE for line in lines for w in WORD.findall(line)}
    for page, lines in files:
        if not is_page(page):
            continue
        for number, span in code_spans(lines):
            if tree.is_path(span, page):
                for path in spellings(span):
                    if not tree.has(path, page):
                        yield f"{page}:{number}: there is no {path}"
            elif match := NAMED.fullmatch(span):
                for word in match.group(1).split("::"):
                    if word not in known:
                        yield f"{page}:{number}: nothing is called {word}"


GUIDE = "CONTRIBUTING.md"
ROW = re.compile(r"\| `([^`]+)` \| (.*?) \|")
# Heading of a walk: what the thing that is walked is called, and where every file that names it belongs to the walk.
WALKS = {
    "An elementwise operation": (r"\b(?:Erf|ErfOf|EmitErf|erf)\b", ("ir/", "vm/", "codegen/")),
    "A memory operation": (r"StoreScatterView|store_scatter_view_tko", ("ir/", "vm/", "codegen/")),
    "An element type": (r"[fF]8E5M3FNU|F8E5M3FNU\b|f8e5m3", ("ir/", "vm/", "codegen/", "runtime/", "schemas/", "tools/", "python/tilevm/")),
    "A GPU": (r"\bsm_89\b|\b86, 89, 90\b", ("codegen/", "tools/", "README.md", "tests/tilec/")),
    "A tensor core instruction": (
        r"\b(?:MmaPlan|MmaPlanOf|PlanMma|MmaSync|MmaSyncKind|MultiplyBySync|MmaInstruction|TILE_MMA|kF8Mma|ParseMma|RunMma)\b|\"mma\.sync\"",
        ("codegen/", "tests/gpu_sim/"),
    ),
    "A pass": (r"resolve_hints|ResolveHints", ("codegen/",)),
}
# Written once at a release, generated, forms that are written for names of other systems, or the tests and samples of other things.
NOT_WALKED = re.compile(r"schemas/released/|ir/foreign_names\.def$|_test\.(?:cc|py)$|/testing/|MATH\.md$|python/tilevm/torch/")


def walks_name_their_files(files):
    """Every row of a walk in CONTRIBUTING.md names a file and what stands in it, and no file that a walk must touch is left out."""
    texts = {name: "\n".join(lines) for name, lines in files}
    sections = re.split(r"^## ", texts.get(GUIDE, ""), flags=re.M)
    walks = {section.split("\n", 1)[0]: section for section in sections}
    for heading, (named, folders) in WALKS.items():
        if heading not in walks:
            yield f"{GUIDE}: has no walk `{heading}`"
            continue
        rows = ROW.findall(walks[heading])
        for path, words in rows:
            for word in QUOTED.findall(words):
                if word not in texts.get(path, ""):
                    yield f"{GUIDE}: {heading}: {path} has no `{word}`"
        listed = {path for path, _ in rows}
        for name, text in texts.items():
            if name.startswith(folders) and not NOT_WALKED.search(name) and name not in listed and re.search(named, text):
                yield f"{GUIDE}: {heading}: {name} names it, too"


GLOSSARY = "GLOSSARY.md"
# Pages that introduce terms: where in a section the terms are.
CONCEPTS = {"ARCHITECTURE.md": re.compile(r"\*\*([^*]+)\*\*"), "docs/gpu-compiler.md": re.compile(r"^\| (?!concept)([a-z][^|]*) \|", re.M)}


def singular(term):
    return term.strip().lower().removesuffix("s")


def concepts_are_in_the_glossary(files):
    """The terms of a page's section `Concepts` are in GLOSSARY.md."""
    texts = {name: "\n".join(lines) for name, lines in files}
    rows = re.findall(r"^\| ([^|]+) \|", texts.get(GLOSSARY, ""), flags=re.M)
    known = {singular(term) for row in rows for term in re.sub(r"\([^)]*\)", "", row).split(",")}
    for page, terms in CONCEPTS.items():
        section = re.search(r"^## Concepts\n(.*?)^## ", texts.get(page, ""), flags=re.M | re.S)
        if section is None:
            yield f"{page}: has no section `Concepts`"
            continue
        for row in terms.findall(section[1]):
            yield from (f"{page}: {GLOSSARY} has no `{term.strip()}`" for term in row.split(",") if singular(term) not in known)
