"""What the kernels of load.cu do, element by element."""

from harness import bf16, bools, case, e4m3, e5m2, f16, f32, f64, i8, i16, i32, i64, u8, u32


@case(x=i32(range(16)), out=i32(4))
def worked(x, out):
    for i in range(4):
        out[i] = x[(2 + 9 * i) % 16]
    assert out.values == [2, 11, 4, 13]


@case(x=i32(range(10, 26)), at=i32([15, 3, 0, 7, 9, 12, 1, 4]), out=i32(8))
@case(x=i32(range(10, 26)), at=i32([3, 3, 0, 3, 9, 9, 1, 0]), out=i32(8))
@case(x=i32(range(10, 26)), at=i32([0, 1, 2, 3, 4, 5, 6, 16]), out=i32(8), traps="vm.out_of_bounds")
def gather(x, at, out):
    for i in range(8):
        out[i] = x[at[i]]


@case(x=i32([9, 8, 7, 6]), out=i32(1))
def single(x, out):
    out[0] = x[3]


@case(x=i32([2, 7, 5, 8]), mask=bools([1, 0, 0, 1]), out=i32(4))
@case(x=i32([2, 7, 5, 8]), mask=bools([0, 0, 0, 0]), out=i32(4))
def masked(x, mask, out):
    for i in range(4):
        out[i] = x[i] if mask[i] else -1


@case(x=i32([2, 7, 5, 8]), mask=bools([1, 0, 0, 1]), out=i32(4), full="vm.uninitialized")
@case(x=i32([2, 7, 5, 8]), mask=bools([1, 1, 1, 1]), out=i32(4))
def masked_used(x, mask, out):
    for i in range(4):
        out[i] = x[i]
        if not mask[i]:
            out.any(i)


@case(x=i32([2, 7, 5, 8]), mask=bools([1, 0, 0, 1]), pad=i32([-7, -3, -22, -100]), out=i32(4))
def padded(x, mask, pad, out):
    for i in range(4):
        out[i] = x[i] if mask[i] else pad[i]
    assert out.values == [2, -3, -22, 8]


@case("int_mask", x=i32(range(8)), mask=i32([0, 1, -1, 256, 1 << 31, 0, 2, 0]), out=i32(8))
@case("float_mask", x=i32(range(4)), mask=f32([0.0, -0.0, 1e-45, float("nan")]), out=i32(4))
def truth_mask(x, mask, out):
    for i in range(len(x)):
        out[i] = x[i] if mask[i] != 0 else -1


@case(x=i32(range(4)), mask=True, out=i32(4))
@case(x=i32(range(4)), mask=False, out=i32(4))
def scalar_mask(x, mask, out):
    for i in range(4):
        out[i] = x[i] if mask else -1


@case(x=i32(range(8)), mask=bools([0, 1]), out=i32(8))
def row_mask(x, mask, out):
    for i in range(8):
        out[i] = x[i] if mask[i % 2] else -1


@case(x=i32(range(8)), mask=bools([0, 1, 1, 0]), out=i32(8))
def column_mask(x, mask, out):
    for i in range(8):
        out[i] = x[i] if mask[i // 2] else -1


@case(x=f64(range(8)), mask=bools([0, 1] * 4), pad=f32([0.1, -0.0]), out=f64(8))
def row_padding(x, mask, pad, out):
    for i in range(8):
        out[i] = x[i] if mask[i] else pad[i % 2]


@case(x=i64([1 << 40, 2, 3, 4]), mask=bools([1, 0, 0, 1]), pad=i16([1, -2, 32767, 4]), out=i64(4))
def wider_padding(x, mask, pad, out):
    for i in range(4):
        out[i] = x[i] if mask[i] else pad[i]


@case(x=i32([1, 2, 3, 4]), mask=bools([1, 0, 0, 1]), out=i32(4), says=["default = {latency = 1}", "sm_90 = {latency = 10}"])
def latency(x, mask, out):
    for i in range(4):
        out[i] = x[i] * 100 + (x[i] if mask[i] else 7)


def copy(x, y, out):
    for i in range(8):
        out[i] = x[i]
        out[8 + i] = y[i]


NUMBERS = [0, 1, 2, 3, 97, 98, 126, 127]
for name, make, x in (
    ("bool", bools, [0, 1, 1, 0, 1, 0, 0, 1]), ("signed char", i8, range(-128, -120)), ("unsigned char", u8, range(248, 256)),
    ("short", i16, range(-32768, -32760)), ("unsigned int", u32, range(2**32 - 8, 2**32)),
    ("long long", i64, range(-(2**63), -(2**63) + 8)), ("__half", f16, [-0.0, 65504, 6e-8, 1.5, 2, 3, 4, 5]),
    ("__nv_bfloat16", bf16, range(0x7F7A, 0x7F82)), ("float", f32, [-0.0, 1e-45, 3e38, 0.1, 1, 2, 3, 4]),
    ("double", f64, [-0.0, 5e-324, 1e308, 0.1, 1, 2, 3, 4]), ("__nv_fp8_e4m3", e4m3, range(0x78, 0x80)),
    ("__nv_fp8_e5m2", e5m2, range(0x78, 0x80)),
):
    y = x if name == "bool" else NUMBERS
    case("copy<%s>" % name, x=make(x), y=make(y), out=make(16))(copy)
