"""Registers that machine code touches while a product runs on them: what an assembler did wrong, if it did.

wgmma runs beside the warps that begin it. Until they wait for it, nobody may read or write the registers of its sums, nor
write those of its left operand. ptxas inserts waits where a program lacks them, but where it unrolled loops it did not, and
results were wrong on the GPU alone. Machine code shows it: HGMMA … gsb0 ends a group of products, WARPGROUP.DEPBAR.LE gsb0, N
waits until N groups are left.

    found = in_flight.check(text)        # of nvdisasm -c; [] if all is well
    found[0].kernel, .address, .instruction, .product
    in_flight.products(text)             # how many instructions begin products

All ways through a kernel are followed, so one that no thread takes counts, too.
"""

import collections
import re

Touch = collections.namedtuple("Touch", "kernel address instruction product")
_Instruction = collections.namedtuple("_Instruction", "address guard text")

_KERNEL = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)|//-+ \.text\.(\S+)")
_LABEL = re.compile(r"(\.L_x?_?\w+):")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?(.*?)\s*;")
_PRODUCT = re.compile(r"(?:HGMMA|QGMMA|IGMMA|BGMMA)\.(\d+)x(\d+)x\d+\.(\S+)\s+R(\d+), (?:R(\d+), )?")
_WAIT = re.compile(r"WARPGROUP\.DEPBAR\.LE gsb0, 0x([0-9a-f]+)")
_JUMP = re.compile(r"BRA(?:\.\S+)?\s.*`\((\.\S+?)\)")
# Groups that are remembered: a loop without a wait begins ever more.
_MOST = 8
_REGISTER = re.compile(r"(?<![A-Za-z0-9])R(\d+)")
_FIRST = re.compile(r"\S+\s+R(\d+),")
_LAST = re.compile(r", R(\d+)$")


def kernels(text):
    """[(name, instructions, {label: index of the instruction behind it})]."""
    found, instructions, labels, name = [], [], {}, ""
    for line in text.split("\n"):
        if kernel := _KERNEL.match(line):
            if instructions:
                found.append((name, instructions, labels))
            name, instructions, labels = kernel.group(1) or kernel.group(2), [], {}
        elif label := _LABEL.match(line.strip()):
            labels[label.group(1)] = len(instructions)
        elif instruction := _INSTRUCTION.match(line):
            instructions.append(_Instruction(instruction.group(1), (instruction.group(2) or "").strip(), instruction.group(3)))
    if instructions:
        found.append((name, instructions, labels))
    return found


def _row(match, count):
    return frozenset(range(int(match.group(1)), int(match.group(1)) + count) if match else ())


def product_of(text):
    """(registers of the sums, registers of the left operand), or None if no product begins here."""
    product = _PRODUCT.match(text)
    if not product:
        return None
    _, n, kinds, first, left = product.groups()
    count = int(n) // 2
    if kinds.split(".")[0] == "F16":
        count //= 2
    first = int(first)
    # Each thread has 16 bytes of a left operand of 64 rows and 32 bytes along K.
    operand = frozenset(range(int(left), int(left) + 4)) if left else frozenset()
    return frozenset(range(first, first + count)), operand


def _touched(text):
    """(registers that an instruction reads or writes, registers that it writes)."""
    name = text.split()[0] if text else ""
    # Fragments of ldmatrix are a register each; of loads and stores the data is wide, not the address.
    wide = 4 if ".128" in name else 2 if ".64" in name else 1
    if name.startswith(("LDSM", "STSM")):
        wide = int(name[-1]) if name[-1] in "24" else 1
    named = {int(number) for number in _REGISTER.findall(text)}
    first, last = _FIRST.match(text), _LAST.search(text)
    if name.startswith("ST"):
        return named | _row(last, wide), frozenset()
    written = _row(first, wide)
    return named | written, written


def written_by(text):
    """Registers that an instruction writes which begins no product."""
    return _touched(text)[1]


def jump_of(text):
    """The label to which an instruction jumps, or None."""
    jump = _JUMP.match(text)
    return jump.group(1) if jump else None


def _check(name, instructions, labels):
    begun = [product_of(i.text) for i in instructions]
    touched = [_touched(i.text) for i in instructions]
    found = {}
    # Where a way goes on, and what runs there: groups of products, the oldest first; the last one is still open.
    work, seen = [(0, ((),))], set()
    while work:
        at, groups = work.pop()
        while at < len(instructions) and (at, groups) not in seen:
            seen.add((at, groups))
            text = instructions[at].text
            if begun[at] is not None:
                groups = groups[:-1] + (groups[-1] + (at,),)
                if "gsb0" in text:
                    groups = (groups + ((),))[-_MOST:]
            elif wait := _WAIT.match(text):
                closed, left = groups[:-1], int(wait.group(1), 16)
                groups = closed[max(0, len(closed) - left):] + groups[-1:]
            else:
                for product in (product for group in groups for product in group):
                    sums, operand = begun[product]
                    if not (sums.isdisjoint(touched[at][0]) and operand.isdisjoint(touched[at][1])):
                        found[at] = Touch(name, instructions[at].address, text, instructions[product].address)
            jump = jump_of(text)
            if jump in labels:
                if not instructions[at].guard:
                    at = labels[jump]
                    continue
                work.append((labels[jump], groups))
            elif text.startswith(("EXIT", "RET")) and not instructions[at].guard:
                break
            at += 1
    return [found[at] for at in sorted(found)]


def check(text):
    """What is touched too early in the text of nvdisasm, in the order of kernels and addresses."""
    return [touch for kernel in kernels(text) for touch in _check(*kernel)]


def products(text):
    """How many instructions begin products of a warpgroup."""
    return sum(product_of(i.text) is not None for _, instructions, _ in kernels(text) for i in instructions)
