"""New keys go to their places in a cache of pages: token i to slot slots[i], tokens with a negative slot nowhere."""
import torch
import triton
import triton.language as tl


@triton.jit
def write_cache(k, cache, slots, width, stride_token, stride_head, stride_page, stride_entry, PAGE: tl.constexpr, B: tl.constexpr):
    token, head = tl.program_id(0), tl.program_id(1)
    slot = tl.load(slots + token)
    if slot > -1:
        page, entry = slot // PAGE, slot % PAGE
        c = tl.arange(0, B)
        v = tl.load(k + token * stride_token + head * stride_head + c, mask=c < width, other=0.0)
        tl.store(cache + page * stride_page + entry * stride_entry + head * stride_head + c, v, mask=c < width)


def call(k, cache, slots):
    cache = cache.clone()
    tokens, heads, width = k.shape
    write_cache[(len(slots), heads)](k, cache, slots, width, *k.stride()[:2], *cache.stride()[:2], PAGE=4, B=triton.next_power_of_2(width))
    return cache


CASES = {"friendly": [(8, 2, 64, 0)], "odd": [(1, 1, 1, 0), (5, 3, 80, 2), (7, 1, 33, 1)]}
BOUND = 1e-6


def inputs(tokens, heads, width, ignored):
    slots = torch.randperm(32, device="cuda")[:tokens]
    slots[:ignored] = -1
    return torch.randn(tokens, heads, width, device="cuda"), torch.randn(8, 4, heads, width, device="cuda"), slots


def expected(k, cache, slots):
    cache = cache.clone()
    for i, slot in enumerate(slots.tolist()):
        if slot >= 0:
            cache[slot // 4, slot % 4] = k[i]
    return cache


BUGS = [
    ("past the end", "if slot > -1:", "if slot > -2:"),
    ("mask missing", "+ c, v, mask=c < width)", "+ c, v)"),
    ("stride", "entry * stride_entry", "entry * stride_page"),
    ("stride", "cache + page * stride_page + entry * stride_entry + head * stride_head",
     "cache + page * stride_page + entry * stride_entry + head * stride_token"),
    ("race", "slot // PAGE, slot % PAGE", "slot // PAGE, 0"),
    ("race", "slot // PAGE, slot % PAGE", "0, slot % PAGE"),
    ("grid", "(len(slots), heads)]", "(len(cache) * 4, heads)]"),
    ("grid", "(len(slots), heads)]", "(len(slots), heads + 1)]"),
    ("past the end", "slot // PAGE, slot % PAGE", "slot // PAGE + 1, slot % PAGE"),
]
