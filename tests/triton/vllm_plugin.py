"""pytest plugin: vLLM without its compiled part, which takes CUDA to build, sees a GPU of NVIDIA, as torch does under tilevm.triton.

Compiled operators that stand between the Triton kernels of its experts are written in torch here; tests that need others fail.
"""
import sys
import types

import torch

for name in ("_C", "_C_stable_libtorch", "_moe_C", "_moe_C_stable_libtorch", "vllm_flash_attn._vllm_fa3_C"):  # they register operators
    sys.modules[f"vllm.{name}"] = types.ModuleType(f"vllm.{name}")
libraries = {name: torch.library.Library(name, "FRAGMENT") for name in ("_C", "_moe_C")}


def operator(library, schema):
    def define(function):
        libraries[library].define(schema)
        libraries[library].impl(schema.split("(")[0], function, "CompositeExplicitAutograd")
        return function

    return define


for name in ("cutlass_scaled_mm_supports_fp8", "cutlass_scaled_mm_supports_fp4", "cutlass_scaled_mm_supports_block_fp8",
             "cutlass_group_gemm_supported"):  # asked by modules that are imported
    operator("_C", f"{name}(int capability) -> bool")(lambda capability: False)


@operator("_C", "silu_and_mul(Tensor! result, Tensor input) -> ()")
def silu_and_mul(result, input):
    gate, up = input.chunk(2, dim=-1)
    result.copy_(torch.nn.functional.silu(gate.float()).to(input.dtype) * up)


@operator("_moe_C", "topk_softmax(Tensor! topk_weights, Tensor! topk_indices, Tensor! token_expert_indices, Tensor gating_output, "
          "bool renormalize, Tensor? bias, Tensor? is_padding) -> ()")
def topk_softmax(weights, indices, token_expert_indices, gating, renormalize, bias, is_padding):
    assert bias is None
    values, chosen = gating.float().softmax(dim=-1).topk(weights.shape[-1], dim=-1)
    weights.copy_(values / values.sum(dim=-1, keepdim=True) if renormalize else values)
    indices.copy_(chosen if is_padding is None else torch.where(is_padding[:, None], -1, chosen))  # an expert of none


@operator("_moe_C", "moe_sum(Tensor input, Tensor! output, Tensor? topk_ids=None, Tensor? expert_map=None) -> ()")
def moe_sum(input, output, topk_ids=None, expert_map=None):
    if expert_map is not None:
        input = torch.where((expert_map[topk_ids.long()] >= 0)[..., None], input, 0)
    output.copy_(input.float().sum(dim=1))


@operator("_moe_C", "moe_align_block_size(Tensor topk_ids, int num_experts, int block_size, Tensor! sorted_token_ids, Tensor! experts_ids, "
          "Tensor! num_tokens_post_pad, Tensor? maybe_expert_map, Tensor(a!)? scatter_idx=None) -> ()")
def moe_align_block_size(topk_ids, num_experts, block_size, sorted_token_ids, experts_ids, num_tokens_post_pad, expert_map, scatter_idx=None):
    assert scatter_idx is None
    flat = topk_ids.reshape(-1)
    tokens, experts = [], []
    for expert in range(num_experts):
        mine = (flat == expert).nonzero().reshape(-1).tolist()
        place = expert if expert_map is None else int(expert_map[expert])
        if place < 0:
            continue
        blocks = -(-len(mine) // block_size)
        tokens += mine + [flat.numel()] * (blocks * block_size - len(mine))
        experts += [place] * blocks
    sorted_token_ids.fill_(flat.numel())
    sorted_token_ids[:len(tokens)] = torch.tensor(tokens, dtype=sorted_token_ids.dtype)
    experts_ids.fill_(-1)
    experts_ids[:len(experts)] = torch.tensor(experts, dtype=experts_ids.dtype)
    num_tokens_post_pad.fill_(len(tokens))


import vllm.platforms  # noqa: E402
from vllm.platforms.cuda import NonNvmlCudaPlatform  # noqa: E402  (the other one asks NVIDIA's library)

vllm.platforms._current_platform = NonNvmlCudaPlatform()
