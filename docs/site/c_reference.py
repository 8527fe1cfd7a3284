"""The reference of the C interface as a page, from runtime/tilevm.h: its sections, each declaration with the comment above it.

The header keeps these rules: a section begins with `/* --- name --- */`; a comment belongs to the declaration below it, and a declaration
without one to the comment of those above, up to an empty line.
"""
import re

SECTION = re.compile(r"/\* --- (.+?) -+ \*/")
NAMES = (re.compile(r"(tilevm_\w+)\("), re.compile(r"\(\*(tilevm_\w+)\)"), re.compile(r"\}\s*(tilevm_\w+);"), re.compile(r"(?:struct )?(tilevm_\w+);"),
         re.compile(r"(TILEVM_\w+)"), re.compile(r"struct (\w+);"))
SKIPPED = ("#", "extern", "}", "/* clang-format", "/* Members and")


def prose(comment):
    """The text of a comment."""
    lines = [re.sub(r"^ ?\* ?", "", line) for line in comment.removeprefix("/*").removesuffix("*/").strip().splitlines()]
    return "\n".join(lines).strip().replace("<", "&lt;")


def units(text):
    """("section", name), ("comment", text), ("code", text), ("gap", "") in the order of the header."""
    lines = iter(text.splitlines())
    for line in lines:
        if not line.strip():
            yield "gap", ""
        elif match := SECTION.match(line):
            yield "section", match[1]
        elif line.startswith("/*"):
            while "*/" not in line:
                line += "\n" + next(lines)
            if not line.startswith(SKIPPED):
                yield "comment", prose(line)
        elif not line.startswith(SKIPPED) or line.startswith("#define TILEVM_ABI"):
            while not line.startswith("#") and not (line.rstrip().endswith((";", "*/")) and ";" in line and line.count("{") == line.count("}")):
                line += "\n" + next(lines)
            yield "code", line.replace("TILEVM_API ", "")


def name_of(code):
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    if bare.startswith("typedef") and "(*" in bare:
        return NAMES[1].search(bare)[1]
    if "{" in bare:
        match = NAMES[2].search(bare) or NAMES[4].search(bare)
        return match[1]
    order = (NAMES[0], NAMES[3], NAMES[4], NAMES[5])
    return next(m[1] for pattern in order if (m := pattern.search(bare)))


def page(header):
    """The page, in Markdown."""
    found = list(units(header))
    kind, start = found[0]
    if kind != "comment":
        raise ValueError("runtime/tilevm.h does not begin with a comment")
    listing, out = re.search(r"(?:^  .*\n|^\n)+", start + "\n", re.M), ["# The C interface", ""]
    before, after = start[:listing.start()], start[listing.end():]
    program = "\n".join(line[2:] for line in listing[0].strip("\n").splitlines())
    out += [before.strip(), "", "```c", program, "```", "", after.strip(), ""]
    out += ["Source: [runtime/tilevm.h](../runtime/tilevm.h.md); for C++ [runtime/tilevm.hpp](../runtime/tilevm.hpp.md).", ""]
    comment = []
    names = set()
    for kind, text in found[1:]:
        if kind == "gap":
            comment = []
        elif kind == "section":
            out += [f"## {text[0].upper()}{text[1:]}", ""]
        elif kind == "comment":
            comment = [text]
        else:
            name = name_of(text)
            if not (text.startswith("typedef struct") and "{" not in text) or comment:
                if name in names:
                    raise ValueError(f"runtime/tilevm.h declares {name} twice")
                names.add(name)
                out += [f"### {name}", "", "```c", text, "```", ""]
                out += [*comment, ""] if comment else []
                comment = []
    return "\n".join(out) + "\n"
