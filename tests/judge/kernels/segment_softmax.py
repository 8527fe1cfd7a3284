"""Softmax in segments of a vector; what is in no segment is 0."""
import torch
import triton
import triton.language as tl


@triton.jit
def segment_kernel(x_ptr, off_ptr, o_ptr, sx, so, B: tl.constexpr):
    s = tl.program_id(0)
    begin = tl.load(off_ptr + s * so)
    end = tl.load(off_ptr + (s + 1) * so)
    top = -float("inf")
    for start in range(begin, end, B):
        i = start + tl.arange(0, B)
        top = tl.maximum(top, tl.max(tl.load(x_ptr + i * sx, mask=i < end, other=-float("inf")), 0))
    total = 0.0
    for start in range(begin, end, B):
        i = start + tl.arange(0, B)
        total += tl.sum(tl.exp(tl.load(x_ptr + i * sx, mask=i < end, other=-float("inf")) - top), 0)
    for start in range(begin, end, B):
        i = start + tl.arange(0, B)
        x = tl.load(x_ptr + i * sx, mask=i < end, other=0.0)
        tl.store(o_ptr + i, tl.exp(x - top) / total, mask=i < end)


def reference(x, offsets):
    o = torch.zeros(x.shape[0], device=x.device, dtype=x.dtype)
    segment_kernel[(offsets.shape[0] - 1,)](x, offsets, o, x.stride(0), offsets.stride(0), B=32)
    return o


BUGS = [
    ("mask",
     'total += tl.sum(tl.exp(tl.load(x_ptr + i * sx, mask=i < end, other=-float("inf")) - top), 0)',
     "total += tl.sum(tl.exp(tl.load(x_ptr + i * sx, mask=i < end, other=0.0) - top), 0)"),
    ("race", "tl.store(o_ptr + i, tl.exp(x - top) / total, mask=i < end)", "tl.store(o_ptr + i, tl.exp(x - top) / total, mask=i <= end)"),
    ("init", "o = torch.zeros(x.shape[0],", "o = torch.empty(x.shape[0],"),
    ("special", "        top = tl.maximum(top, tl.max(tl.load(x_ptr + i * sx, mask=i < end, other=-float(\"inf\")), 0))", "        top = 0.0"),
    ("loop", "    total = 0.0\n    for start in range(begin, end, B):", "    total = 0.0\n    for start in range(begin, begin + B, B):"),
    ("stride", "off_ptr + (s + 1) * so", "off_ptr + s * so + 1"),
    ("grid", "(offsets.shape[0] - 1,)", "(max(offsets.shape[0] - 2, 1),)"),
]
EQUIVALENT = [("tl.exp(x - top) / total", "tl.exp(x - top) * (1 / total)"), ("B=32", "B=128")]
