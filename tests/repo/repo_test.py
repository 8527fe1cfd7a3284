"""Checks rules that hold for every file of the repository. Run by ./test, outside of Bazel,
because it asks git which files there are."""

import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import build_deps
import codes
import generated
import headers
import linters
import page_names
import prose
import structure
import tidy

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {".cc", ".h", ".def", ".py", ".fbs", ".tile", ".bzl"}
MAX_LINES = 900

# Written so that they don't match themselves.
MACHINE = re.compile(r"(?<![\w.~-])/(?:work|ro[o]t)(?![\w.-])|\b[Ss]ession[s]? \d")
MESSAGES = 50  # The commits whose messages are read: the newest.
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b")


def tracked_files():
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, names):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            try:
                yield name, path.read_text(encoding="utf-8").splitlines()
            except UnicodeDecodeError:
                pass  # A binary file.


def no_long_source(files):
    for name, lines in files:
        if pathlib.Path(name).suffix in SOURCES and len(lines) > MAX_LINES:
            yield f"{name}: {len(lines)} lines, more than {MAX_LINES}: split it"


def matches(files, pattern, what):
    for name, lines in files:
        for number, line in enumerate(lines, 1):
            match = pattern.search(line)
            if match:
                yield f"{name}:{number}: {what}: {match.group()}"


def nothing_of_one_machine(files):
    """No file, name of a file or message speaks of what exists where it was written: a folder, a numbered sitting."""
    what = "exists on one machine only"
    yield from matches(files, MACHINE, what)
    yield from matches([(name, [name]) for name, _ in files], MACHINE, what)
    log = subprocess.run(["git", "log", f"-{MESSAGES}", "--format=%h%x00%B%x01"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    commits = [entry.strip("\n").split("\0") for entry in log.split("\1") if entry.strip()]
    yield from matches([(f"commit {commit}", message.splitlines()) for commit, message in commits], MACHINE, what)


def no_unfinished_marks(files):
    return matches(files, UNFINISHED, "do it, or write down why not")


# Debian's Abseil is built without ThreadSanitizer, which then can't see what its locks order and reports races that are none. That of
# g++ 12 does not see either how a timed mutex is locked.
UNSEEN_LOCK = re.compile(r"\babsl::(?:Mu[t]ex\w*|Cond[V]ar|Notific[a]tion|call_o[n]ce|BlockingC[o]unter)\b|\bstd::\w*timed_m[u]tex\b")


def locks_are_seen_by_sanitizers(files):
    return matches([f for f in files if pathlib.Path(f[0]).suffix in SOURCES], UNSEEN_LOCK, "use std::mutex and its like")


COVERAGE = "tests/source-coverage.md"
COVERED = re.compile(r"`((?:python/)?tests/[\w./-]+\.(tile|py|cu))(?::(\w+))?`")
DEFINES = {"tile": ("entry @{}(", "kernel"), "cu": ("__tile_global__ void {}(", "kernel"), "py": ("def {}(", "test")}
INCLUDED = re.compile(r'#include "([^"/]+)"')


def with_own_headers(name, texts):
    """The lines of a file, and of those beside it that it includes."""
    lines = texts[name]
    own = [str(pathlib.Path(name).with_name(m.group(1))) for line in lines if (m := INCLUDED.match(line))]
    return lines + [line for header in own for line in texts.get(header, [])]


def sources_are_covered(files):
    """Every rule of the source documents names tests that exist, or why there is none here."""
    texts = {name: lines for name, lines in files if name == COVERAGE or name.endswith((".tile", ".py", ".cu", ".h"))}
    rows = [(n, line) for n, line in enumerate(texts.get(COVERAGE, []), 1) if re.match(r"\| S\d-\d+ \|", line)]
    if not rows:
        yield f"{COVERAGE}: has no rows"
    for number, line in rows:
        tests = re.split(r"(?<!\\)\|", line)[-2].strip()
        for test in tests.split(", "):
            match = COVERED.fullmatch(test)
            if test == "gpu":
                continue
            if not match:
                yield f"{COVERAGE}:{number}: `{test}` names no test"
            elif match.group(1) not in texts:
                yield f"{COVERAGE}:{number}: there is no {match.group(1)}"
            elif match.group(3):
                head, what = DEFINES[match.group(2)]
                if not any(head.format(match.group(3)) in text for text in with_own_headers(match.group(1), texts)):
                    yield f"{COVERAGE}:{number}: {match.group(1)} has no {what} {match.group(3)}"


SEMANTICS = "docs/semantics/"
PAGES = {"semantics": SEMANTICS, "operations": "docs/operations.md"}
SECTION = r"\d+(?:\.\d+)*"
HEADING = re.compile(rf"#+ ({SECTION}) ")
CITED = re.compile(rf"\b(semantics|operations) ({SECTION}(?:(?:, | and | to ){SECTION})*)")
# Without the name of the page a number says nothing, and other documents are not in the repository.
NAMELESS = re.compile(rf"\b(?:operations\.md|[Ss]ection|[Ss]ections) {SECTION}\b")
CITING = SOURCES | {".md", ".bazel"}
# "(6.7)", "(2.5, 10.3)": within the semantics a section needs no name.
INNER = re.compile(rf"\(({SECTION}(?:, {SECTION})*)\)")


def sections_exist(files):
    """What comments and pages cite is a numbered section: `semantics 6.4` of docs/semantics, `operations 11.3` of docs/operations.md."""
    pages = {name: lines for name, lines in files if name.startswith(SEMANTICS)}
    numbered = {page: {m.group(1) for name, lines in files if name.startswith(path) for line in lines if (m := HEADING.match(line))}
                for page, path in PAGES.items()}
    for page, sections in numbered.items():
        if not sections:
            yield f"{PAGES[page]}: has no numbered sections"
    for name, lines in files:
        if pathlib.Path(name).suffix not in CITING or name.startswith("third_party/"):
            continue
        for number, line in enumerate(lines, 1):
            cited = CITED.findall(line)
            if name in pages:
                cited += [("semantics", m.group(1)) for m in INNER.finditer(line) if "." in m.group(1)]
            elif m := NAMELESS.search(line):
                yield f"{name}:{number}: `{m.group()}`: cite a section of {SEMANTICS} as `semantics 6.4`"
            for page, text in cited:
                for section in re.findall(SECTION, text):
                    if section not in numbered[page]:
                        yield f"{name}:{number}: there is no section {section} in {PAGES[page]}"


LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchor(heading):
    """As GitHub names it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links_lead_somewhere(files):
    """Links of pages to files and headings of the repository."""
    texts = dict(files)
    for name, lines in files:
        if not name.endswith(".md"):
            continue
        for number, line in enumerate(lines, 1):
            for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if "://" in target:
                    continue
                path, _, heading = target.partition("#")
                page = ROOT / pathlib.Path(name).parent / path if path else ROOT / name
                if not page.exists():
                    yield f"{name}:{number}: there is no {target}"
                elif heading and heading not in {
                    anchor(text.lstrip("#").strip())
                    for text in texts.get(str(page.resolve().relative_to(ROOT)), [])
                    if text.startswith("#")
                }:
                    yield f"{name}:{number}: {path or name} has no heading #{heading}"


COMMENT = re.compile(r"//(.*)$")
NAMED = re.compile(r"(?<![\w./-])((?:[\w-]+/)*[a-z][\w-]*\.(?:h|cc|def|py|sh|md|fbs))\b(?!\()")
# Of other projects, of users, and instructions of PTX.
NOT_HERE = {"dlpack.h", "k.py", "vector_add.h", "vector-add.h", "caller.cc", "add.cc", "sub.cc", "mad.cc"}


def comments_name_files_that_exist(files):
    """C++ comments name files by a part of their path, from the end: `staging.h`, `plan/staging/staging.h`."""
    ends = {"/".join(name.split("/")[i:]) for name, _ in files for i in range(name.count("/") + 1)}
    for name, lines in files:
        if pathlib.Path(name).suffix not in {".h", ".cc", ".def"}:
            continue
        for number, line in enumerate(lines, 1):
            comment = COMMENT.search(line)
            for named in NAMED.findall(comment.group(1)) if comment else []:
                if named not in ends and named.split("/")[-1] not in NOT_HERE:
                    yield f"{name}:{number}: there is no {named}"


def listings_stand_in_their_files(files):
    """A listing of the semantics under a link to a test or example shows lines of that file, in order; `…` skips some."""
    texts = dict(files)
    for name, lines in files:
        if not name.startswith(SEMANTICS):
            continue
        source, inside, place = None, False, 0
        for number, line in enumerate(lines, 1):
            if line.startswith("```"):
                inside, place = not inside, 0
                if not inside:
                    source = None
            elif not inside:
                linked = [t for t in LINK.findall(line) if t.endswith(".tile")]
                if linked and not line.startswith("|"):
                    source = str((ROOT / SEMANTICS / linked[-1]).resolve().relative_to(ROOT))
            elif source is not None and line.strip() not in ("", "…"):
                stripped = [text.strip() for text in texts.get(source, [])]
                if line.strip() in stripped[place:]:
                    place = stripped.index(line.strip(), place) + 1
                else:
                    yield f"{name}:{number}: {source} has no such line here"


LIMITS = "docs/semantics/limits.md"
LIMIT = re.compile(r"constexpr [\w:]+ (kMax\w+) = ([^;]+);")
LIMIT_FILES = {"ir/limits.h": None, "ir/interface.h": {"kMaxExprNodes"}, "ir/verify/verify_internal.h": {"kMaxAlignment"},
               "vm/vm.cc": {"kMaxGrid"}, "vm/machine/launch.h": {"kMaxReports"}, "runtime/cuda/cuda_kernel.cc": {"kMaxGrid"},
               "codegen/target/tuning.h": {"kMaxWarps"}}


def spellings(value):
    """As pages write a number: 4096, 65,535, 2^24, 2^31 - 1."""
    forms = {str(value), f"{value:,}"}
    for less, text in ((0, ""), (1, " - 1")):
        if (value + less) & (value + less - 1) == 0:
            forms.add(f"2^{(value + less).bit_length() - 1}{text}")
    return forms


def limits_are_stated(files):
    """The page of limits has the number of every limit that readers and engines keep."""
    texts = dict(files)
    page = "\n".join(texts.get(LIMITS, []))
    for name, wanted in LIMIT_FILES.items():
        found = dict(LIMIT.findall("\n".join(texts.get(name, []))))
        for missing in (wanted or set()) - found.keys():
            yield f"{name}: {missing} is not there any more: change LIMIT_FILES"
        if not found:
            yield f"{name}: has no limits"
        for limit, expression in found.items():
            if wanted is None or limit in wanted:
                value = eval(re.sub(r"int64_t\{(\d+)\}", r"\1", expression), {})  # numbers of our own source
                if not any(re.search(rf"(?<![\d^,]){re.escape(f)}(?![\d,]| - )", page) for f in spellings(value)):
                    yield f"{LIMITS}: {limit} of {name}, {value}, is not stated"


INPUTS_OF = re.compile(r'^    "(\w+)": \[', re.MULTILINE)


def benchmarks_know_every_example(files):
    """tests/bench/budgets.py runs all examples, so it needs inputs for each."""
    texts = dict(files)
    known = set(INPUTS_OF.findall("\n".join(texts.get("tests/bench/budgets.py", []))))
    for name in texts:
        path = pathlib.PurePath(name)
        if path.parent == pathlib.PurePath("examples") and path.suffix == ".tile" and path.stem not in known:
            yield f"{name}: tests/bench/budgets.py has no inputs for it"


def deps_are_what_is_included(files):
    return build_deps.deps_are_what_is_included(ROOT, files)


def shell_scripts_are_clean(files):
    return linters.shell_scripts_are_clean(ROOT, files)


def python_is_clean(files):
    return linters.python_is_clean(ROOT, files)


def package_runs_on_oldest_python(files):
    return linters.package_runs_on_oldest_python(ROOT, files)


def cpp_is_formatted(files):
    return linters.cpp_is_formatted(ROOT, files)


def words_are_spelled(files):
    return linters.words_are_spelled(ROOT, files)


def figures_are_drawn(_):
    """docs/figures/*.svg are what the scripts beside them draw."""
    for script in ("figures", "schedules"):
        spec = importlib.util.spec_from_file_location(script, ROOT / f"docs/figures/{script}.py")
        figures = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(figures)
        for name, contents in figures.drawn().items():
            path = ROOT / "docs/figures" / name
            if not path.exists() or path.read_text(encoding="utf-8") != contents:
                yield f"docs/figures/{name}: is not what docs/figures/{script}.py draws: python3 docs/figures/{script}.py"


def blocks_of_pages_are_run(_):
    """Every block of code of a page has a test, or says why not (tests/readme/pages.py)."""
    spec = importlib.util.spec_from_file_location("pages", ROOT / "tests/readme/pages.py")
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    yield from pages.problems()


SITE_TOOLS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tilevm-docs"

TOP = {
    ".bazelignore", ".bazelrc", ".ci", ".clang-format", ".clang-tidy", ".git-blame-ignore-revs", ".gitignore", "AGENTS.md", "ARCHITECTURE.md",
    "BUILD.bazel", "CHANGELOG.md", "CONTRIBUTING.md", "GLOSSARY.md", "LICENSE", "README.md", "SECURITY.md", "WORKSPACE", "action.yml", "codegen", "docs",
    "editors", "examples", "install", "ir", "python", "quickstart", "release", "ruff.toml", "runtime", "schemas", "test", "tests", "third_party", "tools", "vm",
}


def top_is_a_fixed_list(_):
    """Programs and tests write files where they are started: one of those is easily committed with the rest."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    top = {name.split("/")[0] for name in names if name}
    yield from (f"{name}: nothing of this name belongs at the top; if it does, add it to TOP in tests/repo/repo_test.py" for name in sorted(top - TOP))
    yield from (f"{name}: is not there any more: remove it from TOP in tests/repo/repo_test.py" for name in sorted(TOP - top))


def knowledge_stands_in_one_place(_):
    return structure.counts_that_rose(ROOT)


def codes_are_on_a_page(_):
    return codes.codes_without_page(ROOT)


RULES = [
    blocks_of_pages_are_run, codes_are_on_a_page, comments_name_files_that_exist,
    deps_are_what_is_included, figures_are_drawn, generated.generated_parts_are_true, headers.headers_are_sound, limits_are_stated,
    benchmarks_know_every_example, links_lead_somewhere,
        listings_stand_in_their_files,
    locks_are_seen_by_sanitizers,
    no_long_source, no_unfinished_marks, nothing_of_one_machine, page_names.pages_name_what_exists, page_names.walks_name_their_files,
    page_names.concepts_are_in_the_glossary,
    prose.prose_is_plain,
    knowledge_stands_in_one_place, cpp_is_formatted, package_runs_on_oldest_python,
    python_is_clean, sections_exist, shell_scripts_are_clean, sources_are_covered,
    top_is_a_fixed_list, words_are_spelled,
]


def run(name, rule):
    """(name, problems, why it was skipped)."""
    try:
        return name, rule(), None
    except linters.Missing as missing:
        return name, [], str(missing)


def site_builds(folder):
    """docs/site/build.sh: no warning of mkdocs, no link that leads nowhere, nothing loaded from another host."""
    if subprocess.run([ROOT / "docs/site/install.sh", SITE_TOOLS], capture_output=True, check=False).returncode:
        raise linters.Missing("the packages of docs/site/install.sh could not be installed")
    done = subprocess.run([ROOT / "docs/site/build.sh", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return [f"docs/site: {line}" for line in done.stdout.splitlines()] if done.returncode else []


def site_in_a_browser(folder):
    """docs/site/browser.py: figures, search, the reference, contrast and names in headless Chromium."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        raise linters.Missing("there is no headless browser (Debian packages chromium and chromium-driver)")
    html = pathlib.Path(folder) / "html"
    if not html.exists():
        raise linters.Missing("the site was not built")
    command = [f"{SITE_TOOLS}/venv/bin/python", ROOT / "docs/site/browser.py", html]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return [f"docs/site: {line}" for line in done.stdout.splitlines()] if done.returncode else []


def tidy_results():
    """A result for each C++ file of the change."""
    try:
        return [(f"clang_tidy: {name}", problems, skipped) for name, problems, skipped in tidy.check(ROOT)]
    except linters.Missing as missing:
        return [("clang_tidy", [], str(missing))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--xml", help="also write the results here, as JUnit does")
    parser.add_argument("--tidy", action="store_true", help="also look for mistakes in the C++ files of the change (tidy.py)")
    parser.add_argument("--site", action="store_true", help="also build the documentation site")
    args = parser.parse_args()

    files = list(tracked_files())
    results = [run(rule.__name__, lambda rule=rule: list(rule(files))) for rule in RULES]
    if args.site:
        with tempfile.TemporaryDirectory() as folder:
            results += [run(rule.__name__, lambda rule=rule: rule(folder)) for rule in (site_builds, site_in_a_browser)]
    if args.tidy:
        results += tidy_results()
    suite = ElementTree.Element("testsuite", name="Repo")
    for name, problems, skipped in results:
        case = ElementTree.SubElement(suite, "testcase", classname="Repo", name=name)
        if skipped:
            print(f"SKIPPED: {name}: {skipped}")
            ElementTree.SubElement(case, "skipped", message=skipped)
        elif problems:
            print("\n".join(problems))
            ElementTree.SubElement(case, "failure", message="\n".join(problems))
    if args.xml:
        ElementTree.ElementTree(suite).write(args.xml, encoding="unicode")
    return 1 if any(problems for _, problems, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
