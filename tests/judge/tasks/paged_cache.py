"""The task of tests/seeded/kernels/paged_cache.py."""
import torch  # noqa: F401  # its tensors are given

INPUTS = {
    "k": "f32[t, h, w] contiguous",
    "cache": "f32[8, 4, h, w] contiguous",
    "slots": "i64[t] in 0..31 or -1 distinct contiguous",
}
SIZES = "t <= 32"


def expected(k, cache, slots):
    cache = cache.clone()
    for i, slot in enumerate(slots.tolist()):
        if slot >= 0:
            cache[slot // 4, slot % 4] = k[i]
    return cache
