"""Breaks programs of Triton in one place each, and expects that some setting of order and lateness finds every fault:

    faults.py --library=LIBRARY --folder=FOLDER [--xml=FILE] [NAME]...
    faults.py --programs            # the programs that it needs, for compile_triton.py

A fault is found if a result is wrong, or the simulator says what is wrong. Programs without a fault have to be right in all settings.
"""

import argparse
import multiprocessing
import pathlib
import re
import sys

import foreign_test
import programs
import simulator

SEEDS = (1, 2, 3)


def replace(pattern, replacement, count=0):
    """Text for text; the pattern has to be there."""

    def edit(ptx):
        changed, n = re.subn(pattern, replacement, ptx, count=count)
        if n == 0:
            raise ValueError(f"{pattern} is not in the program")
        return changed

    return edit


def without(opcode, count=0):
    """An instruction becomes nothing."""
    return replace(rf"(?m)^\s*(@!?%p\d+\s+)?{opcode}[^\n]*;", "", count)


def nth_wait(n, replacement):
    """The n-th wait for a barrier, in the order of the text."""

    def edit(ptx):
        wait = list(re.finditer(r"mbarrier\.try_wait\S* complete, \[[^\]]*\], [^;]*;", ptx))[n]
        return ptx[: wait.start()] + replacement + ptx[wait.end():]

    return edit


def instruction_descriptor(change):
    """The constant in the register that the products have as their descriptor."""

    def edit(ptx):
        registers = set(re.findall(r"tcgen05\.mma\S* \[[^\]]*\], \S+ %rd\d+, (%r\d+),", ptx))
        changed = ptx
        for register in registers:
            definition = re.search(rf"mov\.b32\s+{re.escape(register)}, (-?\d+);", ptx)
            value = change(int(definition.group(1)) & 0xFFFFFFFF)
            changed = changed.replace(definition.group(0), f"mov.b32 {register}, {value};")
        if changed == ptx:
            raise ValueError("no instruction descriptor was changed")
        return changed

    return edit


def shared_descriptor(bit):
    """A bit of the upper half of descriptors: constants that registers of 64 bits have above, with 0b001 in bits 46 to 48."""

    def edit(ptx):
        changed = ptx
        for register in set(re.findall(r"mov\.b64\s+%rd\d+, \{%r\d+, (%r\d+)\};", ptx)):
            definition = re.search(rf"mov\.b32\s+{re.escape(register)}, (-?\d+);", ptx)
            if definition and int(definition.group(1)) >> 14 & 7 == 1:
                value = int(definition.group(1)) & 0xFFFFFFFF ^ 1 << bit - 32
                changed = changed.replace(definition.group(0), f"mov.b32 {register}, {value};")
        if changed == ptx:
            raise ValueError("there is no descriptor")
        return changed

    return edit


ALWAYS = "setp.eq.u32 complete, 0, 0;"


def flipped_wait(n):
    def edit(ptx):
        wait = list(re.finditer(r"mbarrier\.try_wait\S* complete, (\[[^\]]*\]), ([^;]*);", ptx))[n]
        text = f"xor.b32 flipped, {wait.group(2)}, 1; mbarrier.try_wait.parity.shared::cta.b64 complete, {wait.group(1)}, flipped;"
        changed = ptx[: wait.start()] + text + ptx[wait.end():]
        return changed.replace(".reg .pred \t%p<", ".reg .b32 flipped;\n\t.reg .pred \t%p<", 1)

    return edit


# What is broken: (program, edit).
FAULTS = {
    "A of another type": ("bf16_n128", instruction_descriptor(lambda d: d & ~(7 << 7))),
    "both operands of another type": ("bf16_n128", instruction_descriptor(lambda d: d & ~(63 << 7))),
    "B transposed": ("bf16_n128", instruction_descriptor(lambda d: d | 1 << 16)),
    "A transposed": ("bf16_n128", instruction_descriptor(lambda d: d | 1 << 15)),
    "N too small": ("bf16_n128", instruction_descriptor(lambda d: d & ~(63 << 17) | 8 << 17)),
    "M of 64": ("bf16_n128", instruction_descriptor(lambda d: d & ~(31 << 24) | 4 << 24)),
    "A negated": ("bf16_n128", instruction_descriptor(lambda d: d | 1 << 13)),
    "sums of f16": ("bf16_n128", instruction_descriptor(lambda d: d & ~(3 << 4))),
    "a descriptor of wgmma": ("bf16_n128", shared_descriptor(46)),
    "twice the stride": ("bf16_n128", shared_descriptor(39)),
    "another swizzle": ("bf16_n128", shared_descriptor(63)),
    "no wait for the first tiles": ("bf16_n128", nth_wait(0, ALWAYS)),
    "no wait for the product before tiles are overwritten": ("bf16_n128", nth_wait(1, ALWAYS)),
    "no wait for tiles in the loop": ("bf16_n128", nth_wait(2, ALWAYS)),
    "no wait for the last product": ("bf16_n128", nth_wait(3, ALWAYS)),
    "the wrong phase of the first tiles": ("bf16_n128", flipped_wait(0)),
    "the wrong phase of the last product": ("bf16_n128", flipped_wait(3)),
    "no commit": ("bf16_n128", without(r"tcgen05\.commit")),
    "more bytes expected than come": ("bf16_n128", replace(r"(arrive\.expect_tx\S* _, \[[^\]]*\], )32768", r"\g<1>32784")),
    "fewer bytes expected than come": ("bf16_n128", replace(r"(arrive\.expect_tx\S* _, \[[^\]]*\], )32768", r"\g<1>32752")),
    "a barrier for two arrivals": ("bf16_n128", replace(r"(mbarrier\.init\S* \[[^\]]*\], )1;", r"\g<1>2;", 1)),
    "columns from another place": ("bf16_n128", replace(r"(tcgen05\.ld\S* \{[^}]*\}, \[%r\d+ \+ )(\d+)\]", lambda m: f"{m.group(1)}{int(m.group(2)) + 1}]", 1)),
    "more columns freed than allocated": ("bf16_n128", replace(r"(tcgen05\.dealloc\S* %r\d+, )128", r"\g<1>256")),
    "columns that are not freed": ("bf16_n128", without(r"tcgen05\.dealloc")),
    "fewer columns than the sums have": ("bf16_n128", replace(r"(tcgen05\.(?:alloc|dealloc)\S* \[?%r\d+\]?, )128", r"\g<1>64")),
    "no fence before the result is stored by TMA": ("bf16_n128", without(r"fence\.proxy\.async")),
    "no wait for the store by TMA": ("bf16_n128", without(r"cp\.async\.bulk\.wait_group \t0")),
    "no barriers of the block": ("bf16_n128", without(r"bar\.sync")),
    "no fence of an operand that threads write": ("sums_of_b", without(r"fence\.proxy\.async")),
    "no wait for stores to tensor memory": ("sums_of_a", without(r"tcgen05\.wait::st")),
    "scales that are not copied": ("mxfp8", without(r"tcgen05\.cp")),
    "scales of another step of K": ("mxfp8", instruction_descriptor(lambda d: d ^ 1 << 29)),
    "no commit with roles": ("bf16_roles", without(r"tcgen05\.commit", 1)),
}

shared = {}


def start(library, folder):
    shared["simulator"], shared["folder"] = simulator.Simulator(library, 100), folder


def settings():
    return [(seed, lateness) for seed in SEEDS for lateness in simulator.KINDS_OF_LATENESS]


def run(name):
    """(name, what it says, whether that is right): the first setting that finds the fault."""
    program_name, edit = FAULTS[name] if name in FAULTS else (name, lambda ptx: ptx)
    path = shared["folder"] / f"{program_name}.json"
    try:
        program = programs.Program(path, edit(path.with_suffix(".ptx").read_text()))
    except ValueError as error:
        return name, f"cannot be planted: {error}", False
    found = []
    for seed, lateness in settings():
        result = program.run(shared["simulator"], seed, lateness)
        if result != programs.RIGHT:
            found.append(f"seed {seed}, lateness {lateness}: {result}")
            break
    if name not in FAULTS:
        return name, found[0] if found else "right", not found
    return name, found[0] if found else "not found", bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("--library")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--xml", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    needed = sorted({program for program, _ in FAULTS.values()})
    if options.programs:
        print("\n".join(needed))
        return 0
    results = []
    with multiprocessing.get_context("spawn").Pool(2, start, [options.library, options.folder]) as pool:
        for name, said, is_right in pool.imap_unordered(run, options.names or [*needed, *FAULTS]):
            results.append((name, [] if is_right else [said], 0.0))
            print(f"{'ok  ' if is_right else 'FAIL'} {name:55} {said.splitlines()[0][:150]}", flush=True)
    if options.xml:
        options.xml.parent.mkdir(parents=True, exist_ok=True)
        foreign_test.write_xml(options.xml, sorted(results))
    failed = sum(bool(wrong) for _, wrong, _ in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
