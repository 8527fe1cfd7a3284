import torch

INPUTS = {"x": "i32[n] in 0..100000 contiguous", "places": "i64[n] in 0..k-1 or -1 contiguous", "bins": "int = k"}
SIZES = "k >= 1, n >= 1"


def reference(x, places, bins: int):
    top = torch.full((bins,), -1, dtype=torch.int32)
    count = torch.zeros(bins, dtype=torch.int32)
    for value, place in zip(x.tolist(), places.tolist()):
        if place >= 0:
            top[place] = max(int(top[place]), value)
            count[place] += 1
    return top, count
