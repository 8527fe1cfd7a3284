"""Compiles the programs of triton_kernels.py, without a GPU:  compile_triton.py FOLDER [NAME]...

Run with PYTHONPATH naming the folder of a release of Triton (third_party/blackwell/install.sh). For each program it writes FOLDER/NAME.ptx and
NAME.json, which says how to launch it and what it computes (problems.py).
"""

import json
import pathlib
import sys

import triton_kernels as kernels
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

TYPES = {"bf16": "*bf16", "f16": "*fp16", "e4m3": "*fp8e4nv", "e5m2": "*fp8e5", "f32": "*fp32"}
SUMS = {"f32": kernels.tl.float32, "f16": kernels.tl.float16}


def matmul(kernel, operand, out, bm, bn, bk, m, n, k, constants=None, options=None, blocks=None, **problem):
    """A product of one of the kernels whose parameters are A, B, C, M, N, K."""
    return {
        "kernel": kernel,
        "signature": [TYPES[operand], TYPES[operand], TYPES[out], "i32", "i32", "i32"],
        "constants": {"BM": bm, "BN": bn, "BK": bk, **(constants or {})},
        "options": {"num_warps": 4, "num_stages": 3, **(options or {})},
        "problem": {"name": "matmul", "operand": operand, "out": out, "m": m, "n": n, "k": k, **problem},
        "grid": blocks or (m // bm) * (n // bn),
    }


def by_tma(operand, out, bm, bn, bk, m, n, k, at=False, bt=True, ws=False, total="f32", **rest):
    constants = {"WS": ws, "AT": at, "BT": bt, "SUM": SUMS[total]}
    return matmul("matmul", operand, out, bm, bn, bk, m, n, k, constants, a_transposed=at, b_transposed=bt, **rest)


def attention(d, ws, causal, n=256, bm=128, bn=128, operand="f16", warps=4):
    return {
        "kernel": "attention",
        "signature": [TYPES[operand]] * 4 + ["i32", "fp32"],
        "constants": {"BM": bm, "BN": bn, "D": d, "WS": ws, "CAUSAL": causal},
        "options": {"num_warps": warps, "num_stages": 2},
        "problem": {"name": "attention", "operand": operand, "n": n, "d": d, "causal": causal},
        "grid": n // bm,
    }


def scaled(format_, scale, block, bn, stages=3, m=128, n=256, k=512, bk=128, in_rows=False):
    """dot_scaled with the same format for A and B, `bk` bytes along K."""
    pack = 2 if format_ == "e2m1" else 1
    operand = "*u8" if pack == 2 else TYPES[format_]
    scales = "*u8" if scale == "ue8m0" else "*fp8e4nv"
    return {
        "kernel": "matmul_scaled_rows" if in_rows else "matmul_scaled",
        "signature": [operand, scales, operand, scales, "*bf16", "i32", "i32", "i32"],
        "constants": {"BM": 128, "BN": bn, "BK": bk * pack, "FORMAT": format_, "PACK": pack, "BLOCK": block, "STAGES": stages},
        "options": {"num_warps": 4, "num_stages": stages},
        "problem": {"name": "scaled", "operand": format_, "scale": scale, "block": block, "out": "bf16", "m": m, "n": n, "k": k,
                    "in_rows": in_rows},
        "grid": (m // 128) * (n // bn),
    }


PROGRAMS = {
    "pointers_bf16": matmul("matmul_pointers", "bf16", "bf16", 128, 128, 64, 128, 256, 192, options={"num_stages": 4}, b_transposed=True),
    "pointers_f16_eight_warps": matmul("matmul_pointers", "f16", "f16", 128, 128, 64, 128, 128, 128, options={"num_warps": 8}, b_transposed=True),
    "pointers_e4m3": matmul("matmul_pointers", "e4m3", "bf16", 128, 128, 128, 128, 128, 256, b_transposed=True),
    "bf16": by_tma("bf16", "bf16", 128, 256, 64, 128, 512, 256),
    "bf16_roles": by_tma("bf16", "bf16", 128, 256, 64, 128, 512, 256, ws=True),
    "bf16_n128": by_tma("bf16", "bf16", 128, 128, 64, 256, 128, 192),
    "bf16_n64": by_tma("bf16", "f32", 128, 64, 64, 128, 128, 192),
    "bf16_n32": by_tma("bf16", "f32", 128, 32, 64, 128, 64, 128),
    "bf16_k32": by_tma("bf16", "bf16", 128, 128, 32, 128, 128, 160),
    "bf16_k128": by_tma("bf16", "bf16", 128, 128, 128, 128, 128, 256, options={"num_stages": 2}),
    "bf16_m64": by_tma("bf16", "bf16", 64, 128, 64, 128, 128, 192),
    "bf16_m64_n256": by_tma("bf16", "bf16", 64, 256, 64, 64, 256, 128),
    "bf16_m256": by_tma("bf16", "bf16", 256, 128, 64, 256, 128, 128, options={"num_warps": 8}),
    "bf16_eight_warps": by_tma("bf16", "bf16", 128, 256, 64, 128, 256, 128, options={"num_warps": 8}),
    "bf16_four_stages": by_tma("bf16", "bf16", 128, 128, 64, 128, 128, 384, options={"num_stages": 4}),
    "bf16_one_stage": by_tma("bf16", "bf16", 128, 128, 64, 128, 128, 192, options={"num_stages": 1}),
    "bf16_b_rows": by_tma("bf16", "bf16", 128, 128, 64, 128, 256, 192, bt=False),
    "bf16_a_columns": by_tma("bf16", "bf16", 128, 128, 64, 256, 128, 192, at=True),
    "bf16_a_columns_b_rows": by_tma("bf16", "bf16", 128, 128, 64, 128, 128, 192, at=True, bt=False),
    "f16": by_tma("f16", "f16", 128, 256, 64, 128, 256, 192),
    "f16_sums_of_f16": by_tma("f16", "f16", 128, 128, 64, 128, 128, 128, total="f16"),
    "f16_roles": by_tma("f16", "f16", 128, 128, 64, 128, 128, 320, ws=True),
    "e4m3": by_tma("e4m3", "bf16", 128, 256, 128, 128, 256, 384),
    "e4m3_roles": by_tma("e4m3", "bf16", 128, 128, 128, 128, 128, 512, ws=True),
    "e5m2": by_tma("e5m2", "f32", 128, 128, 64, 128, 128, 192),
    "tf32": by_tma("f32", "f32", 128, 128, 32, 128, 256, 128),
    "tf32_roles": by_tma("f32", "f32", 128, 128, 32, 128, 128, 160, ws=True),
    "persistent": matmul("matmul_persistent", "bf16", "bf16", 128, 256, 64, 256, 512, 128, {"WS": False}, {"num_warps": 8}, 2, b_transposed=True),
    "persistent_roles": matmul("matmul_persistent", "bf16", "bf16", 128, 128, 64, 384, 256, 192, {"WS": True}, None, 2, b_transposed=True),
    "sums_of_a": matmul("matmul_of_sums", "bf16", "f32", 128, 128, 64, 128, 128, 192, b_transposed=True, factor=4, plus=1),
    "sums_of_b": matmul("matmul_of_rhs_sums", "f16", "f32", 128, 128, 64, 128, 128, 192, b_transposed=True, factor=2),
    "attention_64": attention(64, False, False),
    "attention_64_roles": attention(64, True, False, n=384),
    "attention_128": attention(128, False, False),
    "attention_128_roles": attention(128, True, False),
    "attention_causal": attention(64, False, True),
    "attention_bf16": attention(64, False, False, operand="bf16", bn=64),
    "mxfp8": scaled("e4m3", "ue8m0", 32, 128),
    "mxfp8_e5m2": scaled("e5m2", "ue8m0", 32, 128, stages=2),
    "mxfp4": scaled("e2m1", "ue8m0", 32, 256),
    "nvfp4": scaled("e2m1", "ue4m3", 16, 256),
    "nvfp4_n128": scaled("e2m1", "ue4m3", 16, 128, stages=2),
    "mxfp8_n64": scaled("e4m3", "ue8m0", 32, 64, in_rows=True),
    "mxfp8_n32": scaled("e4m3", "ue8m0", 32, 32, n=64, in_rows=True),
    "mxfp8_k64": scaled("e4m3", "ue8m0", 32, 64, bk=64, in_rows=True),
    "mxfp8_k32": scaled("e4m3", "ue8m0", 32, 64, bk=32, in_rows=True),
    "mxfp4_n64": scaled("e2m1", "ue8m0", 32, 64, in_rows=True),
    "nvfp4_n64": scaled("e2m1", "ue4m3", 16, 64, in_rows=True),
    "nvfp4_n32_k64": scaled("e2m1", "ue4m3", 16, 32, n=64, bk=32, in_rows=True),
    "softmax": {
        "kernel": "row_softmax", "signature": ["*bf16", "*fp32", "i32"], "constants": {"BN": 1024}, "options": {"num_warps": 4},
        "problem": {"name": "softmax", "rows": 4, "n": 1000}, "grid": 4},
}


def compile_one(folder, name, program, capability):
    function = getattr(kernels, program["kernel"])
    names = function.arg_names
    types = dict(zip([n for n in names if n not in program["constants"]], program["signature"]))
    signature = {n: types.get(n, "constexpr") for n in names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if signature[n] not in ("constexpr", "fp32")}
    constants = {(names.index(n),): value for n, value in program["constants"].items()}
    source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=aligned)
    ptx, metadata = to_ptx(source, GPUTarget("cuda", capability, 32), program["options"])
    (folder / f"{name}.ptx").write_text(ptx)
    # Triton moves registers before the wait for the load that brings them: ptxas waits for them.
    launch = {"problem": program["problem"], "grid": [program["grid"], 1, 1], "shared": metadata["shared"], "threads": thread_count(ptx),
              "ptxas_waits": True}
    (folder / f"{name}.json").write_text(json.dumps(launch))


def to_ptx(source, target, options):
    """As triton.compile, without the last stage: ptxas takes longer than everything else, and nobody runs its machine code."""
    backend = make_backend(target)
    options = backend.parse_options(dict(options or {}, **source.parse_options()))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    stages, metadata = {}, {"target": target, **options.__dict__}
    backend.add_stages(stages, options, source.language)
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        module = stages[stage](module, metadata)
    return module, metadata


def thread_count(ptx):
    """Of a block, those of warp roles included."""
    line = next(line for line in ptx.splitlines() if ".reqntid" in line)
    return int(line.split(".reqntid")[1].split(",")[0])


def main():
    folder = pathlib.Path(sys.argv[1])
    failed = 0
    for name, program in PROGRAMS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        try:
            compile_one(folder, name, program, 100)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
