import torch

INPUTS = {"ptr": "i32[m + 1] in 0..z sorted contiguous", "index": "i32[z] in 0..n-1 contiguous", "value": "f32[z] contiguous",
          "x": "f32[n] contiguous", "y": "f32[m] contiguous", "beta": "float in 0.25..2"}


def reference(ptr, index, value, x, y, beta: float):
    m = y.shape[0]
    begin, end = int(ptr[0]), int(ptr[-1])
    products = value[begin:end] * x[index[begin:end].long()]
    rows = torch.repeat_interleave(torch.arange(m), (ptr[1:] - ptr[:-1]).long())
    return torch.zeros(m, dtype=x.dtype).index_add(0, rows, products) + beta * y
