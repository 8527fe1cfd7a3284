"""unsloth's Triton kernels (unsloth/kernels of a checkout, SUITE_CHECKOUT) against torch: its own tests train models on a GPU. Run by
`tests/triton/run CHECKOUT --project=unsloth`.

The package itself imports bitsandbytes, trl and patches of models; here its folder is imported without its `__init__`, and what its kernels
take from unsloth_zoo, none of it a kernel, stands below.
"""
import importlib
import logging
import os
import sys
import types

import packaging.version
import pytest
import torch
import torch.nn.functional as F

CHECKOUT = os.environ["SUITE_CHECKOUT"]
HALF = (torch.float16, torch.bfloat16)
TYPES = (torch.float32, *HALF)


def _module(name, path=None, **names):
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(names)
    if path is not None:
        module.__path__ = [path]


_module("unsloth", os.path.join(CHECKOUT, "unsloth"))
_module("unsloth.kernels", os.path.join(CHECKOUT, "unsloth/kernels"))
_module("unsloth_zoo", "", )
_module("unsloth_zoo.utils", Version=lambda text: packaging.version.Version(str(text)))
_module("unsloth_zoo.log", logger=logging.getLogger("unsloth"))
_module("unsloth_zoo.temporary_patches", "")
_module("unsloth_zoo.temporary_patches.common", torch_compile=lambda function=None, **_: function or (lambda f: f))
_module("unsloth_zoo.patching_utils", patch_layernorm=None)
_module("unsloth_zoo.loss_utils", patch_loss_functions=None, post_patch_loss_function=None)

cross_entropy, fp8, geglu, layernorm, rms_layernorm, rope, swiglu = (
    importlib.import_module(f"unsloth.kernels.{name}")
    for name in ("cross_entropy_loss", "fp8", "geglu", "layernorm", "rms_layernorm", "rope_embedding", "swiglu"))


def random(*shape, dtype=torch.float32, seed=0, grad=False):
    torch.manual_seed(seed)
    return torch.randn(shape).to(dtype).cuda().requires_grad_(grad)


def close(ours, reference, dtype):
    """`reference` is computed in f32 from the same values."""
    tolerance = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    torch.testing.assert_close(ours.float(), reference.float(), rtol=tolerance, atol=tolerance)


def gradients(output, *leaves):
    """By a gradient of ordinary numbers, which kernels may overwrite."""
    return torch.autograd.grad(output, leaves, random(*output.shape, dtype=output.dtype, seed=9))


@pytest.mark.parametrize("width", [1, 60, 64, 1000, 4096])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("gemma", [False, True])
def test_rms_layernorm(width, dtype, gemma):
    x, weight = random(2, 3, width, dtype=dtype, grad=True), random(width, dtype=dtype, seed=1)
    y = rms_layernorm.Fast_RMS_Layernorm.apply(x, weight, 1e-5, gemma)
    wide = x.detach().float().requires_grad_()
    expected = F.rms_norm(wide, (width,), weight.float() + gemma, 1e-5)
    close(y, expected, dtype)
    close(gradients(y, x)[0], gradients(expected, wide)[0], dtype)


@pytest.mark.parametrize("width", [1, 60, 64, 1000, 4096])
@pytest.mark.parametrize("dtype", TYPES)
def test_layernorm(width, dtype):
    x, weight, bias = random(2, 3, width, dtype=dtype, grad=True), random(width, dtype=dtype, seed=1), random(width, dtype=dtype, seed=2)
    y = layernorm.Fast_Layernorm.apply(x, weight, bias, 1e-5)
    wide = x.detach().float().requires_grad_()
    expected = F.layer_norm(wide, (width,), weight.float(), bias.float(), 1e-5)
    close(y, expected, dtype)
    close(gradients(y, x)[0], gradients(expected, wide)[0], dtype)


def rotated(x, cos, sin):
    """`x` [batch, heads, length, width] by the angles of its positions, [batch, 1, length, width]."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


def angles(length, width):
    table = torch.arange(length)[:, None] / 100 ** (torch.arange(width // 2) / width)[None, :]
    table = torch.cat((table, table), dim=-1)
    return table.cos().cuda(), table.sin().cuda()


@pytest.mark.parametrize("heads, length, width", [(1, 1, 2), (3, 7, 16), (4, 5, 64), (9, 16, 128), (6, 3, 96)])
@pytest.mark.parametrize("dtype", TYPES)
def test_rope(heads, length, width, dtype):
    q, k = random(2, heads, length, width, dtype=dtype, grad=True), random(2, heads, length, width, dtype=dtype, seed=1, grad=True)
    cos, sin = (table.to(dtype) for table in angles(length + 3, width))
    ours = rope.fast_rope_embedding(q, k, cos, sin)
    for x, y in zip((q, k), ours):
        wide = x.detach().float().requires_grad_()
        expected = rotated(wide, cos[:length].float(), sin[:length].float())
        close(y, expected, dtype)
        close(gradients(y, x)[0], gradients(expected, wide)[0], dtype)


@pytest.mark.parametrize("heads, of_keys, length, width", [(1, 1, 1, 2), (4, 2, 7, 16), (4, 1, 5, 64), (8, 8, 16, 128), (6, 3, 3, 96)])
@pytest.mark.parametrize("dtype", TYPES)
def test_rope_with_indices(heads, of_keys, length, width, dtype):
    q, k = random(2, heads, length, width, dtype=dtype), random(2, of_keys, length, width, dtype=dtype, seed=1)
    cos, sin = (table.to(dtype) for table in angles(3 * length, width))
    torch.manual_seed(5)
    places = torch.randint(0, 3 * length, (2, length)).cuda()
    expected = [rotated(x.float(), cos[places][:, None].float(), sin[places][:, None].float()) for x in (q, k)]
    q_leaf, k_leaf = q.clone().requires_grad_(), k.clone().requires_grad_()
    ours = rope.fast_rope_embedding(q_leaf * 1, k_leaf * 1, cos, sin, places)
    for y, wanted in zip(ours, expected):
        close(y, wanted, dtype)
    grads = [random(*y.shape, dtype=dtype, seed=7) for y in ours]
    wanted = [rotated(g.float(), cos[places][:, None].float(), -sin[places][:, None].float()) for g in grads]
    for got, want in zip(torch.autograd.grad(ours, (q_leaf, k_leaf), grads), wanted):
        close(got, want, dtype)


GATES = {"swiglu": (swiglu.swiglu_fg_kernel, swiglu.swiglu_DWf_DW_dfg_kernel, F.silu),
         "geglu_exact": (geglu.geglu_exact_forward_kernel, geglu.geglu_exact_backward_kernel, F.gelu),
         "geglu_approx": (geglu.geglu_approx_forward_kernel, geglu.geglu_approx_backward_kernel, lambda e: F.gelu(e, approximate="tanh"))}


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("width", [1, 100, 1024, 3000])
@pytest.mark.parametrize("dtype", TYPES)
def test_gates(gate, width, dtype):
    forward, backward, function = GATES[gate]
    e, g, upstream = (random(2, 3, width, dtype=dtype, seed=seed) for seed in range(3))
    wide_e, wide_g = e.float().requires_grad_(), g.float().requires_grad_()
    hidden = function(wide_e) * wide_g
    close(forward(e, g), hidden, dtype)
    d_e, d_g = torch.autograd.grad(hidden, (wide_e, wide_g), upstream.float())
    of_w, of_f, of_e = backward(upstream.view(6, width).clone(), e.view(6, width).clone(), g.view(6, width).clone())
    close(of_w, hidden.view(6, width), dtype)
    close(of_f, (upstream.float() * function(wide_e)).view(6, width), dtype)
    close(of_e, d_e.view(6, width), dtype)
    close(of_f, d_g.view(6, width), dtype)


@pytest.mark.parametrize("words", [2, 100, 4096, 70000])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("cap, scale", [(0, 0), (30.0, 0), (0, 0.0625)])
def test_cross_entropy(words, dtype, cap, scale):
    logits, labels = random(2, 3, words, dtype=dtype, grad=True), torch.tensor([[0, 1, -100], [words - 1, 0, 1]]).cuda()
    loss = cross_entropy.fast_cross_entropy_loss(logits * 1, labels, cap, scale)
    wide = logits.detach().float().requires_grad_()
    scaled = wide * (scale or 1)
    scaled = cap * torch.tanh(scaled / cap) if cap else scaled
    expected = F.cross_entropy(scaled.view(-1, words), labels.view(-1), ignore_index=-100)
    close(loss, expected, torch.float32)
    close(torch.autograd.grad(loss, logits)[0], torch.autograd.grad(expected, wide)[0], dtype)


@pytest.mark.parametrize("rows, columns", [(128, 128), (256, 384), (100, 200)])
@pytest.mark.parametrize("dtype", TYPES)
def test_fp8_weights(rows, columns, dtype):
    weight = random(rows, columns).to(torch.float8_e4m3fn)
    scales = random(-(-rows // 128), -(-columns // 128), seed=1).abs() + 0.5
    wanted = weight.float() * scales.repeat_interleave(128, 0)[:rows].repeat_interleave(128, 1)[:, :columns]
    close(fp8.weight_dequant_block(weight, scales, dtype=dtype), wanted, dtype)


@pytest.mark.parametrize("rows, columns", [(1, 128), (3, 256)])
@pytest.mark.parametrize("dtype", TYPES)
def test_fp8_activations(rows, columns, dtype):
    x = random(rows, columns, dtype=dtype)
    y, scales = fp8.act_quant(x)
    blocks = x.float().view(rows, -1, 128)
    wanted = blocks.abs().amax(-1) / 448
    torch.testing.assert_close(scales, wanted)
    assert torch.equal(y.float(), (blocks / wanted[..., None]).view(rows, columns).to(torch.float8_e4m3fn).float())


@pytest.mark.parametrize("m, n, k", [(1, 128, 128), (17, 256, 256), (200, 128, 384)])
@pytest.mark.parametrize("dtype", TYPES)
def test_fp8_matmul(m, n, k, dtype):
    a, b = random(m, k).to(torch.float8_e4m3fn), random(n, k, seed=1).to(torch.float8_e4m3fn)
    of_a, of_b = random(m, k // 128, seed=2).abs(), random(n // 128, k // 128, seed=3).abs()
    wide_a = a.float() * of_a.repeat_interleave(128, 1)
    wide_b = b.float() * of_b.repeat_interleave(128, 0).repeat_interleave(128, 1)
    ours = fp8.w8a8_block_fp8_matmul_triton(a, b, of_a, of_b, [128, 128], dtype)
    torch.testing.assert_close(ours.float(), wide_a @ wide_b.T, rtol=1e-2, atol=0.3 if dtype in HALF else 1e-3)
