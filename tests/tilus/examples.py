#!/usr/bin/env python3
"""Runs the example programs of Tilus, unmodified, on the VM at small sizes and at sizes that no block divides, and compares with torch.

    examples.py CHECKOUT [--check=full] [--jobs=N] [--json=FILE] [--record=FOLDER] [NAME…]

CHECKOUT is a checkout of NVIDIA/tilus; its package is used, too. Each example runs in a process of its own: several replace the target.
Prints one line for each: `ok`, `wrong`, or the error. --record writes the launches of each to a folder (recorder.py), for gpu_check. Needs
torch, and this package's tilevm on the path.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

# Of what an example imports for comparisons on a GPU only.
ABSENT = ("pandas", "einops", "tile_kernels", "tile_kernels.quant", "tile_kernels.quant.per_token_cast_kernel",
          "tile_kernels.quant.swiglu_forward_and_per_token_cast_kernel")

MATMULS = [(f"matmul/matmul_v{v}", f"MatmulV{v}", "9.0", False) for v in range(6)]
HOPPER = [("hopper_matmul/matmul_v0", "MatmulTMA", "9.0", True), ("hopper_matmul/matmul_v1", "MatmulWGMMA", "9.0", True)]
HOPPER += [(f"hopper_matmul/matmul_v{v}", f"MatmulWGMMAV{v}", "9.0", True) for v in range(2, 6)]
BLACKWELL = [(f"blackwell_matmul/matmul_v{v}", f"BlackwellMatmulV{v}", "10.0", True) for v in range(7)]


class Absent(types.ModuleType):
    """A module that is not installed, and whatever is taken from it."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(name)


def load(checkout, name):
    """The module of an example."""
    missing = {root for root in ("pandas", "einops", "tile_kernels") if root not in sys.modules and importlib.util.find_spec(root) is None}
    for absent in ABSENT:
        if absent.split(".")[0] in missing:
            sys.modules[absent] = Absent(absent)
    path = checkout / "examples" / f"{name}.py"
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def close(actual, expected, tolerance):
    import torch

    torch.testing.assert_close(actual.float().cpu(), expected.float().cpu(), atol=tolerance, rtol=tolerance)


# --- one function for each kind of example; `odd` asks for sizes that no block divides


def matmul(module, cls, transposed, odd):
    import torch

    m, n, k = (200, 136, 72) if odd else (128, 128, 64)
    a = (torch.rand(m, k, dtype=torch.float16).cuda() - 0.5)
    b = (torch.rand(n, k, dtype=torch.float16).cuda() - 0.5) if transposed else (torch.rand(k, n, dtype=torch.float16).cuda() - 0.5)
    c = torch.empty(m, n, dtype=torch.float16).cuda()
    getattr(module, cls)()(m, n, k, a, b, c)
    close(c, a.float() @ (b.float().T if transposed else b.float()), 2e-2)


def vector_add(module, odd):
    import torch

    n = 1000 if odd else 4096
    a, b, c = (torch.rand(n, dtype=torch.float32).cuda() for _ in range(3))
    module.VectorAdd()(n, a, b, c)
    close(c, a + b, 1e-6)


def softmax(module, odd):
    import torch

    # By its own definition the example takes widths that its block divides: lanes outside of a row add to its sum.
    m, n = (13, 1024) if odd else (8, 1024)
    x = torch.randn(m, n, dtype=torch.float16).cuda()
    y = torch.empty_like(x)
    module.FusedSoftmax()(m, n, x, y)
    close(y, torch.softmax(x.float(), dim=1), 1e-3)


def layer_norm(module, odd):
    import torch

    m, n = (5, 1024) if odd else (8, 1024)
    x = torch.randn(m, n, dtype=torch.float16).cuda()
    gamma, beta = torch.rand(n, dtype=torch.float16).cuda(), torch.rand(n, dtype=torch.float16).cuda()
    y = torch.empty_like(x)
    module.LayerNorm()(m, n, x, gamma, beta, y, 1e-5)
    close(y, torch.nn.functional.layer_norm(x.float(), (n,), gamma.float(), beta.float(), 1e-5), 1e-2)


def attention(module, odd):
    import torch

    n = 77 if odd else 128
    q = torch.rand(1, n, 4, 64, dtype=torch.float16).cuda()
    k, v = (torch.rand(1, n, 2, 64, dtype=torch.float16).cuda() for _ in range(2))
    close(module.flash_attention(q, k, v), module.flash_attention_reference(q.float(), k.float(), v.float()), 5e-3)


def attention_with_cache(module, odd):
    """Against plain attention of the cached rows, which the block table names."""
    import torch

    heads, kv_heads, size, page, new = 4, 2, 64, 128, 3 if odd else 1
    lengths = torch.tensor([150, 77] if odd else [128, 256], dtype=torch.int32).cuda()
    pages, most = 8, 4  # the example reads the page behind the last one of a sequence
    q = torch.rand(2, new, heads, size, dtype=torch.float16).cuda()
    k, v = (torch.rand(pages, page, kv_heads, size, dtype=torch.float16).cuda() for _ in range(2))
    table = torch.tensor([[3, 1, 0, 0], [5, 0, 0, 0]], dtype=torch.int32).cuda()
    assert table.shape[1] == most
    out = module.attention_with_kvcache_tilus(q, k, v, lengths, table)
    for b in range(2):
        n = int(lengths[b])
        keys, values = (torch.cat([cache[int(i)] for i in table[b]])[:n].float().repeat_interleave(heads // kv_heads, 1) for cache in (k, v))
        scores = torch.einsum("thd,shd->hts", q[b].float(), keys) / size ** 0.5
        seen = torch.arange(n)[None, :] <= (n - new + torch.arange(new))[:, None]
        scores = scores.masked_fill(~seen, float("-inf"))
        close(out[b], torch.einsum("hts,shd->thd", torch.softmax(scores, -1), values), 5e-3)


def per_group(value, size):
    """What a cast to eight bits with a scale for each group gives: the scales, and the values back."""
    import torch

    groups = value.float().reshape(value.shape[0], -1, size)
    scale = groups.abs().amax(2) / 448.0
    codes = (groups / torch.where(scale > 0, scale, torch.ones_like(scale))[:, :, None]).to(torch.float8_e4m3fn)
    return scale, (codes.float() * scale[:, :, None]).reshape(value.shape)


def per_token_cast(module, odd):
    import torch

    m, n = (13, 384) if odd else (8, 512)
    x = torch.randn(m, n, dtype=torch.float16).cuda() * 2
    out, scale = torch.empty((m, n), dtype=torch.float8_e4m3fn).cuda(), torch.empty((m, n // 128), dtype=torch.float32).cuda()
    module.PerTokenCast(num_per_channels=128)(m, n, x, out, scale)
    expected_scale, expected = per_group(x, 128)
    close(scale, expected_scale, 1e-5)
    close(out.float() * scale.repeat_interleave(128, 1), expected, 0.3)


def swiglu(module, odd):
    import torch

    m, n = (11, 384) if odd else (8, 512)
    x = torch.randn(m, 2 * n, dtype=torch.float16).cuda() * 2
    position = torch.arange(m, dtype=torch.int32).cuda() % 8
    weights, experts = torch.rand(4, 2, dtype=torch.float32).cuda(), torch.ones(m, dtype=torch.int32).cuda()
    experts[::5] = -1
    out, scale = torch.zeros((m, n), dtype=torch.float8_e4m3fn).cuda(), torch.zeros((m, n // 128), dtype=torch.float32).cuda()
    module.SwiGLUForwardAndPerTokenCast(num_per_channels=128)(m, n, 8, x, out, scale, position, weights, experts, 6.0)
    left, right = x.float()[:, :n].clamp(max=6.0), x.float()[:, n:].clamp(-6.0, 6.0)
    value = torch.nn.functional.silu(left) * right * weights.flatten()[position.long()][:, None]
    expected_scale, expected = per_group(value, 128)
    valid = experts >= 0
    close(scale[valid], expected_scale[valid], 1e-4)
    close((out.float() * scale.repeat_interleave(128, 1))[valid], expected[valid], 0.5)


def decode(module, odd):
    """Three kernels: gates, the delta rule, and both in one."""
    import torch

    batch, heads = (3, 10) if odd else (2, 8)
    gates = dict(A_log=torch.randn(heads).cuda() * 0.1, a=torch.randn(batch, heads, dtype=torch.bfloat16).cuda(), dt_bias=torch.randn(heads).cuda() * 0.1)
    close(module.fused_gdn_gating_tilus(**gates), module.fused_gdn_gating_torch(**gates), 1e-3)
    steps, h, hv, size = (3, 2, 4, 64) if odd else (2, 2, 4, 64)
    q, k = (torch.randn(1, steps, h, size, dtype=torch.bfloat16).cuda() for _ in range(2))
    v = torch.randn(1, steps, hv, size, dtype=torch.bfloat16).cuda()
    rule = dict(q=q, k=k, v=v, g=torch.randn(1, steps, hv).cuda() * 0.1, beta=torch.rand(1, steps, hv, dtype=torch.bfloat16).cuda() * 0.5 + 0.5,
                scale=size ** -0.5, initial_state_source=torch.randn(9, hv, size, size).cuda() * 0.1,
                initial_state_indices=6 - torch.arange(steps, dtype=torch.int32).cuda(), use_qk_l2norm_in_kernel=True)
    compare(module, "fused_recurrent_gated_delta_rule_update_fwd", rule)
    both = dict(A_log=torch.randn(hv).cuda() * 0.1, a=torch.randn(steps, hv, dtype=torch.bfloat16).cuda(), dt_bias=torch.randn(hv).cuda() * 0.1,
                softplus_beta=1.0, softplus_threshold=20.0, q=q, k=k, v=v, b=torch.randn(steps, hv, dtype=torch.bfloat16).cuda(), scale=size ** -0.5,
                initial_state_source=torch.randn(9, hv, size, size).cuda() * 0.1, initial_state_indices=6 - torch.arange(steps, dtype=torch.int32).cuda(),
                use_qk_l2norm_in_kernel=True)
    compare(module, "sigmoid_gating_delta_rule_update", both)


def compare(module, name, arguments):
    """The function that uses Tilus with the one that uses torch, each on its own copies."""
    import torch

    def copies():
        return {key: value.clone() if isinstance(value, torch.Tensor) else value for key, value in arguments.items()}

    close(getattr(module, f"{name}_tilus")(**copies()), getattr(module, f"{name}_torch")(**copies()), 1e-2)


def rounded(value, dtype):
    """The nearest numbers of a float type of less than eight bits; of two that are equally near, that of the even code."""
    import torch

    e, m = dtype.exponent_nbits, dtype.mantissa_nbits
    bias = (1 << (e - 1)) - 1
    sizes = torch.tensor([c * 2.0 ** (1 - bias - m) if c < 1 << m else ((c & ((1 << m) - 1)) + (1 << m)) * 2.0 ** ((c >> m) - bias - m)
                          for c in range(1 << (e + m))])
    distance = (value.abs()[..., None] - sizes).abs()
    nearest = distance == distance.amin(-1, keepdim=True)
    even = 2 - torch.arange(len(sizes)) % 2
    return sizes[(nearest * even).argmax(-1)].copysign(value)


def quantized(module, odd):
    """Against torch, with weights that are quantized there: to integers, and to floats of six bits."""
    import torch

    from tilus import float6_e3m2, int4b

    for dtype in (int4b, float6_e3m2):
        m, n, k = (5, 144, 384) if odd else (16, 128, 256)
        layer = module.QuantizedLinear(x_dtype=module.float16, w_dtype=dtype, group_size=128, in_features=k, out_features=n).cuda()
        a, b = (torch.rand(m, k, dtype=torch.float16).cuda() - 0.5), (torch.rand(k, n, dtype=torch.float16).cuda() - 0.5)
        layer.load_and_quantize(b.T.contiguous())
        groups = b.float().reshape(-1, 128, n)
        scales = (groups.abs().amax(1, keepdim=True) / float(dtype.max_value)).half().float()
        if dtype.is_integer():
            codes = torch.clamp(torch.round(groups / scales), float(dtype.min_value), float(dtype.max_value))
        else:
            codes = rounded(groups / scales, dtype)
        close(layer(a), a.float() @ (codes * scales).reshape(k, n), 3e-2)


OTHERS = {
    "norm/layer_norm": (layer_norm, "9.0"), "softmax/softmax": (softmax, "9.0"), "vector_add/vector_add": (vector_add, "9.0"),
    "attention/flash_attention_v1": (attention, "9.0"), "attention/flash_attention_v2": (attention, "9.0"),
    "attention/flash_attention_v3": (attention, "9.0"), "attention_with_kvcache/attention_v1": (attention_with_cache, "9.0"),
    "quantization/matmul_a16wx": (quantized, "9.0"), "quantization/per_token_cast": (per_token_cast, "9.0"),
    "quantization/swiglu_forward_and_per_token_cast": (swiglu, "9.0"), "flash_attention_decode/main": (decode, "9.0"),
}


def table():
    """Name, GPU that the program sees, and a function of (module, odd)."""
    rows = [(name, capability, lambda module, odd, cls=cls, t=transposed: matmul(module, cls, t, odd))
            for name, cls, capability, transposed in MATMULS + HOPPER + BLACKWELL]
    return rows + [(name, capability, run) for name, (run, capability) in OTHERS.items()]


def run_one(checkout, name, check, records):
    """In this process. Prints the result of both sizes, as JSON."""
    sys.path.insert(0, str(checkout / "python"))
    import tilevm.tilus

    _, capability, run = next(row for row in table() if row[0] == name)
    tilevm.tilus.install(capability=capability, check=check, tune="first")
    if records:
        sys.path.insert(0, str(pathlib.Path(__file__).parent))
        import recorder

        recorder.record(records / name.replace("/", "_"))
    import torch

    torch.manual_seed(1)
    results = []
    module = load(checkout, name)
    for odd in (False, True):
        try:
            run(module, odd)
            results.append("ok")
        except AssertionError as error:
            results.append("wrong: " + str(error).strip().splitlines()[0] + " " + " ".join(str(error).split())[:160])
        except Exception as error:
            results.append(f"{type(error).__name__}: " + str(error).strip()[:600])
    print(json.dumps(results))


def run_apart(options, name):
    """In a process and with a cache of its own."""
    more = ["--record", str(options.record.resolve())] if options.record else []
    with tempfile.TemporaryDirectory() as cache:
        ran = subprocess.run([sys.executable, __file__, str(options.checkout), "--one", name, "--check", options.check, *more],
                             capture_output=True, text=True, env={**os.environ, "TILUS_CACHE_DIR": cache})
    last = ran.stdout.strip().splitlines()[-1:] or [""]
    return json.loads(last[0]) if last[0].startswith("[") else [ran.stderr.strip()[-300:]] * 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", default="bounds")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--one")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    if options.one:
        run_one(options.checkout, options.one, options.check, options.record)
        return
    names = [name for name, _, _ in table() if not options.names or any(word in name for word in options.names)]
    found = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, result in zip(names, pool.map(lambda name: run_apart(options, name), names)):
            found[name] = result
            print(f"{name}: {' | '.join(result)}", flush=True)
    right = sum(result == ["ok", "ok"] for result in found.values())
    print(f"{right} of {len(found)} right at both sizes")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
