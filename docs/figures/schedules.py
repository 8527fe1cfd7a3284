#!/usr/bin/env python3
"""Draws the figures of docs/gpu-compiler.md as SVG: a product, an attention loop, a row, shared memory.

    python3 docs/figures/schedules.py      # writes them again; tests/repo/repo_test.py says where that is due

Times are those of a small model (one unit is a product of one iteration), not measurements: they show the order of events.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import figures  # noqa: E402  (beside this file, also where a test loads it)

WHITE, DARK, GREY, PALE = "#ffffff", figures.DARK, figures.GREY, "#e4e7eb"
COPY, MMA, ROWS, STORE = "#1f5fa8", "#0b6e4f", "#b44d12", "#6b3fa0"
WIDTH = 820


def rect(x, y, width, height, fill, stroke="none", dash=""):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" fill="{fill}" stroke="{stroke}"{dashes}/>'


def bar(x, y, width, height, fill, words, size=11):
    """A filled box with its words inside."""
    colour = DARK if fill in (PALE, WHITE) else WHITE
    parts = [rect(x, y, width, height, fill)]
    if words:
        parts.append(figures.text(round(x + width / 2, 1), round(y + height / 2 + size * 0.36, 1), words, size, "middle", colour))
    return parts


def line(x1, y1, x2, y2, colour=GREY, dash="", tip=True):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    end = ' marker-end="url(#tip)"' if tip else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="1.3"{dashes}{end}/>'


TIP = ('<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
       f'<path d="M0,0 L8,4 L0,8 z" fill="{GREY}"/></marker></defs>')


def legend(x, y, entries):
    parts = []
    for fill, words in entries:
        parts += [rect(x, y - 10, 14, 12, fill, GREY if fill in (PALE, WHITE) else "none"), figures.text(x + 20, y, words, 12, fill=GREY)]
        x += 44 + 7.2 * len(words)
    return parts


def label(y, words, under=""):
    parts = [figures.text(16, y, words, 12, weight="600")]
    return parts + ([figures.text(16, y + 14, under, 11, fill=GREY)] if under else [])


# --- a product -------------------------------------------------------------------------------------------------------------

STAGES, ITERATIONS, NEXT_TILE = 4, 6, 4  # of a tile block, and of the next one as far as it is shown
LATENCY, ISSUE, STEP_ASIDE, EPILOGUE = 2.1, 0.3, 0.35, 1.5


def run_product():
    """For each iteration: when its copies begin, when they have arrived, when products begin, when the stage is free."""
    begun, full, product, free = [], [], [], []
    for i in range(ITERATIONS + NEXT_TILE):
        ready = free[i - STAGES] if i >= STAGES else 0.0
        begun.append(max(ready, begun[-1] + ISSUE if begun else 0.0))
        full.append(begun[-1] + ISSUE + LATENCY)
        earliest = product[-1] + 1 if product else 0.0
        product.append(max(full[-1], earliest + (EPILOGUE if i == ITERATIONS else 0.0)))
        free.append(product[-1] + 1 + STEP_ASIDE)
    return begun, full, product, free


def product():
    begun, full, start, free = run_product()
    left, unit, top, row = 150, 41.0, 74, 26

    def x(time):
        return left + unit * time

    parts = [TIP, *figures.head("A product: the producer warp runs ahead by as many iterations as stages",
                                "iterations 0 to 5 of one tile block, then 0 to 3 of the next one that the same hardware block computes")]
    parts += label(top + 16, "producer warp", "starts TMA copies")
    for i, at in enumerate(begun):
        parts += bar(x(at), top, unit * ISSUE - 1, 22, COPY, str(i % ITERATIONS), 10)
    stages = top + 46
    for s in range(STAGES):
        y = stages + row * s
        parts += label(y + 15, f"stage {s}")
        for i in range(s, len(begun), STAGES):
            parts += bar(x(begun[i] + ISSUE), y, unit * LATENCY, 20, COPY, f"arriving {i % ITERATIONS}")
            if start[i] > full[i] + 0.05:
                parts += bar(x(full[i]), y, unit * (start[i] - full[i]), 20, PALE, "full" if start[i] - full[i] > 0.7 else "")
            parts += bar(x(start[i]), y, unit * (free[i] - start[i]), 20, MMA, f"read {i % ITERATIONS}")
    groups = stages + row * STAGES + 18
    for g in range(2):
        y = groups + row * g
        parts += label(y + 15, f"warpgroup {g}")
        for i, at in enumerate(start):
            parts += bar(x(at + STEP_ASIDE * g), y, unit - 1, 20, MMA, str(i % ITERATIONS))
        done = start[ITERATIONS - 1] + 1 + STEP_ASIDE * g
        parts += bar(x(done), y, unit * (EPILOGUE - 0.05), 20, STORE, "store tile")
    shown = 1
    parts.append(line(x(full[shown]), stages + row * shown + 20, x(start[shown]) + 3, groups - 2))
    parts.append(line(x(free[shown]), groups + row - 6, x(begun[shown + STAGES]) + 5, top + 24, ROWS))
    low = groups + 2 * row + 26
    parts.append(figures.text(16, low, "Two mbarriers guard each stage:", 12, weight="600"))
    parts.append(figures.text(16, low + 18,
                              "full (grey arrow): counts the bytes of the copies. A warpgroup waits for it before it multiplies.", 12, fill=GREY))
    parts.append(figures.text(16, low + 36,
                              "free (orange arrow): counts the warps that have finished reading. The producer waits for it before it fills the stage.",
                              12, fill=GREY))
    parts += legend(16, low + 62, [(COPY, "copy by TMA"), (PALE, "full, not yet read"), (MMA, "products by wgmma"), (STORE, "store by TMA")])
    parts += [line(WIDTH - 116, low + 58, WIDTH - 56, low + 58), figures.text(WIDTH - 50, low + 62, "time", 12, fill=GREY)]
    return figures.page(WIDTH, low + 78, "Stages, barriers and roles of a matrix product with a producer warp over time", parts)


# --- an attention loop -----------------------------------------------------------------------------------------------------

SCORES, VALUES, WORK, RESCALE = 1.0, 1.0, 2.3, 0.5


def in_order(x, y, unit):
    """Each product is waited for where it is in the program."""
    parts, time = label(y + 15, "tensor cores") + label(y + 41, "warpgroup"), 0.0
    for i in range(3):
        parts += bar(x(time), y, unit * SCORES - 1, 20, MMA, f"S{i}")
        parts += bar(x(time + SCORES), y + 26, unit * (WORK + RESCALE) - 1, 20, ROWS, f"softmax {i}, rescale")
        parts += bar(x(time + SCORES + WORK + RESCALE), y, unit * VALUES - 1, 20, MMA, f"P{i}·V{i}")
        parts += [rect(x(time + SCORES) + 1, y, unit * (WORK + RESCALE) - 3, 20, WHITE, "#7b8794", "3 3")]
        time += SCORES + WORK + RESCALE + VALUES
    return parts


def deferred(x, y, unit):
    """P·V an iteration late, and two warpgroups that begin their products in turns."""
    period = 2 * (SCORES + VALUES)
    lanes = {0: y, "cores": y + 30, 1: y + 60}
    parts = label(y + 15, "warpgroup 0") + label(y + 45, "tensor cores") + label(y + 75, "warpgroup 1")
    for i in range(4):
        for g in range(2):
            time = period * i + period / 2 * g
            if time + SCORES + WORK > 15.4:
                continue
            fill = MMA if g == 0 else COPY
            parts += bar(x(time), lanes["cores"], unit * SCORES - 1, 20, fill, f"S{i}")
            parts += bar(x(time + SCORES), lanes[g], unit * WORK - 1, 20, ROWS, f"softmax {i}")
            if i > 0:
                parts += bar(x(time + SCORES), lanes["cores"], unit * VALUES - 1, 20, fill, f"P{i - 1}·V{i - 1}")
                parts += bar(x(time + SCORES + WORK), lanes[g], unit * RESCALE - 1, 20, STORE, "")
    for i in range(3):  # what P of an iteration waits for and where its product begins
        done = period * i + SCORES + WORK
        if period * (i + 1) + SCORES < 14:
            parts.append(line(x(done) - 2, lanes[0] + 21, x(period * (i + 1) + SCORES) + 6, lanes["cores"] - 1))
    return parts


def attention():
    left, unit = 150, 42.0

    def x(time):
        return left + unit * time

    parts = [TIP, *figures.head("An attention loop: products of two iterations overlap with the softmax",
                                "S = Q·Kᵀ, P = exp(S − maximum), O = O · factor + P·V; the number is that of the iteration")]
    in_turn = "In the order of the program: the tensor cores idle (dashed) while the warpgroup works on rows"
    parts.append(figures.text(16, 76, in_turn, 12, weight="600", fill=GREY))
    parts += in_order(x, 88, unit)
    late = "P·V deferred by one iteration, two warpgroups in turns: the tensor cores always have a product"
    parts.append(figures.text(16, 168, late, 12, weight="600", fill=GREY))
    parts += deferred(x, 180, unit)
    low = 292
    parts.append(figures.text(16, low, "The three stages while iteration i runs:", 12, weight="600"))
    cells = [("i − 1: P·V reads V", MMA), ("i: S reads K, V waits", MMA), ("i + 1: arriving by TMA", COPY)]
    for number, (words, fill) in enumerate(cells):
        parts += bar(330 + 162 * number, low - 15, 156, 22, fill, words, 11)
    parts += legend(16, low + 34, [(MMA, "products, warpgroup 0"), (COPY, "products, warpgroup 1"), (ROWS, "work on rows"), (STORE, "wait, rescale O")])
    parts += [line(WIDTH - 86, low + 30, WIDTH - 46, low + 30), figures.text(WIDTH - 40, low + 34, "time", 12, fill=GREY)]
    return figures.page(WIDTH, low + 52, "Products of two iterations of an attention loop overlap with the work on rows", parts)


# --- a row -----------------------------------------------------------------------------------------------------------------

WARP_FILLS = (MMA, COPY, ROWS, STORE)


def bases(y):
    """Which bit of the column each bit of the register, lane and warp number contributes."""
    owners = [("reg", 3), ("lane", 5), ("warp", 2), ("reg", 2)]
    fills = {"reg": DARK, "lane": COPY, "warp": MMA}
    parts, bit, number = label(y + 15, "bit of the column") + label(y + 41, "comes from"), 0, {}
    for owner, count in owners:
        for _ in range(count):
            x = 748 - 50 * bit
            mine = number.setdefault(owner, 0)
            parts += bar(x, y, 48, 20, PALE, str(1 << bit), 11) + bar(x, y + 24, 48, 22, fills[owner], f"{owner} {mine}", 11)
            number[owner] += 1
            bit += 1
    return parts


def row_kernel():
    left, width = 150, 652
    parts = [TIP, *figures.head("A row of 4096 16-bit elements over four warps, and its sum",
                                "a layout is a linear map: each bit of the register, lane and warp number contributes one bit of the column")]
    parts += label(84, "row", "4096 columns")
    for i in range(16):
        parts += bar(left + width / 16 * i, 70, width / 16 - 1, 24, WARP_FILLS[i % 4], f"w{i % 4}")
    parts += [line(left, 96, left, 118, tip=False), line(left + width / 16, 96, left + width, 118, tip=False)]
    parts += label(134, "warp 0", "256 columns")
    for lane in range(32):
        parts += bar(left + width / 32 * lane, 120, width / 32 - 1, 24, MMA, str(lane), 9)
    parts += [line(left, 146, left, 168, tip=False), line(left + width / 32, 146, left + width / 2, 168, tip=False)]
    parts += label(184, "lane 0", "16 bytes, one load")
    for element in range(8):
        parts += bar(left + width / 16 * element, 170, width / 16 - 1, 24, PALE, f"r{element}")
    parts.append(figures.text(left + width / 2 + 14, 187, "r8 to r31: the same 1024, 2048, 3072 columns later", 12, fill=GREY))
    parts += bases(214)
    top = 290
    parts.append(figures.text(16, top, "The sum of the row", 12, weight="600"))
    steps = [("1. registers", "32 elements of a thread,", "a tree; nothing is exchanged"),
             ("2. lanes", "5 shuffles, one for each", "lane bit: xor 1, 2, 4, 8, 16"),
             ("3. warps", "one lane of each writes its part", "to shared memory; one barrier;"),
             ("", "every thread reads four parts,", "so all have the sum")]
    for number, (name, first, second) in enumerate(steps):
        x = 16 + 200 * number
        parts += [rect(x, top + 10, 188, 58, "#f5f7fa", "#7b8794"), figures.text(x + 10, top + 28, name, 12, weight="600"),
                  figures.text(x + 10, top + 44, first, 11, fill=GREY), figures.text(x + 10, top + 59, second, 11, fill=GREY)]
        if number:
            parts.append(line(x - 11, top + 39, x - 2, top + 39))
    return figures.page(WIDTH, top + 84, "The layout of a row over registers, lanes and warps, and its reduction", parts)


# --- shared memory ---------------------------------------------------------------------------------------------------------

def memory_map(x, y):
    """The areas of a block's shared memory from the lowest address on."""
    areas = [(30, PALE, "mbarriers of the stages"), (30, PALE, "arrays of the program"), (36, PALE, "operands kept for a loop, boxes of stores")]
    parts, at = [figures.text(x, y - 10, "A block's shared memory", 12, weight="600")], y
    for height, fill, words in areas:
        parts += bar(x, at, 250, height - 2, fill, words)
        at += height
    ring = at
    for s in range(4):
        parts += bar(x, at, 124, 26, COPY, f"stage {s}: left tile") + bar(x + 126, at, 124, 26, COPY, "right tile")
        at += 28
    parts += bar(x, at, 250, 30, ROWS, "scratch: exchanges between threads")
    parts.append(line(x + 262, ring + 4, x + 262, at + 26, ROWS, tip=False))
    notes = ("scratch takes the", "place of the stages", "where none is in use,", "else it follows them.", "Stages begin at a", "multiple of 1024.")
    for number, words in enumerate(notes):
        parts.append(figures.text(x + 270, ring + 30 + 15 * number, words, 11, fill=GREY))
    parts.append(figures.text(x + 270, y + 18, "reserved for the", 11, fill=GREY))
    parts.append(figures.text(x + 270, y + 33, "whole run", 11, fill=GREY))
    return parts, at + 44


def swizzle(x, y):
    """Rows of 128 bytes; the piece of 16 bytes with number p of row r is stored at p xor r."""
    parts = [figures.text(x, y - 10, "A stage: where row r keeps each 16 bytes", 12, weight="600")]
    for r in range(8):
        parts.append(figures.text(x, y + 21 * r + 14, f"row {r}", 11, fill=GREY))
        for place in range(8):
            piece = place ^ r
            parts += bar(x + 44 + 36 * place, y + 21 * r, 34, 19, MMA if piece == 0 else PALE, str(piece), 11)
    parts.append(figures.text(x + 44, y + 184, "A column is four banks. Piece 0 of eight rows is in eight", 11, fill=GREY))
    parts.append(figures.text(x + 44, y + 199, "columns, so one access reads all of them.", 11, fill=GREY))
    return parts


def counting(y):
    parts = [figures.text(16, y, "Who counts it", 12, weight="600")]
    steps = [("account-memory", "walks the program with", "layouts; error if too much:", "another candidate is tried"),
             ("SharedAccount", "one class keeps the account", "for both: areas, who asked", "for them, what overlaps"),
             ("emit-llvm", "asks in the same order while", "it emits; offsets are final", "after the last operation"),
             ("comparison", "emitted bytes must equal", "planned bytes: with", "--verify-each, and in tests")]
    for number, (name, *lines) in enumerate(steps):
        x = 16 + 200 * number
        parts += [rect(x, y + 10, 188, 74, "#f5f7fa", "#7b8794"), figures.text(x + 10, y + 28, name, 12, weight="600")]
        parts += [figures.text(x + 10, y + 44 + 15 * i, words, 11, fill=GREY) for i, words in enumerate(lines)]
        if number:
            parts.append(line(x - 11, y + 47, x - 2, y + 47))
    return parts


def memory():
    parts = [TIP, *figures.head("Shared memory: areas, stages, swizzle, and who counts it", "sizes are not to scale; addresses grow downwards")]
    areas, low = memory_map(16, 88)
    parts += areas + swizzle(440, 88) + counting(low + 10)
    return figures.page(WIDTH, low + 110, "The areas of shared memory, the swizzle of a stage, and the account of both", parts)


def drawn():
    """Name and contents of each figure."""
    return {"gpu-product.svg": product(), "gpu-attention.svg": attention(), "gpu-row.svg": row_kernel(), "gpu-memory.svg": memory()}


def main():
    for name, contents in drawn().items():
        (HERE / name).write_text(contents, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
