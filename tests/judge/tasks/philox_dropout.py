import numpy
import torch

INPUTS = {"x": "f32[n] contiguous", "p": "float in 0.1..0.9", "seed": "int in 1..100000"}


def _uniform(seed, n):
    m = numpy.uint64(0xFFFFFFFF)
    c0 = numpy.arange(n, dtype=numpy.uint64)
    c1, c2, c3 = (numpy.zeros(n, dtype=numpy.uint64) for _ in range(3))
    k0, k1 = numpy.uint64(seed & 0xFFFFFFFF), numpy.uint64(seed >> 32)
    for _ in range(10):
        a, b = numpy.uint64(0xD2511F53) * c0, numpy.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (b >> numpy.uint64(32)) ^ c1 ^ k0, b & m, (a >> numpy.uint64(32)) ^ c3 ^ k1, a & m
        k0, k1 = (k0 + numpy.uint64(0x9E3779B9)) & m, (k1 + numpy.uint64(0xBB67AE85)) & m
    signed = c0.astype(numpy.uint32).view(numpy.int32).astype(numpy.int64)
    signed = numpy.where(signed < 0, -signed - 1, signed)
    return signed.astype(numpy.float32) * numpy.float32(4.6566127342e-10)


def seeded_dropout(x, p, seed):
    keep = torch.from_numpy(_uniform(seed, x.numel()) > numpy.float32(p))
    return torch.where(keep, x / (1 - p), torch.zeros((), dtype=x.dtype))
