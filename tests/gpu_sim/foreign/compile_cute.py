"""Compiles the programs of cute_kernels.py, without a GPU:  compile_cute.py FOLDER [NAME]...

Run with PYTHONPATH naming the folder of nvidia-cutlass-dsl (third_party/blackwell/install.sh) and its nvidia_cutlass_dsl/python_packages. Files as
compile_triton.py writes them.
"""

import json
import os
import pathlib
import re
import sys
import tempfile
import traceback

DUMPS = tempfile.mkdtemp()
os.environ.update(CUTE_DSL_ARCH="sm_100a", CUTE_DSL_KEEP="ptx", CUTE_DSL_DUMP_DIR=DUMPS)

import cute_kernels  # noqa: E402  (reads the environment when it is loaded)
import cutlass  # noqa: E402
from cutlass import cute  # noqa: E402
from cutlass.cute.runtime import make_fake_compact_tensor  # noqa: E402

# CUtensorMapDataType and bytes of an element.
TYPES = {"f16": (cutlass.Float16, 6, 2), "bf16": (cutlass.BFloat16, 9, 2), "e4m3": (cutlass.Float8E4M3FN, 0, 1), "e5m2": (cutlass.Float8E5M2, 0, 1),
         "i8": (cutlass.Int8, 0, 1), "f32": (cutlass.TFloat32, 7, 4)}
SHARED_BYTES = 227 * 1024
SWIZZLE_128 = 3


def product(operand, tile, cluster, m, n, k, a_columns=False, b_rows=False, stages=3):
    """a_columns, b_rows: the contiguous dimension is M of A, N of B."""
    return {"operand": operand, "tile": tile, "cluster": cluster, "stages": stages, "m": m, "n": n, "k": k, "a_columns": a_columns, "b_rows": b_rows}


PROGRAMS = {
    "f16_128x256": product("f16", (128, 256), (1, 1), 128, 512, 192),
    "f16_128x64": product("f16", (128, 64), (1, 1), 128, 128, 256),
    "bf16_64x128": product("bf16", (64, 128), (1, 1), 128, 128, 192),
    "bf16_b_rows": product("bf16", (128, 128), (1, 1), 128, 128, 192, b_rows=True),
    "bf16_a_columns": product("bf16", (128, 128), (1, 1), 128, 128, 192, a_columns=True),
    "e4m3_128x128": product("e4m3", (128, 128), (1, 1), 128, 256, 384),
    "e5m2_128x64": product("e5m2", (128, 64), (1, 1), 128, 64, 256),
    "i8_128x128": product("i8", (128, 128), (1, 1), 128, 128, 384),
    "i8_64x32": product("i8", (64, 32), (1, 1), 64, 64, 256),
    "tf32_128x128": product("f32", (128, 128), (1, 1), 128, 128, 96),
    "pair_f16_256x256": product("f16", (256, 256), (2, 1), 256, 256, 192),
    "pair_f16_256x128": product("f16", (256, 128), (2, 1), 512, 128, 256),
    "pair_bf16_128x128": product("bf16", (128, 128), (2, 1), 128, 256, 192),
    "pair_bf16_b_rows": product("bf16", (256, 128), (2, 1), 256, 128, 128, b_rows=True),
    "pair_e4m3_256x128": product("e4m3", (256, 128), (2, 1), 256, 128, 384),
    "pair_i8_256x64": product("i8", (256, 64), (2, 1), 256, 64, 256),
    "pair_tf32_256x64": product("f32", (256, 64), (2, 1), 256, 64, 96),
    "multicast_b": product("f16", (64, 128), (2, 1), 128, 128, 192),
    "multicast_a": product("f16", (128, 64), (1, 2), 128, 128, 192),
    "multicast_pairs": product("f16", (256, 128), (4, 1), 512, 128, 192),
    "multicast_pairs_and_columns": product("bf16", (256, 64), (2, 2), 256, 128, 192),
}


def operand_map(argument, rows, k, transposed, box_rows, depth, data_type, element_bytes):
    inner = 128 // element_bytes
    if transposed:
        return {"map": argument, "sizes": [rows, k], "box": [inner, depth], "element_bytes": element_bytes, "type": data_type, "swizzle": SWIZZLE_128}
    return {"map": argument, "sizes": [k, rows], "box": [inner, box_rows], "element_bytes": element_bytes, "type": data_type, "swizzle": SWIZZLE_128}


def launch_of(p, ptx):
    """Parameters: flags of the product, maps of A and B, the address of C."""
    _, data_type, element_bytes = TYPES[p["operand"]]
    members = 2 if p["cluster"][0] % 2 == 0 and p["tile"][0] in (128, 256) else 1
    depth = 128 // element_bytes
    rows_a = p["tile"][0] // members // p["cluster"][1]
    rows_b = p["tile"][1] // members // (p["cluster"][0] // members)
    sizes = [int(n) for n in re.findall(r"\.param\s+(?:\.align \d+ )?\.b8 \w+\[(\d+)\]", ptx[ptx.index(".entry"):].split(")", 1)[0])]
    flags = sizes[0] if sizes[0] < 128 else 0
    parameters = [{"bytes": [0] * flags}] if flags else []
    parameters += [operand_map(0, p["m"], p["k"], p["a_columns"], rows_a, depth, data_type, element_bytes),
                   operand_map(1, p["n"], p["k"], p["b_rows"], rows_b, depth, data_type, element_bytes), {"argument": 2}]
    out = "i32" if p["operand"] == "i8" else "f32"
    problem = {"name": "matmul", "operand": p["operand"], "out": out, "m": p["m"], "n": p["n"], "k": p["k"], "a_transposed": p["a_columns"],
               "b_transposed": not p["b_rows"]}
    grid = [p["m"] // (p["tile"][0] // members), p["n"] // p["tile"][1], 1]
    return {"problem": problem, "parameters": parameters, "grid": grid, "threads": cute_kernels.THREADS, "shared": SHARED_BYTES,
            "cluster": [*p["cluster"], 1], "ptxas_waits": True}


def compile_one(folder, name, p):
    operand = TYPES[p["operand"]][0]
    total = cutlass.Int32 if p["operand"] == "i8" else cutlass.Float32
    kernel = cute_kernels.Product(operand, total, p["tile"], p["cluster"], p["stages"])
    a = make_fake_compact_tensor(operand, (p["m"], p["k"], 1), stride_order=(0, 1, 2) if p["a_columns"] else (1, 0, 2), assumed_align=16)
    b = make_fake_compact_tensor(operand, (p["n"], p["k"], 1), stride_order=(0, 1, 2) if p["b_rows"] else (1, 0, 2), assumed_align=16)
    c = make_fake_compact_tensor(total, (p["m"], p["n"], 1), stride_order=(1, 0, 2), assumed_align=16)
    for old in pathlib.Path(DUMPS).glob("*.ptx"):  # of a kernel that may have the same name
        old.unlink()
    cute.compile(kernel, a, b, c, options="--gpu-arch sm_100a")
    (dump,) = pathlib.Path(DUMPS).glob("*.ptx")
    ptx = dump.read_text().rstrip("\0")
    (folder / f"{name}.ptx").write_text(ptx)
    (folder / f"{name}.json").write_text(json.dumps(launch_of(p, ptx)))


def main():
    folder = pathlib.Path(sys.argv[1])
    failed = 0
    for name, p in PROGRAMS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        try:
            compile_one(folder, name, p)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:2000]}", file=sys.stderr)
            if os.environ.get("TRACEBACK"):
                traceback.print_exc()
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
