"""The tutorial does what it says: its listings are the files, its commands print what stands below them.

    tutorial_test.py PAGE KERNELS TILEVM [TILEC]      without TILEC, listings with commands of it are skipped
    python3 tests/tutorial/tutorial_test.py docs/tutorial.md examples/tutorial bazel-bin/tools/tilevm/tilevm bazel-bin/tools/tilec/tilec --update

The page has three kinds of listings:

    ```tile scale.tile              the file
    ```diff old.tile new.tile       lines that differ, without comments
    ```console                      `$ command`, and below it all that it prints, one after the other in one folder

--update writes them anew; read what changed.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

LISTING = re.compile(r"^```(tile|diff|console)(.*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)


def without_comments(path):
    with open(path, encoding="utf-8") as f:
        return [line for line in f.read().splitlines() if not line.startswith("//")]


def difference(old, new):
    lines = []
    for line in difflib.unified_diff(without_comments(old), without_comments(new), n=0, lineterm=""):
        if line.startswith(("---", "+++")):
            continue
        if line.startswith("@@"):
            lines += ["  …"] if lines else []
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def run_all(text, folder):
    """The listing with what its commands print here."""
    result = ""
    for line in text.splitlines():
        if line.startswith("$ "):
            done = subprocess.run(line[2:], shell=True, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, universal_newlines=True, timeout=300)
            # How many orders fit into the time depends on the machine.
            said = re.sub(r"checked in [3-8] orders", "checked in 8 orders", done.stdout)
            result += line + "\n" + said + ("" if said.endswith("\n") or not said else "\n")
    return result


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    page, kernels, tilevm = arguments[:3]
    tilec = arguments[3] if len(arguments) > 3 else None
    with open(page, encoding="utf-8") as f:
        text = f.read()
    wrong, counts = [], {"tile": 0, "diff": 0, "console": 0}

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(kernels, os.path.join(folder, "examples", "tutorial"))
        os.makedirs(os.path.join(folder, "bazel-bin", "tools", "tilec"))
        os.symlink(os.path.abspath(tilevm), os.path.join(folder, "tilevm"))
        if tilec:
            os.symlink(os.path.abspath(tilec), os.path.join(folder, "bazel-bin", "tools", "tilec", "tilec"))

        def actual(match):
            kind, names, written = match[1], match[2].split(), match[3]
            files = [os.path.join(kernels, name) for name in names]
            if kind == "tile":
                with open(files[0], encoding="utf-8") as f:
                    found = f.read()
            elif kind == "diff":
                found = difference(*files)
            elif "tools/tilec" in written and not tilec:
                return match[0]
            else:
                found = run_all(written, folder)
            counts[kind] += 1
            if found != written:
                line = text[: match.start()].count("\n") + 1
                wrong.append(f"{page}:{line}: differs:\n" + "\n".join(
                    difflib.unified_diff(written.splitlines(), found.splitlines(), "page", "found", lineterm="")))
            return f"```{kind}{match[2]}\n{found}```"

        updated = LISTING.sub(actual, text)

    if "--update" in sys.argv:
        with open(page, "w", encoding="utf-8") as f:
            f.write(updated)
        return 0
    for kind, count in counts.items():
        if not count:
            wrong.append(f"{page}: has no listing of kind {kind}")
    print("\n".join(wrong) if wrong else f"{counts} as written")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
