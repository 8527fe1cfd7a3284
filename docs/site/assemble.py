#!/usr/bin/env python3
"""Copies the repository's pages to a folder as the site needs them:  assemble.py OUT

Pages keep their places, so that links between them stay as they are. A link to a file that is no page (`examples/softmax.tile`) leads to
a page that shows the file, one to a folder to its README or to a list of its files. The references of the C interface and of the Python
package are made from runtime/tilevm.h and from docs/site/api.
"""
import ast
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

import c_reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
CELL = re.compile(r"`[^`\n]*`")  # where GitHub wants `a\|b` in a table, Python's Markdown wants `a|b`
NAMED = re.compile(r"^```(\w+) (\S.*)$", re.M)  # ```tile scale.tile
LANGUAGES = {".py": "python", ".tile": "tile", ".c": "c", ".h": "c++", ".cc": "c++", ".hpp": "c++", ".cu": "c++", ".def": "c++", ".sh": "bash",
             ".txt": "text", ".S": "gas", ".mlir": "text"}
COPIED = {".svg", ".png", ".ipynb"}  # copied as they are; a notebook is for the reader's Jupyter
DATA = {".npy"}  # listed without a page
REFERENCES = {"runtime/tilevm.h": "api/c.md"}  # files that a page of the site explains better
# The front page is wide; notes have every word, and come last in a search.
FRONT_MATTER = {"README.md": "hide: [navigation]", "docs/notes/": "search:\n  boost: 0.1"}
# In the text of an item or paragraph, Python's Markdown wants an empty line before a list.
LIST = re.compile(r"^([^\n|#>*\-\d\s][^\n]*)\n(?=(?:\* |- |\d+\. ))", re.M)


def tracked():
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    return sorted(name for name in names.stdout.split("\0") if name and (ROOT / name).is_file())


class Site:
    def __init__(self, out):
        self.out = out
        self.files = tracked()
        self.known = set(self.files)
        self.folders = {str(p) for name in self.files for p in pathlib.PurePosixPath(name).parents} - {"."}
        self.shown = set()  # files and folders that got a page because something links to them

    def write(self, name, text):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def target(self, source, page, link):
        """Where a link of a file leads from the page that shows it."""
        path, mark, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:") or not path:
            return link
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if wanted in REFERENCES:
            wanted = REFERENCES[wanted]
        elif wanted in self.folders:
            wanted += "/README.md" if wanted + "/README.md" in self.known else "/index.md"
            if wanted.endswith("index.md"):
                self.folder(wanted)
        elif wanted in self.known and not wanted.endswith(".md") and pathlib.PurePosixPath(wanted).suffix not in COPIED:
            self.file(wanted)
            wanted += ".md"
        return posixpath.relpath(wanted, posixpath.dirname(page) or ".") + mark + anchor

    def page(self, name, text, source=None):
        def outside(part):
            part = CELL.sub(lambda m: m[0].replace("\\|", "|"), LIST.sub(r"\1\n\n", part))
            return LINK.sub(lambda m: f"{m[1]}({self.target(source or name, name, m[2])})", part)

        parts, place = [], 0
        for fence in FENCE.finditer(text):
            code = NAMED.sub(r'```\1 title="\2"', fence[0])
            parts += [outside(text[place:fence.start()]), code.replace("```\n", "```tile\n", 1) if name == "docs/operations.md" else code]
            place = fence.end()
        self.write(name, "".join(parts) + outside(text[place:]))

    def file(self, name):
        """A page that shows a file."""
        if name in self.shown:
            return
        self.shown.add(name)
        text = (ROOT / name).read_text(encoding="utf-8")
        language = LANGUAGES.get(pathlib.PurePosixPath(name).suffix) or ("python" if text.startswith("#!/usr/bin/env python") else "text")
        self.write(name + ".md", f"---\nsearch:\n  exclude: true\n---\n# {name}\n\n````{language}\n{text}\n````\n")

    def folder(self, page):
        """A page that lists a folder."""
        if page in self.shown:
            return
        self.shown.add(page)
        folder = posixpath.dirname(page)
        names = [name for name in self.files if posixpath.dirname(name) == folder]
        rows = []
        for name in names:
            base, suffix = posixpath.basename(name), pathlib.PurePosixPath(name).suffix
            if suffix in DATA:
                rows.append(f"* {base}")
                continue
            shown = suffix == ".md" or suffix in COPIED
            if not shown:
                self.file(name)
            rows.append(f"* [{base}]({base + ('' if shown else '.md')})")
        self.write(page, f"---\nsearch:\n  exclude: true\n---\n# {folder}\n\n" + "\n".join(rows) + "\n")

    def assemble(self):
        for name in self.files:
            if name.endswith(".md") and not name.startswith("docs/site/"):
                text = (ROOT / name).read_text(encoding="utf-8")
                self.page(name, "".join(f"---\n{words}\n---\n" for page, words in FRONT_MATTER.items() if name.startswith(page)) + text)
            elif pathlib.PurePosixPath(name).suffix in COPIED and name.startswith(("docs/", "examples/")):
                (self.out / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.out / name)
        for source in sorted((ROOT / "docs/site/api").glob("*.md")):
            self.page(f"api/{source.name}", source.read_text(encoding="utf-8"), f"docs/site/api/{source.name}")
        self.file("runtime/tilevm.h")
        self.file("runtime/tilevm.hpp")
        self.write("api/c.md", c_reference.page((ROOT / "runtime/tilevm.h").read_text(encoding="utf-8")))
        self.write("theme/site.css", (ROOT / "docs/site/theme/site.css").read_text(encoding="utf-8"))


def undocumented():
    """Names that `tilevm` offers and docs/site/api/python.md leaves out."""
    tree = ast.parse((ROOT / "python/tilevm/__init__.py").read_text(encoding="utf-8"))
    offered = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    shown = set(re.findall(r"^::: tilevm\.(\w+)$", (ROOT / "docs/site/api/python.md").read_text(encoding="utf-8"), re.M))
    return sorted(set(offered) - shown - {"__version__", "get_include"})  # get_include is get_include_dir


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: assemble.py OUT")
    if missing := undocumented():
        sys.exit(f"docs/site/api/python.md: lacks {', '.join(missing)} of tilevm.__all__")
    Site(pathlib.Path(sys.argv[1])).assemble()


if __name__ == "__main__":
    main()
