#!/usr/bin/env python3
"""Sentences of pages and of headers: those of more than 40 words, and turns that readers stumble over.

    python3 tests/repo/prose.py            # for each page: words, mean length of a sentence, long sentences, banned turns
    python3 tests/repo/prose.py --list     # and every long sentence and banned turn with its line

repo_test.py fails where a page, a public header or a file of PLAIN has either, where the sentences of a page have more than 20 words in the mean, and
where a comment of another header has a long sentence.
"""
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = 40
MEAN = 20
MOST_WORDS = {"docs/gpu-compiler.md": 4000}  # a design page; what was tried and measured is in docs/notes
NOT_READ = ("docs/operations.md", "docs/notes/", "docs/site/", "tests/source-coverage.md")  # generated; history

PUBLIC = ("runtime/tilevm.h", "runtime/tilevm.hpp", "runtime/tilevm_tvm_ffi.h", "runtime/jit/tilec_abi.h")
PLAIN = (*PUBLIC, "codegen/passes/expand/")  # comments without the turns below
LAYERS = ("ir/", "vm/", "runtime/", "codegen/")

PLACES = "behind|beside|before|besides|there|between|in|at|under|on|above|below|alone"
STANDS = re.compile(rf"\b(?:stands?|stood|lies|lie) (?!for\b)(?:\w+ ){{0,2}}?(?:{PLACES})\b")

# What it is called, and how it looks in a sentence. Each has a plain word: after, before, is stored, N, invalid, the value that …
BANNED = [
    ("`What …` as a subject", re.compile(r"^What (?!\w+ (?:is|are|does|do) \w+ for\b)[^?]*[^?]$")),
    ("`Of …` as a beginning", re.compile(r"^Of (?!course)")),
    ("stands, lies for a state", STANDS),
    ("behind, in front of", re.compile(r"\b(?:behind|in front of)\b")),
    ("of which", re.compile(r"\bof (?:which|whom|whose)\b")),
    ("so many", re.compile(r"\bso many\b")),
    ("that is none", re.compile(r"\b(?:that|which|is|are) none\b")),
    ("is told", re.compile(r"\b(?:is|are|was|were) told\b")),
    ("is no part of", re.compile(r"\b(?:is|are) no part of\b")),
    ("do as, does so, too", re.compile(r"\b(?:do|does) (?:as (?:its|their)\b|so,? too\b)")),
    ("nobody gave", re.compile(r"\b(?:nobody|nothing|no one) (?:gave|gives|said|says)\b")),
]


def paragraphs(text, cells=True):
    """(line, text) of each paragraph and item outside of listings, and of the cells of tables."""
    listing, start, lines = False, 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        fence = line.startswith("```")
        new = re.match(r"\s*(?:[*-] |\d+\. |#|\||$|<!--|!\[)", line)
        if (fence or listing or new) and lines:
            yield start, " ".join(lines)
            lines = []
        if fence:
            listing = not listing
        elif not listing and line.strip() and not line.startswith(("#", "<!--", "![")):
            if line.startswith("|") and not cells:
                continue
            if line.startswith("|"):
                yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line) if re.search(r"\w", cell))
            else:
                start = start if lines else number
                lines.append(re.sub(r"^\s*(?:[*-] |\d+\. )", "", line).strip())


def sentences(text, cells=True):
    """(line, sentence): code is one word, a link its text."""
    for line, paragraph in paragraphs(text, cells):
        plain = re.sub(r"`[^`]*`", "Code", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)).replace("**", "")
        for sentence in re.split(r"(?<=[.!?])\s+|(?<=[:])\s+(?=[A-Z])", plain):
            if sentence.strip():
                yield line, sentence.strip()


def words(sentence):
    return len(re.findall(r"[\w'’-]*[^\W\d_][\w'’-]*", sentence))


def found(text):
    """(line, what, sentence) of each long sentence and each banned turn."""
    for line, sentence in sentences(text):
        if words(sentence) > LONG:
            yield line, f"{words(sentence)} words", sentence
        for name, pattern in BANNED:
            if pattern.search(sentence) and words(sentence) > 5:
                yield line, name, sentence


def is_read(name):
    return name.endswith(".md") and not name.startswith(NOT_READ)


def is_header(name):
    return name.startswith(LAYERS) and name.endswith((".h", ".hpp", ".def", ".cc") if name.startswith(PLAIN) else (".h", ".hpp", ".def"))


COMMENT = re.compile(r"(?P<before>.*?)(?://[/!]?<?|/\*+|^\s*\*(?!/)) ?(?P<text>.*?)(?:\s*\*/)?$")


def comments(lines):
    """(line, text) of each paragraph of comments in C++; indented lines are listings."""
    start, words = 0, []
    for number, line in enumerate([*lines, ""], 1):
        match = COMMENT.match(line)
        text = match["text"] if match else ""
        is_alone = match is not None and not match["before"].strip()
        goes_on = is_alone and text.strip() and not text.startswith("  ")
        if words and (not goes_on or text.startswith("* ")):
            yield start, " ".join(words)
            words = []
        if goes_on:
            start = start if words else number
            words.append(text.removeprefix("* "))
        elif match and not is_alone and '"' not in match["before"]:
            yield number, text


def found_in_header(name, lines):
    """(line, what, sentence), as found() has them: banned turns only in files of PLAIN."""
    for line, paragraph in comments(lines):
        for _, sentence in sentences(paragraph):
            if words(sentence) > LONG:
                yield line, f"{words(sentence)} words", sentence
            for turn, pattern in BANNED if name.startswith(PLAIN) else ():
                if pattern.search(sentence) and words(sentence) > 5:
                    yield line, turn, sentence


def mean(text):
    return statistics.mean([words(s) for _, s in sentences(text, cells=False)] or [0])


def count(text):
    """Long sentences, banned turns."""
    kinds = [what.endswith(" words") for _, what, _ in found(text)]
    return sum(kinds), len(kinds) - sum(kinds)


def prose_is_plain(files):
    """Pages and headers have no sentence of more than 40 words, pages and public headers none of the turns above, and pages no more words
    than they may."""
    for name, lines in files:
        if is_read(name):
            text = "\n".join(lines)
            yield from (f"{name}:{line}: {what}: {sentence[:100]}" for line, what, sentence in found(text))
            length = sum(words(s) for _, s in sentences(text))
            if length > MOST_WORDS.get(name, length):
                yield f"{name}: has {length} words; the most are {MOST_WORDS[name]}"
            if mean(text) > MEAN:
                yield f"{name}: its sentences have {mean(text):.1f} words in the mean, more than {MEAN}"
        elif is_header(name):
            yield from (f"{name}:{line}: {what}: {sentence[:100]}" for line, what, sentence in found_in_header(name, lines))


def main():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    for name in names:
        if not is_read(name) and not is_header(name):
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        listed = list(found(text) if is_read(name) else found_in_header(name, text.splitlines()))
        if is_read(name):
            total = sum(words(s) for _, s in sentences(text, cells=False))
            print(f"{name:36} {total:6} words, {mean(text):5.1f} a sentence, {count(text)[0]:3} long, {count(text)[1]:3} banned")
        elif listed:
            print(name)
        if "--list" in sys.argv:
            for line, what, sentence in listed:
                print(f"  {line}: {what}: {sentence[:160]}")


if __name__ == "__main__":
    main()
