"""What the kernels of views.cu do, element by element."""

from harness import case, f32, i32

INF, NAN = float("inf"), float("nan")


@case(grid=4, x=i32(range(16)), out=i32(16), n=16, says=["load_view_tko weak", "inbounds"])
def whole(x, out, n):
    for i in range(n):
        out[i] = 2 * x[i]


@case(grid=3, x=f32(range(10)), out=f32(10), n=10)
@case(grid=3, x=f32(range(12)), out=f32(12), n=10)
def at_the_end(x, out, n):
    for i in range(n):
        out[i] = x[i] + 1


@case(grid=4, x=i32(range(18)), out=i32(18), rows=3)
def two_dimensions(x, out, rows):
    for i in range(rows):
        for j in range(6):
            out[6 * i + j] = x[6 * i + j] + 100


@case(x=f32([1.5, -2.5, 99, 99]), out=f32(20))
def paddings(x, out):
    for i, padding in enumerate((0.0, -0.0, INF, -INF, NAN)):
        for j in range(4):
            out[4 * i + j] = x[j] if j < 2 else padding


@case(grid=4, x=i32(range(16)), out=i32(16), says=["strided_view<tile=(4), traversal_strides=[2]"])
def overlapping(x, out):
    for block in range(4):
        for j in range(4):
            out[4 * block + j] = x[2 * block + j]


@case(grid=2, x=i32(range(8)), out=i32(8), n=8, says=["load_view_tko acquire device", "store_view_tko release device"])
def atomic(x, out, n):
    for i in range(n):
        out[i] = x[i]


@case(grid=6, x=i32(range(24)), out=i32([0] * 8), n=24, says=["atomic_red_view_tko relaxed device", ", add, "])
def sums(x, out, n):
    for i in range(n):
        to = i // 4 % 2 * 4 + i % 4
        if to < 6:
            out[to] = out[to] + x[i]


@case(grid=4, x=i32([5, -3, 2, 9] * 4), out=i32([0, 0, 0, 0, -9, -9, 99, 7]), n=16, says=[", max, "])
def maxima(x, out, n):
    for i in range(n):
        to = i // 4 % 2 * 4 + i % 4
        out[to] = max(out[to], x[i])


@case(grid=2, x=i32(range(8)), out=i32(8), n=8, says=["default = {allow_tma = false, latency = 3}", "sm_90 = {allow_tma = true}"])
def hints(x, out, n):
    for i in range(n):
        out[i] = x[i]
