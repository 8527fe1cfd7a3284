"""What the kernels of updates.h do, element by element, for each operation and its types."""

import itertools

from harness import bools, case, f16, f32, f64, i16, i32, i64, u32, u64

INTEGERS = [("int", i32, 32, True), ("unsigned int", u32, 32, False), ("long long", i64, 64, True),
            ("unsigned long long", u64, 64, False)]
FLOATS = {"float": f32, "double": f64, "__half": f16}
WRITTEN = {"and": "and", "or": "or", "xor": "xor", "add": "add", "sub": "add", "xchg": "xchg"}


def extremes(bits, signed):
    """Numbers at the ends of a type, and some within it."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return [low, high, low + 1, 0, 1, 12345, high - 7, high >> 1]


def add_cases(name, combine, order, floats=()):
    """The cases of atomic_`name`.cu. combine(k, v): what becomes of a value k in memory."""

    def update(p, values, old):
        for i in range(8):
            old[i] = p[i]
            p[i] = combine(p[i], values[i])

    def masked(p, values, mask, old):
        for i in range(8):
            old[i] = p[i] if mask[i] else -1
            if mask[i]:
                p[i] = combine(p[i], values[i])

    def row_mask(p, mask):
        for i in range(8):
            if mask[i % 2]:
                p[i] = combine(p[i], 3 * i)

    def widened(p, values, old):
        for i in range(4):
            old[i] = p[i]
            p[i] = combine(p[i], values[i])

    def contended(p, values):
        for i in range(len(values)):
            p[i % 2] = combine(p[i % 2], values[i])

    def exchanged(p, values, old):
        pass

    def every_value_once(p, values, old):
        """Of an exchange: what was in memory, what went in: each comes out once or is there in the end."""
        return all(sorted(old.values[k::2] + [p[k]]) == sorted(values.values[k::2] + [-1 - k]) for k in range(2))

    for loop in (update, masked, row_mask, widened, contended, exchanged):
        loop.__module__ = "atomic_" + name
    rmw = "atomic_rmw_tko %s device" % order
    for cpp, make, bits, signed in INTEGERS:
        p = extremes(bits, signed)
        written = WRITTEN.get(name, name if signed else "u" + name)
        case("update<%s>" % cpp, p=make(p), values=make(p[3:] + p[:3]), old=make(8), says=[rmw, ", %s, " % written])(update)
        case("update<%s>" % cpp, p=make(p), values=make(reversed(p)), old=make(8))(update)
    for cpp in floats:
        make = FLOATS[cpp]
        p = [0.1, -0.0, float("inf"), 1e-7, 2048.0, -3.5, 1.0, 65504.0]
        values = [0.2, 0.0, 1.0, 6e-8, 1.0, 3.5, 2.0**-11, 16.0]
        case("update<%s>" % cpp, p=make(p), values=make(values), old=make(8),
             says=[rmw, ", xchg, " if name == "xchg" else ", addf, "])(update)
    case(p=i32(range(8)), values=i32([6, -5, 4, -3, 2, -1, 0, 9]), mask=bools([1, 1, 0, 1, 0, 0, 0, 1]), old=i32(8))(masked)
    case(p=i32([7, -1] * 4), mask=i32([0, 4096]), says=["atomic_rmw_tko %s sys" % order])(row_mask)
    case(p=i64([1 << 40, -1, 5, -(1 << 50)]), values=i16([-32768, 32767, -1, 3]), old=i64(4))(widened)
    values = i32(itertools.islice(itertools.cycle([0x5A5A5A5A, -2, 0x0F0F0FFF, -17, 1 << 30, 0x7FFFFFFF]), 64))
    if name == "xchg":
        case(grid=8, p=i32([-1, -2]), values=i32(range(128)), old=i32(128), outcome=every_value_once, left_open=["p", "old"])(exchanged)
    else:
        case(grid=4, p=i32([-1 if name in ("and", "min") else 0, 77]), values=values)(contended)
