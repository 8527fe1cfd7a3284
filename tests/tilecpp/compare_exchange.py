"""What the kernels of compare_exchange.cu do, element by element."""

import struct

from harness import bools, case, f16, f32, f64, i16, i32, i64, u32, u64

NAN = float("nan")


def same(a, b):
    """As the memory holds them: NaN equals itself, and 0 is not -0."""
    return struct.pack("d", a) == struct.pack("d", b) if isinstance(a, float) else a == b


def exchange(p, expected, desired, old):
    for i in range(8):
        old[i] = p[i]
        if same(p[i], expected[i]):
            p[i] = desired[i]


INTEGERS = dict(p=[0, 1, 2, 3, -1, 5, 6, 7], expected=[0, 0, 2, -3, -1, 5, 7, 7], desired=[10, 11, -12, 13, 14, -15, 16, 0])
FLOATS = dict(p=[0.0, -0.0, NAN, 1.5, NAN, -0.0, 2.0, 0.1], expected=[-0.0, -0.0, NAN, 1.5, 1.0, 0.0, NAN, 0.1],
              desired=[1.0, 2.0, 3.0, NAN, 5.0, 6.0, 7.0, -0.0])
for name, make, values in (("int", i32, INTEGERS), ("unsigned int", u32, INTEGERS), ("long long", i64, INTEGERS),
                           ("unsigned long long", u64, INTEGERS), ("float", f32, FLOATS), ("double", f64, FLOATS)):
    case("exchange<%s>" % name, **{n: make(v) for n, v in values.items()}, old=make(8),
         says=["atomic_cas_tko acq_rel device"])(exchange)


@case(p=i32(range(8)), expected=i32([0, 9, 2, 9, 4, 9, 6, 9]), desired=i32(range(20, 28)), mask=bools([1, 1, 0, 0, 1, 1, 0, 0]),
      old=i32(8))
def masked(p, expected, desired, mask, old):
    for i in range(8):
        old[i] = p[i] if mask[i] else expected[i]
        if mask[i] and p[i] == expected[i]:
            p[i] = desired[i]


@case(p=i32([0] * 8), mask=i32([256, 0]), old=i32(8), says=["atomic_cas_tko relaxed sys"])
def int_row_mask(p, mask, old):
    for i in range(8):
        old[i] = 0
        if mask[i % 2]:
            p[i] = i + 1


@case("widened", p=i64([-1, 2**32 - 1, 5, 6]), expected=i32([-1, -1, 5, 7]), desired=i16([-2, 1, -32768, 3]), old=i64(4))
@case("widened_double", p=f64([0.5, 0.1, -0.0, 3.0]), expected=f32([0.5, 0.1, -0.0, 3.0]), desired=f16([0.1, 1.0, 2.0, 65504.0]),
      old=f64(4))
def widened(p, expected, desired, old):
    for i in range(4):
        old[i] = p[i]
        if same(p[i], expected[i]):
            p[i] = desired[i]


@case(p=f32(FLOATS["p"]), expected=f32(FLOATS["expected"]), desired=f32(FLOATS["desired"]), done=bools(8))
def success(p, expected, desired, done):
    for i in range(8):
        done[i] = same(p[i], expected[i])
        if done[i]:
            p[i] = desired[i]


@case(grid=64, counters=i32([0, 10, 0, 0]))
def count(counters):
    for _ in range(64):
        for i in range(4):
            counters[i] = counters[i] + 1 + i


@case(grid=2, p=i32([5]), out=i32(1), full="vm.race")
def failed(p, out):
    out[0] = p[0]
