"""What the kernels of store.cu do, element by element."""

from harness import bf16, bools, case, e4m3, f16, f32, f64, i16, i32, i64, u8


@case(value=i32(range(8)), at=i32([15, 3, 0, 7, 9, 12, 1, 4]), out=i32(16))
@case(value=i32(range(8)), at=i32([0, 1, 2, 3, 4, 5, 6, -1]), out=i32(16), traps="vm.out_of_bounds")
def scatter(value, at, out):
    for i in range(8):
        out[at[i]] = value[i]


@case(value=-5, out=i32(4))
def single(value, out):
    out[2] = value


@case("masked", mask=bools([1, 0, 0, 1]), out=i32(range(4)))
@case("atomic_masked", mask=bools([1, 0, 0, 1]), out=i32(range(4)), says=["store_ptr_tko relaxed device"])
def store_masked(mask, out):
    for i in range(4):
        if mask[i]:
            out[i] = -1
    assert out.values == [-1, 1, 2, -1]


@case("masked_nowhere", mask=bools([1, 0, 0, 1]), out=i32(4))
@case("masked_nowhere", mask=bools([0, 0, 0, 0]), out=i32(4))
@case("int_mask", mask=i32([1 << 31, 0, 256, -1]), out=i32(4))
def by_mask(mask, out):
    for i in range(4):
        if mask[i]:
            out[i] = i


@case(mask=bools([0, 1]), out=i32(8))
def row_mask(mask, out):
    for i in range(8):
        if mask[i % 2]:
            out[i] = i


@case(mask=True, out=i32(4))
@case(mask=False, out=i32(4))
def scalar_mask(mask, out):
    for i in range(4):
        if mask:
            out[i] = i


@case("widen<int, long long>", x=i32([-1, 2**31 - 1, -(2**31), 0]), out=i64(4))
@case("widen<unsigned char, short>", x=u8([255, 128, 0, 1]), out=i16(4))
@case("widen<bool, int>", x=bools([1, 0, 0, 1]), out=i32(4))
@case("widen<__half, float>", x=f16([65504, 6e-8, -0.0, 0.1]), out=f32(4))
@case("widen<float, double>", x=f32([3e38, 1e-45, -0.0, 0.1]), out=f64(4))
@case("atomic_widen", x=i16([-32768, 32767, 0, -1]), out=i32(4))
def widen(x, out):
    for i in range(4):
        out[i] = x[i]


def value_of_bf16(bits):
    return f32([0]).values[0] if bits & 0x7FFF == 0 else (-1) ** (bits >> 15) * 2.0 ** ((bits >> 7 & 255) - 127) * (1 + (bits & 127) / 128)


@case("widen<__nv_bfloat16, double>", x=bf16([0x3F80, 0xC049, 0x7F7F, 0]), out=f64(4))
def widen_bf16(x, out):
    for i in range(4):
        out[i] = value_of_bf16(x[i])


@case("widen<__nv_fp8_e4m3, __half>", x=e4m3([0x38, 0xC9, 0x7E, 0x01]), out=f16(4))
def widen_e4m3(x, out):
    for i in range(4):
        sign, exponent, fraction = x[i] >> 7, x[i] >> 3 & 15, x[i] & 7
        size = 2.0 ** (exponent - 7) * (1 + fraction / 8) if exponent else fraction * 2.0**-9
        out[i] = -size if sign else size


# By default one of the two is there; which one, nobody says.
@case(out=i32(4), full="vm.duplicate_store", outcome=lambda out: out[0] in (0, 1) and out[1] in (2, 3) and out[2] == out[3] == 85)
def twice(out):
    pass


@case(out=i32(4), outcome=lambda out: out[0] in (0, 1) and out[1] in (2, 3) and out[2] == out[3] == 85)
def atomic_twice(out):
    pass


@case(mask=bools([1, 0, 0, 1]), out=i32(8), says=["default = {latency = 3}", "default = {latency = 10}"])
def latency(mask, out):
    for i in range(4):
        out[i] = i + 5
        if mask[i]:
            out[4 + i] = i + 5


@case(grid=2, data=i32(range(8)))
def halves(data):
    for block in range(2):
        for i in range(8):
            if i % 2 == block:
                data[i] = data[i] + 10


@case(grid=2, data=i32(range(8)), full="vm.race")
def overlap(data):
    for block in range(2):
        for i in range(8):
            if i % 2 == block or i == 0:
                data[i] = i
