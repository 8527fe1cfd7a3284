"""Left operands of wgmma that were loaded and then overwritten: what an assembler did wrong, if it did.

Fragments that stay in registers for a loop (codegen/plan/mma/lhs_in_registers.h) come by ldmatrix, once, and each product of the loop reads its own. ptxas
has been seen to write those of the next product over them, without a message. Then not only LDSM reaches the product that reads
them, on some way through the kernel.

    found = kept.check(text)             # of nvdisasm -c; [] if all is well
    found[0].kernel, .address, .writer
    kept.products(text)                  # how many read fragments that LDSM alone has written
"""

import collections

import in_flight

Overwritten = collections.namedtuple("Overwritten", "kernel address writer")


def _ways(instructions, labels):
    """For each instruction those that may follow it."""
    ways = []
    for at, instruction in enumerate(instructions):
        jump = in_flight.jump_of(instruction.text)
        ends = jump is not None or instruction.text.startswith(("EXIT", "RET"))
        ways.append([labels[jump]] if jump in labels else [])
        if at + 1 < len(instructions) and not (ends and not instruction.guard):
            ways[-1].append(at + 1)
    return ways


def _runs(ways):
    """{first instruction: the one behind the last} of those that are executed in a row."""
    firsts = {0}
    for at, following in enumerate(ways):
        if following != [at + 1]:
            firsts.update(following + [at + 1])
    firsts = sorted(first for first in firsts if first < len(ways))
    return dict(zip(firsts, firsts[1:] + [len(ways)]))


def _write(writers, at, instruction, registers):
    """Which instructions have written a register, behind this one. Under a guard the earlier ones may have, too."""
    for register in registers:
        before = writers.get(register, frozenset()) if instruction.guard else frozenset()
        writers[register] = before | {at}


def _operands(instructions, labels):
    """[(a product's instruction, {those that have written its left operand})], all ways followed."""
    products = [in_flight.product_of(i.text) for i in instructions]
    operands = frozenset().union(*(product[1] for product in products if product))
    written = [(product[0] if product else in_flight.written_by(i.text)) & operands for i, product in zip(instructions, products)]
    ways = _ways(instructions, labels)
    runs = _runs(ways)
    entered, work = {0: {}}, [0]
    while work:
        first = work.pop()
        writers = dict(entered[first])
        for at in range(first, runs[first]):
            _write(writers, at, instructions[at], written[at])
        for next_run in ways[runs[first] - 1]:
            known = entered.get(next_run)
            merged = {r: w | (known or {}).get(r, frozenset()) for r, w in writers.items()}
            merged = {**(known or {}), **merged}
            if merged != known:
                entered[next_run] = merged
                work.append(next_run)
    found = []
    for first, writers in entered.items():
        writers = dict(writers)
        for at in range(first, runs[first]):
            if products[at] and products[at][1]:
                found.append((at, frozenset().union(*(writers.get(r, frozenset()) for r in products[at][1]))))
            _write(writers, at, instructions[at], written[at])
    return sorted(found)


def _loads(instruction):
    return instruction.text.startswith("LDSM")


def check(text):
    """What writes registers that were loaded for a product, before that reads them."""
    found = []
    for name, instructions, labels in in_flight.kernels(text):
        for at, writers in _operands(instructions, labels) if instructions else []:
            others = sorted(w for w in writers if not _loads(instructions[w]))
            if others and len(others) < len(writers):
                found.append(Overwritten(name, instructions[at].address, instructions[others[0]].text))
    return found


def products(text):
    """How many instructions multiply what LDSM alone has written."""
    return sum(bool(writers) and all(_loads(instructions[w]) for w in writers)
               for _, instructions, labels in in_flight.kernels(text) for _, writers in _operands(instructions, labels))
