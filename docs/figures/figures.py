#!/usr/bin/env python3
"""Draws the figures of the pages as SVG: peers.svg from peers.json, pipeline.svg from the boxes below.

    python3 docs/figures/figures.py        # writes them again; tests/repo/repo_test.py says where that is due

A figure is text, so that a change of a number is a change of a line. Colours have a contrast of at least 4.5 on white and on a dark page.
"""
import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
FONT = "font-family=\"system-ui, sans-serif\""


def text(x, y, words, size=13, anchor="start", fill="#1f2933", weight="400"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}">{escape(words)}</text>'


def page(width, height, title, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" {FONT} role="img">',
                      f"<title>{escape(title)}</title>", f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>', *parts, "</svg>", ""])


def peers(data):
    """Bars from the line at 1 on a logarithmic axis: to the right tilevm is faster."""
    rows = data["rows"]
    left, right, top, step = 350, 750, 60, 24
    low, high = 0.7, 1.7
    height = top + step * len(rows) + 30

    def x_of(ratio):
        return round(left + (right - left) * math.log(ratio / low) / math.log(high / low), 1)

    parts = [text(16, 26, "Speed beside the best peer on an H200 (rows with * on an H100)", 16, weight="600"),
             text(16, 45, "time of the peer / time of tilevm; right of the line tilevm is faster", 12, fill="#52606d")]
    for tick in (0.8, 0.9, 1.0, 1.2, 1.4, 1.6):
        colour = "#1f2933" if tick == 1.0 else "#cbd2d9"
        parts.append(f'<line x1="{x_of(tick)}" y1="{top - 6}" x2="{x_of(tick)}" y2="{height - 24}" stroke="{colour}"/>')
        parts.append(text(x_of(tick), height - 8, f"{tick:g}", 12, "middle", "#52606d"))
    for number, row in enumerate(rows):
        y = top + step * number
        start, end = sorted((x_of(1.0), x_of(row["ratio"])))
        colour = "#0b6e4f" if row["ratio"] >= 1 else "#b44d12"
        parts.append(f'<rect x="{start}" y="{y}" width="{max(2.0, round(end - start, 1))}" height="15" fill="{colour}"/>')
        parts.append(text(left - 108, y + 12, row["kernel"], 12, "end"))
        parts.append(text(left - 100, y + 12, row["peer"], 12, fill="#52606d"))
        parts.append(text(right + 44, y + 12, f"{row['ratio']:.2f}", 12, "end"))
    return page(820, height, data["about"], parts)


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


def drawn():
    """Name and contents of each figure."""
    return {"peers.svg": peers(json.loads((HERE / "peers.json").read_text(encoding="utf-8"))), "pipeline.svg": pipeline()}


def main():
    for name, contents in drawn().items():
        (HERE / name).write_text(contents, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
