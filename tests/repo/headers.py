"""Headers have include guards of the expected name, no file includes another twice, and headers include what they name of the standard library.
Sources in C define no function with a name of Windows' C library.

A guard is the path of the header; installed headers, which users see by another path, have one of their own. Only names that belong
to one header are looked for, and only in headers: a source that lacks one does not compile, while a header takes it from its neighbours
until their order changes.
"""

import collections
import pathlib
import re

# What a user's program may also define must not collide with ours.
OWN_GUARDS = {
    "runtime/forms/tilevm_forms.h": "TILEVM_FORMS_H_",
    "runtime/jit/tilec_abi.h": "TILEC_ABI_H_",
    "runtime/tilevm.h": "TILEVM_H_",
    "runtime/tilevm.hpp": "TILEVM_HPP_",
    "runtime/tilevm_tvm_ffi.h": "TILEVM_TVM_FFI_H_",
}
# Code that only nvcc compiles follows its users' habit.
PRAGMA_ONCE = ("examples/tile_cpp/", "tests/tilecpp/")
HEADERS = {".h", ".hpp"}
CPP = HEADERS | {".c", ".cc"}
INCLUDE = re.compile(r'\s*#\s*include\s+(["<][^">]+[">])')
COMMENT_OR_TEXT = re.compile(r'//.*|"(?:[^"\\]|\\.)*"')
NAMES = {
    "array": "array", "atomic": "atomic", "condition_variable": "condition_variable", "deque": "deque", "function": "functional",
    "map": "map", "multimap": "map", "mutex": "mutex", "nullopt": "optional", "numeric_limits": "limits", "optional": "optional",
    "make_shared": "memory", "make_unique": "memory", "shared_ptr": "memory", "unique_ptr": "memory", "weak_ptr": "memory",
    "set": "set", "span": "span", "string": "string", "string_view": "string_view", "thread": "thread", "tuple": "tuple",
    "unordered_map": "unordered_map", "unordered_set": "unordered_set", "variant": "variant", "vector": "vector",
}
NAME = re.compile(r"\bstd::(" + "|".join(NAMES) + r")\b")
# Functions of io.h, process.h and direct.h, which Python.h includes on Windows. A source of ours that defines one does not compile there.
OF_WINDOWS = """access chdir chmod chsize close creat cwait dup dup2 eof execl execle execlp execlpe execv execve execvp execvpe filelength getcwd getpid
    isatty locking lseek mkdir mktemp open read rename rmdir setmode sopen spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe tell
    umask unlink write""".split()
DEFINED = re.compile(r"^(?:static )?(?:\w+[ *]+)+(" + "|".join(OF_WINDOWS) + r")\(")


def guard_of(name):
    return OWN_GUARDS.get(name) or "TILE_" + re.sub(r"[/.-]", "_", name).upper() + "_"


def guard_problems(name, lines):
    guard = guard_of(name)
    if name.startswith(PRAGMA_ONCE) and "#pragma once" in lines:
        return
    first = next((i for i, line in enumerate(lines) if line.startswith("#")), None)
    last = next((line for line in reversed(lines) if line.strip()), "")
    if first is None or lines[first:first + 2] != [f"#ifndef {guard}", f"#define {guard}"]:
        yield f"{name}:{(first or 0) + 1}: begin with `#ifndef {guard}` and `#define {guard}`"
    elif last not in (f"#endif  // {guard}", f"#endif /* {guard} */"):
        yield f"{name}:{len(lines)}: end with `#endif  // {guard}`"


def twice_problems(name, lines):
    """Tables (.def) are included as often as something is made of their rows."""
    places = collections.defaultdict(list)
    for number, line in enumerate(lines, 1):
        if (match := INCLUDE.match(line)) and not match.group(1).endswith('.def"'):
            places[match.group(1)].append(number)
    for included, numbers in places.items():
        for number in numbers[1:]:
            yield f"{name}:{number}: includes {included}, as line {numbers[0]} does"


def standard_problems(name, lines):
    included = {match.group(1) for line in lines if (match := INCLUDE.match(line))}
    reported = set()
    for number, line in enumerate(lines, 1):
        for std in NAME.findall(COMMENT_OR_TEXT.sub("", line)):
            header = f"<{NAMES[std]}>"
            if header not in included | reported:
                reported.add(header)
                yield f"{name}:{number}: std::{std}, but no #include {header}"


def windows_problems(name, lines):
    for number, line in enumerate(lines, 1):
        if match := DEFINED.match(line):
            yield f"{name}:{number}: Windows' C library declares {match.group(1)}(), too; give the function another name"


def headers_are_sound(files):
    for name, lines in files:
        suffix = pathlib.Path(name).suffix
        if suffix == ".c" and name.startswith("python/"):
            yield from windows_problems(name, lines)
        if suffix in CPP:
            yield from twice_problems(name, lines)
        if suffix in HEADERS:
            yield from guard_problems(name, lines)
            yield from standard_problems(name, lines)
