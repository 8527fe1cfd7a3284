"""cuTile: activations of 16 bits times weights of 8 bits, with a scale for each 32 of a column."""
import cuda.tile as ct
import torch


@ct.kernel
def int8_matmul(x, w, scales, o, BM: ct.Constant[int], BN: ct.Constant[int], G: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((BM, BN), 0, dtype=ct.float32)
    for g in range(ct.cdiv(x.shape[1], G)):
        a = ct.load(x, (i, g), (BM, G), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(w, (g, j), (G, BN), padding_mode=ct.PaddingMode.ZERO)
        part = ct.mma(a, b.astype(ct.float16), ct.full((BM, BN), 0, dtype=ct.float32))
        acc = acc + part * ct.load(scales, (g, j), (1, BN), padding_mode=ct.PaddingMode.ZERO)
    ct.store(o, (i, j), acc)


def call(x, w, scales):
    M, N = x.shape[0], w.shape[1]
    o = torch.empty(M, N, device="cuda")
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(M, 16), ct.cdiv(N, 32)), int8_matmul, (x, w, scales, o, 16, 32, 32))
    return o


BUGS = [
    ("wrong index", "ct.load(scales, (g, j)", "ct.load(scales, (0, j)"),
    ("wrong formula", "acc = acc + part *", "acc = part *"),
    ("size no multiple", "range(ct.cdiv(x.shape[1], G))", "range(ct.cdiv(x.shape[1], 2 * G))"),
    ("grid", "(ct.cdiv(M, 16), ct.cdiv(N, 32))", "(ct.cdiv(M, 32), ct.cdiv(N, 32))"),
    ("wrong formula", "part * ct.load", "part + ct.load"),
    ("dtype too low", "acc = acc + part * ct.load(scales, (g, j), (1, BN), padding_mode=ct.PaddingMode.ZERO)",
     "acc = acc + (part * ct.load(scales, (g, j), (1, BN), padding_mode=ct.PaddingMode.ZERO)).astype(ct.float16).astype(ct.float32)"),
]
EQUIVALENT = [("o, 16, 32, 32))", "o, 16, 32, 32,))")]
