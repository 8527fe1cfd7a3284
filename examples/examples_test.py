"""Every example against NumPy.

    examples_test.py TILEVM EXAMPLE.tile...
    examples_test.py TILEVM --on="--device=cuda --images FOLDER" EXAMPLE.tile...      in this way in place of the others

Each example must have cases here. It must verify without a warning, and each case must give what NumPy computes with
--check=bounds and --check=full, on one thread and on two, and the same bytes each time unless the program leaves the
order of float additions open.
"""

import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

RUNS = [["--check=" + check, "--threads", threads] for check in ("bounds", "full") for threads in ("1", "2")]


class Bf16:
    """An array of bf16, which NumPy lacks: rounded from f32, in a file of plain bytes."""

    def __init__(self, values):
        bits = values.astype(np.float32).view(np.uint32)
        self.bits = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
        self.values = (self.bits.astype(np.uint32) << 16).view(np.float32)


class Png:
    """A grey picture in a PNG file."""

    def __init__(self, pixels):
        self.pixels = pixels


class Case:
    """One launch: inputs, the expected outputs by name in the interface's order, and how far results may be off."""

    def __init__(self, inputs, outputs, rtol=0.0, atol=0.0, arguments=(), any_order=False):
        self.inputs = inputs
        self.outputs = outputs
        self.rtol = rtol
        self.atol = atol
        self.arguments = arguments
        self.any_order = any_order


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, pixels):
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        f.write(png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)))
        f.write(png_chunk(b"IDAT", zlib.compress(rows)))
        f.write(png_chunk(b"IEND", b""))


def unfilter(kind, row, above):
    """Undoes a PNG row's filter for one byte a pixel."""
    out = bytearray(len(row))
    for x, byte in enumerate(row):
        a, b, c = (out[x - 1], above[x], above[x - 1]) if x else (0, above[x], 0)
        paeth = min((a, b, c), key=lambda v: abs(a + b - c - v))
        out[x] = (byte + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
    return out


def read_png(path):
    with open(path, "rb") as f:
        data = f.read()
    at, body = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
            assert (depth, colour) == (8, 0), "not a grey picture of 8 bits"
        if kind == b"IDAT":
            body += chunk
        at += size + 12
    body = zlib.decompress(body)
    rows, above = [], bytes(width)
    for y in range(height):
        row = body[y * (width + 1) : (y + 1) * (width + 1)]
        above = unfilter(row[0], row[1:], above)
        rows.append(np.frombuffer(bytes(above), np.uint8))
    return np.stack(rows)


# The cases. Random values are fixed by the seed of `rng`.


def vector_add(rng):
    for n in (1, 4096, 10001):
        a, b = rng.random(n, np.float32), rng.random(n, np.float32)
        yield Case([a, b], {"c": a + b})


def histogram(rng):
    for n in (1, 4096, 300001):
        data = rng.integers(0, 256, n).astype(np.uint8)
        data[: n // 2] = 255
        yield Case([data], {"bins": np.bincount(data, minlength=256).astype(np.int32)})


def matrices(rng):
    for m, n, k in ((1, 1, 1), (128, 128, 64), (130, 70, 100)):
        yield rng.random((m, k), np.float32), rng.random((k, n), np.float32)


def matmul(rng):
    for a, b in matrices(rng):
        yield Case([a, b], {"c": a.astype(np.float64) @ b}, rtol=1e-5)


def matmul_f16(rng):
    for a, b in matrices(rng):
        a, b = a.astype(np.float16), b.astype(np.float16)
        yield Case([a, b], {"c": a.astype(np.float64) @ b.astype(np.float64)}, rtol=1e-5)


def matmul_bf16(rng):
    for a, b in matrices(rng):
        a, b = Bf16(a), Bf16(b)
        yield Case([a, b], {"c": a.values.astype(np.float64) @ b.values}, rtol=1e-5)


def softmax(rng):
    for m, n in ((1, 1), (5, 1000), (4, 4096)):
        x = rng.standard_normal((m, n)).astype(np.float32) * 10
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        yield Case([x], {"y": e / e.sum(axis=1, keepdims=True)}, rtol=1e-5)


def layer_norm(rng):
    for m, n, epsilon in ((1, 1, 1e-5), (3, 1000, 1e-5), (2, 4096, 0.5)):
        x = rng.random((m, n), np.float32) * 3 + 100
        weight, bias = rng.random(n, np.float32), rng.random(n, np.float32)
        wide = x.astype(np.float64)
        normal = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + epsilon)
        arguments = () if epsilon == 1e-5 else ("--arg", "epsilon=%s" % epsilon)
        yield Case([x, weight, bias], {"y": normal * weight + bias}, atol=1e-3, arguments=arguments)


def attention(rng):
    for heads, queries, keys, scale in ((1, 1, 1, 0.125), (2, 130, 100, 0.125), (1, 128, 192, 1.0)):
        q, k, v = (rng.standard_normal((heads, n, 64)).astype(np.float32) for n in (queries, keys, keys))
        score = q.astype(np.float64) @ k.transpose(0, 2, 1) * scale
        weight = np.exp(score - score.max(axis=2, keepdims=True))
        arguments = () if scale == 0.125 else ("--arg", "scale=%s" % scale)
        expected = weight / weight.sum(axis=2, keepdims=True) @ v
        yield Case([q, k, v], {"y": expected}, atol=1e-5, rtol=1e-5, arguments=arguments)


def prefix_sum(rng):
    for n in (1, 4096, 4097, 100000):
        x = rng.integers(-(2**31), 2**31, n).astype(np.int32)
        yield Case([x], {"sums": np.cumsum(x, dtype=np.int32)})


def sobel(rng):
    for height, width in ((1, 1), (32, 128), (50, 201)):
        image = rng.integers(0, 256, (height, width)).astype(np.uint8)
        image[: height // 2, : width // 3] = 7
        p = np.pad(image, 1, mode="edge").astype(np.int64)
        rows = p[:-2] + 2 * p[1:-1] + p[2:]
        columns = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
        length = np.hypot(rows[:, 2:] - rows[:, :-2], columns[2:] - columns[:-2])
        yield Case([Png(image)], {"edges": Png(np.minimum(length, 255).astype(np.uint8))})


def stencil(rng):
    for m, n in ((1, 1), (2, 5), (32, 32), (33, 100), (100, 31)):
        x = rng.random((m, n), np.float32)
        y = x.copy()
        if m > 2 and n > 2:
            around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
            y[1:-1, 1:-1] = around * np.float32(0.25) - x[1:-1, 1:-1]
        yield Case([x], {"y": y})


def scatter_add(rng):
    for m, n, rows in ((1, 1, 1), (64, 64, 5), (150, 100, 40)):
        index = rng.integers(0, rows, m).astype(np.int32)
        values, table = rng.random((m, n), np.float32), rng.random((rows, n), np.float32)
        expected = table.astype(np.float64)
        np.add.at(expected, index, values)
        yield Case([index, values, table], {"table": expected}, rtol=1e-5, any_order=True)


def float_max(rng):
    for n in (1, 4096, 50000):
        x = -rng.random(n, np.float32)
        yield Case([x], {"greatest": x.max(keepdims=True)})
    x[::3] = np.nan
    yield Case([x], {"greatest": np.nanmax(x, keepdims=True)})


def lock(rng):
    for n in (1, 4096, 50000):
        x = rng.integers(-1000, 1000, n).astype(np.float32)  # The greatest occurs often.
        place = np.array([np.argmax(x)])
        yield Case([x], {"greatest": x[place], "place": place})


def transpose(rng):
    for m, n in ((1, 1), (128, 256), (130, 300)):
        x = rng.random((m, n), np.float32)
        yield Case([x], {"y": x.T})


def row_sum(rng):
    for m, n in ((1, 1), (16, 256), (37, 1000)):
        x = rng.random((m, n), np.float32)
        yield Case([x], {"sums": x.sum(axis=1, dtype=np.float64)}, rtol=1e-5)


def gelu(rng):
    for n in (1, 4096, 5000):
        x = rng.standard_normal(n).astype(np.float32) * 3
        wide = x.astype(np.float64)
        expected = wide / 2 * (1 + np.array([math.erf(v) for v in wide / np.sqrt(2)]))
        yield Case([x], {"y": expected}, atol=1e-6, rtol=1e-6)


def gelu_tanh(rng):
    for n in (1, 4096, 5000):
        x = rng.standard_normal(n).astype(np.float32) * 3
        wide = x.astype(np.float64)
        expected = wide / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
        yield Case([x], {"y": expected}, atol=1e-6, rtol=1e-5)


def swiglu(rng):
    for m, n in ((1, 1), (8, 512), (9, 700)):
        gate, up = (Bf16(rng.standard_normal((m, n)).astype(np.float32) * 4) for _ in range(2))
        wide = gate.values.astype(np.float64)
        yield Case([gate, up], {"y": Bf16(wide / (1 + np.exp(-wide)) * up.values)}, rtol=2**-7)


CASES = {
    "attention": attention,
    "float_max": float_max,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "histogram": histogram,
    "histogram_shared": histogram,
    "layer_norm": layer_norm,
    "lock": lock,
    "matmul": matmul,
    "matmul_bf16": matmul_bf16,
    "matmul_f16": matmul_f16,
    "prefix_sum": prefix_sum,
    "row_sum": row_sum,
    "scatter_add": scatter_add,
    "sobel": sobel,
    "softmax": softmax,
    "stencil": stencil,
    "swiglu": swiglu,
    "transpose": transpose,
    "vector_add": vector_add,
}


def write_input(directory, number, value):
    """Writes an input to a file and returns its name on the command line."""
    path = os.path.join(directory, "input%d" % number)
    if isinstance(value, Bf16):
        value.bits.tofile(path + ".bin")
        return "%s.bin:bf16[%s]" % (path, ",".join(map(str, value.bits.shape)))
    if isinstance(value, Png):
        write_png(path + ".png", value.pixels)
        return path + ".png"
    np.save(path + ".npy", value)
    return path + ".npy"


def read_output(path, expected):
    """The values of an output, and those expected."""
    if isinstance(expected, Bf16):
        got = Bf16(np.zeros(0))
        got.bits = np.fromfile(path, np.uint16).reshape(expected.bits.shape)
        return (got.bits.astype(np.uint32) << 16).view(np.float32), expected.values
    if isinstance(expected, Png):
        return read_png(path), expected.pixels
    return np.load(path), expected


def difference(case, got, expected):
    """None, or what is wrong."""
    if got.shape != expected.shape:
        return "shape %s, not %s" % (got.shape, expected.shape)
    wrong = ~(np.abs(got.astype(np.float64) - expected) <= case.atol + case.rtol * np.abs(expected))
    if not wrong.any():
        return None
    first = tuple(int(i[0]) for i in np.nonzero(wrong))
    return "%d of %d wrong, first at %s: %s, not %s" % (wrong.sum(), wrong.size, first, got[first], expected[first])


ROUNDED = re.compile(r": warning\[vm\.order\]: `\w+`\[[\d, ]*\] is rounded by the order of blocks: ")


def call(command, any_order=False):
    """None, or what went wrong. A message of any kind is wrong. `any_order`: sums of floats may be rounded in the order of the blocks."""
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        return "exit %d\n%s" % (run.returncode, run.stdout[-2000:])
    said = ROUNDED.sub("", run.stdout) if any_order else run.stdout
    return "says\n" + run.stdout[-2000:] if "warning" in said or "error" in said else None


def check_case(tilevm, kernel, case, directory):
    """Runs a case in every way; yields what is wrong."""
    inputs = [write_input(directory, i, value) for i, value in enumerate(case.inputs)]
    bytes_before = {}
    for options in RUNS:
        where = " ".join(options) + ": "
        command = [tilevm, "run", kernel, *inputs, *options, *case.arguments]
        paths = {}
        for name, expected in case.outputs.items():
            extension = {Bf16: "bin", Png: "png"}.get(type(expected), "npy")
            paths[name] = os.path.join(directory, "%s.%s" % (name, extension))
            command += ["-o", "%s=%s" % (name, paths[name])]
        wrong = call(command, case.any_order)
        if wrong:
            yield where + wrong
            continue
        for name, expected in case.outputs.items():
            got, values = read_output(paths[name], expected)
            wrong = difference(case, got, values)
            if wrong:
                yield "%s%s: %s" % (where, name, wrong)
            if not case.any_order and bytes_before.setdefault(name, got.tobytes()) != got.tobytes():
                yield "%s%s: not the same as in the first run" % (where, name)


def check_example(tilevm, kernel):
    """Yields what is wrong; prints how many cases ran."""
    name = os.path.splitext(os.path.basename(kernel))[0]
    if name not in CASES:
        yield "has no case in examples_test.py"
        return
    wrong = call([tilevm, "verify", kernel])
    if wrong:
        yield "verify: " + wrong
        return
    count = 0
    for number, case in enumerate(CASES[name](np.random.default_rng(1))):
        with tempfile.TemporaryDirectory() as directory:
            for wrong in check_case(tilevm, kernel, case, directory):
                yield "case %d: %s" % (number, wrong)
        count += 1
    if count == 0:
        yield "has no case in examples_test.py"
    print("%s: %d cases, %d runs each" % (name, count, len(RUNS)))


def main():
    tilevm, kernels = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if kernels and kernels[0].startswith("--on="):
        RUNS[:] = [kernels.pop(0).removeprefix("--on=").split()]
    if not kernels:
        sys.exit("no examples")
    failures = 0
    for kernel in kernels:
        for wrong in check_example(tilevm, kernel):
            failures += 1
            print("%s: %s" % (kernel, wrong))
    names = {os.path.splitext(os.path.basename(kernel))[0] for kernel in kernels}
    for name in sorted(set(CASES) - names):
        failures += 1
        print("%s: has cases, but there is no such example" % name)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
