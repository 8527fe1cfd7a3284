#!/usr/bin/env python3
"""Draws the figures of the pages as SVG: each from the JSON file of its name, letters.svg from bytes.npy,
pipeline.svg from the boxes below.

    python3 docs/figures/figures.py        # writes them again; tests/repo/repo_test.py says where that is due

A figure is text, so that a change of a number is a change of a line. Colours have a contrast of at least 4.5 on white and on a dark page.
"""
import json
import math
import pathlib
import struct
import sys
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
FONT = "font-family=\"system-ui, sans-serif\""


def text(x, y, words, size=13, anchor="start", fill="#1f2933", weight="400"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}">{escape(words)}</text>'


def page(width, height, title, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" {FONT} role="img">',
                      f"<title>{escape(title)}</title>", f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>', *parts, "</svg>", ""])


GREY = "#52606d"
DARK = "#1f2933"
FASTER, SLOWER, SECOND = "#0b6e4f", "#b44d12", "#1f5fa8"
LEFT, RIGHT, TOP, STEP = 350, 750, 60, 24


class Axis:
    """A logarithmic axis; its line at 1 is dark."""

    def __init__(self, data):
        self.low, self.high = data["axis"]
        self.ticks = data["ticks"]

    def x(self, value):
        return round(LEFT + (RIGHT - LEFT) * math.log(value / self.low) / math.log(self.high / self.low), 1)

    def draw(self, height):
        parts = []
        for tick in self.ticks:
            colour = DARK if tick == 1 else "#cbd2d9"
            parts.append(f'<line x1="{self.x(tick)}" y1="{TOP - 6}" x2="{self.x(tick)}" y2="{height - 24}" stroke="{colour}"/>')
            parts.append(text(self.x(tick), height - 8, f"{tick:g}", 12, "middle", GREY))
        return parts


def head(title, under):
    return [text(16, 26, title, 16, weight="600"), text(16, 45, under, 12, fill=GREY)]


def one_peer(data):
    """Bars from the line at 1: to the right tilevm is faster. A row of several has a dot at its mean and a line over its range."""
    rows, axis = data["rows"], Axis(data)
    height = TOP + STEP * len(rows) + 30
    parts = head(data["title"], "tilevm is N× as fast as the peer; left of the line it is slower") + axis.draw(height)
    for number, row in enumerate(rows):
        y = TOP + STEP * number
        colour = FASTER if row["ratio"] >= 1 else SLOWER
        if "low" in row:
            low, high, middle = axis.x(row["low"]), axis.x(row["high"]), axis.x(row["ratio"])
            parts.append(f'<line x1="{low}" y1="{y + 7.5}" x2="{high}" y2="{y + 7.5}" stroke="{colour}" stroke-width="3"/>')
            parts.append(f'<circle cx="{middle}" cy="{y + 7.5}" r="6" fill="{colour}"/>')
        else:
            start, end = sorted((axis.x(1.0), axis.x(row["ratio"])))
            parts.append(f'<rect x="{start}" y="{y}" width="{max(2.0, round(end - start, 1))}" height="15" fill="{colour}"/>')
        parts.append(text(LEFT - 108 if row["peer"] else LEFT - 12, y + 12, row["name"], 12, "end"))
        if row["peer"]:
            parts.append(text(LEFT - 100, y + 12, row["peer"], 12, fill=GREY))
        parts.append(text(RIGHT + 52, y + 12, f"{row['ratio']:.2f}", 12, "end"))
    return page(820, height, data["about"], parts)


def two_peers(data):
    """A bar for the first peer of each row, a ring for the second one."""
    rows, axis = data["rows"], Axis(data)
    height = TOP + STEP * len(rows) + 30
    first, second = data["peers"]
    parts = head(data["title"], f"tilevm is N× as fast as {first} (bar) and {second} (ring); left of the line it is slower") + axis.draw(height)
    for number, row in enumerate(rows):
        y, (bar, ring) = TOP + STEP * number, row["ratios"]
        start, end = sorted((axis.x(1.0), axis.x(bar)))
        parts.append(f'<rect x="{start}" y="{y}" width="{max(2.0, round(end - start, 1))}" height="15" fill="{FASTER if bar >= 1 else SLOWER}"/>')
        if ring is not None:
            parts.append(f'<circle cx="{axis.x(ring)}" cy="{y + 7.5}" r="6" fill="#ffffff" stroke="{SECOND}" stroke-width="3"/>')
        parts.append(text(LEFT - 12, y + 12, row["name"], 12, "end"))
        parts.append(text(RIGHT + 62, y + 12, f"{bar:.2f}" + (f"; {ring:g}" if ring is not None else ""), 12, "end"))
    return page(820, height, data["about"], parts)


def times(data):
    """Two bars to a row, in the unit of the data: shorter is better."""
    rows, axis = data["rows"], Axis(data)
    height = TOP + 2 * STEP * len(rows) + 30
    parts = head(data["title"], f"{data['unit']}, on a logarithmic axis; shorter is better") + axis.draw(height)
    for number, row in enumerate(rows):
        names = [name for name in row if name != "name"]
        parts.append(text(LEFT - 130, TOP + 2 * STEP * number + 20, row["name"], 12, "end"))
        for place, (name, colour) in enumerate(zip(names, (FASTER, "#7b8794"))):
            y = TOP + 2 * STEP * number + 18 * place
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{round(axis.x(row[name]) - LEFT, 1)}" height="15" fill="{colour}"/>')
            parts.append(text(LEFT - 12, y + 12, name, 12, "end", GREY))
            parts.append(text(axis.x(row[name]) + 6, y + 12, f"{row[name]:g}", 12))
    return page(820, height, data["about"], parts)


MARKS = (FASTER, SECOND, SLOWER)


def panel(left, top, data, one):
    """A panel of curves(): its title, an axis of rates with lines, an axis of lengths, and a line with dots for each series."""
    width, height, most, lengths = 300, 180, data["most"], data["lengths"]
    parts = [text(left, top - 10, one["name"], 13, weight="600")]
    for rate in range(0, most + 1, data["every"]):
        y = top + height * (1 - rate / most)
        parts.append(f'<line x1="{left}" y1="{y:g}" x2="{left + width}" y2="{y:g}" stroke="{DARK if rate == 0 else "#cbd2d9"}"/>')
        parts.append(text(left - 8, y + 4, str(rate), 11, "end", GREY))
    xs = [round(left + 20 + (width - 40) * number / (len(lengths) - 1), 1) for number in range(len(lengths))]
    parts += [text(x, top + height + 16, f"{length // 1024}k", 11, "middle", GREY) for x, length in zip(xs, lengths)]
    for series, colour in zip(one["rates"], MARKS):
        points = [(x, round(top + height * (1 - rate / most), 1)) for x, rate in zip(xs, series)]
        parts.append(f'<polyline points="{" ".join(f"{x},{y}" for x, y in points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
    return parts


def curves(data):
    """Panels of rates over lengths, two in a line; each has a curve for each of the series."""
    parts = head(data["title"], f"{data['unit']} over keys; higher is better")
    for number, (name, colour) in enumerate(zip(data["series"], MARKS)):
        parts.append(f'<circle cx="{520 + 100 * number}" cy="22" r="5" fill="{colour}"/>')
        parts.append(text(530 + 100 * number, 26, name, 12))
    for number, one in enumerate(data["panels"]):
        parts += panel(66 + 390 * (number % 2), 90 + 240 * (number // 2), data, one)
    return page(820, 90 + 240 * ((len(data["panels"]) + 1) // 2), data["about"], parts)


def letters(data):
    """How often each letter occurs in a text, from the 256 counts that examples/histogram.tile made of it."""
    length = struct.unpack_from("<H", data, 8)[0]  # .npy: magic, version, length of the header, header, numbers
    counts = struct.unpack_from("<256i", data, 10 + length)
    shown = [(chr(upper), counts[upper] + counts[upper + 32]) for upper in range(ord("A"), ord("Z") + 1)]
    most = max(count for _, count in shown)
    parts = head("Letters in LICENSE, counted by examples/histogram.tile", "capital and small letters together")
    for number, (letter, count) in enumerate(shown):
        x, height = 30 + 29 * number, round(170 * count / most, 1)
        parts.append(f'<rect x="{x}" y="{240 - height}" width="21" height="{height}" fill="{SECOND}"/>')
        parts.append(text(x + 10.5, 258, letter, 12, "middle"))
        parts.append(text(x + 10.5, 235 - height, str(count), 10, "middle", GREY))
    return page(820, 276, "How often each letter occurs in LICENSE", parts)


SOURCES = ("Triton", "cuTile Python", "CUDA Tile C++", "Python: tilevm.script", "text, C++ builder")
ENGINES = (("VM", "any CPU; checks every access", "#0b6e4f"), ("tilec", "machine code for sm_75 to sm_121", "#1f5fa8"))


def box(x, y, width, height, colour, lines, fill="#ffffff"):
    parts = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>']
    for number, words in enumerate(lines):
        parts.append(text(x + width / 2, y + height / 2 + 5 + 17 * number - 8.5 * (len(lines) - 1), words, 13 if number == 0 else 11.5, "middle",
                          "#1f2933" if number == 0 else "#52606d", "600" if number == 0 else "400"))
    return parts


def arrow(x1, y1, x2, y2):
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#52606d" stroke-width="1.5" marker-end="url(#tip)"/>'


def pipeline():
    """From frontends over one file to the engines."""
    parts = ['<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
             '<path d="M0,0 L8,4 L0,8 z" fill="#52606d"/></marker></defs>']
    for number, name in enumerate(SOURCES):
        y = 16 + 46 * number
        parts += box(16, y, 190, 36, "#7b8794", [name])
        parts.append(arrow(206, y + 18, 296, 124))
    parts += box(300, 88, 170, 72, "#1f2933", ["kernel.tbc", "portable, verified,", "versioned"], "#f5f7fa")
    for number, (name, what, colour) in enumerate(ENGINES):
        y = 48 + 96 * number
        parts.append(arrow(470, 124, 546, y + 30))
        parts += box(550, y, 254, 60, colour, [name, what])
    return page(820, 256, "Frontends write one portable file; the VM runs it on any CPU, tilec compiles it for GPUs", parts)


FIGURES = {"peers": one_peer, "tilegym": one_peer, "triton": one_peer, "attention": two_peers, "lengths": curves, "vm": two_peers,
           "compile": times}


def drawn():
    """Name and contents of each figure."""
    found = {f"{name}.svg": draw(json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))) for name, draw in FIGURES.items()}
    return {**found, "letters.svg": letters((HERE / "bytes.npy").read_bytes()), "pipeline.svg": pipeline()}


def main():
    for name, contents in drawn().items():
        (HERE / name).write_text(contents, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
