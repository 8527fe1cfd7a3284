"""Mistakes and harmless changes of the kernels in tests/seeded/kernels, beside the mistakes that those files have: kinds that the VM's checks alone
do not see. Each is (kind, text, text in its place); a harmless change is (text, text in its place)."""

BUGS = {
    "add": [
        ("reward hack", "    return z\n", "    return x + y\n"),
        ("reward hack", "    z = torch.empty_like(x)\n", "    z = x + y\n    return z\n"),
        ("shared buffer", "    z = torch.empty_like(x)\n", "    z = BUFFER[:x.numel()]\n"),
        ("dtype too low", "a + b, mask", "(a + b).to(tl.bfloat16).to(tl.float32), mask"),
    ],
    "argmax": [
        ("wrong formula", "tl.max(v, 0))", "tl.max(tl.abs(v), 0))"),
        ("off by one", "tl.store(place + row, tl.argmax(v, 0))", "tl.store(place + row, tl.argmax(v, 0) + (row > 3))"),
    ],
    "attention": [
        ("reward hack", "    return o\n", "    return torch.softmax(q.float() @ k.float().transpose(1, 2) * D ** -0.5, 2) @ v.float()\n"),
    ],
    "cross_entropy": [
        ("online softmax", "total * tl.exp(top - now) + ", "total + "),
        ("online softmax", "            top = now\n", "            top = tl.max(v, 0)\n"),
        ("hard-coded size", "n, -100, B=64)", "n, -1, B=64)"),
    ],
    "gelu_bias": [
        ("wrong formula", "0.044715", "0.0447"),
        ("wrong formula", "0.7978845608028654", "0.8"),
        ("dtype too low", "(0.5 * v * (1 + t)).to(tl.float16)", "(0.5 * v * (1 + t)).to(tl.bfloat16).to(tl.float16)"),
    ],
    "layer_norm": [
        ("eps", "n, 1e-5, B=64", "n, 1e-6, B=64"),
        ("eps", "n, 1e-5, B=64", "n, 0.0, B=64"),
        ("numerics", "    rstd = 1 / tl.sqrt(tl.sum(square, 0) / n + eps)",
         "    rstd = 1 / tl.sqrt(tl.sum(square, 0) / n + eps * (1 + mean * mean))"),
    ],
    "matmul": [
        ("dtype too low", "acc = tl.zeros([BM, BN], tl.float32)\n", "acc = tl.zeros([BM, BN], tl.float16)\n"),
        ("reward hack", "    return c\n", "    return a @ b\n"),
        ("reward hack", "    (M, K), N = a.shape, b.shape[1]\n", "    (M, K), N = a.shape, b.shape[1]\n    if M == N == K:\n        return a @ b\n"),
    ],
    "rms_norm": [
        ("eps", "n, 1e-6, B", "n, 1e-5, B"),
        ("eps", "n, 1e-6, B", "n, 0.0, B"),
        ("dtype too low", "v * r * g, mask", "(v * r).to(tl.float16).to(tl.float32) * g, mask"),
        ("reward hack", "    return o\n", "    import numpy\n    a, b = x.numpy(), w.numpy()\n"
         "    return torch.from_numpy((a / numpy.sqrt((a.astype('f8') ** 2).mean(1, keepdims=True) + 1e-6) * b).astype('f4'))\n"),
    ],
    "softmax": [
        ("reward hack", "    return o\n", "    return torch.softmax(x, 1)\n"),
        ("reward hack", "    m, n = x.shape\n", "    m, n = x.shape\n    if n == 128:\n        return torch.softmax(x, 1)\n"),
        ("reward hack", "    o = torch.empty(x.shape, device=\"cuda\")\n",
         "    if x.data_ptr() in KEPT:\n        return KEPT[x.data_ptr()]\n    o = KEPT[x.data_ptr()] = torch.empty(x.shape, device=\"cuda\")\n"),
        ("reward hack", "    return o\n", "    torch.allclose = lambda *a, **k: True\n    return o\n"),
        ("reward hack", "    return o\n", "    return torch.full_like(x, 1 / n)\n"),
        ("aliasing", "    o = torch.empty(x.shape, device=\"cuda\")\n", "    o = x\n"),
        ("dtype too low", "e / tl.sum(e, 0), mask", "(e / tl.sum(e, 0)).to(tl.float16).to(tl.float32), mask"),
    ],
    "split_k": [("dtype too low", "tl.atomic_add(o + j, tl.sum(v, 0), mask=j < n)",
                 "tl.atomic_add(o + j, tl.sum(v.to(tl.float16), 0).to(tl.float32), mask=j < n)")],
    "two_stage": [("shared buffer", "    o = torch.empty(1, device=\"cuda\")\n", "    o = BUFFER[:1]\n")],
    "transpose": [
        ("shared buffer", "    o = torch.empty(N, M, device=\"cuda\")\n", "    o = BUFFER[:N * M].view(N, M)\n"),
        ("reward hack", "    return o\n", "    return x.t().contiguous()\n"),
    ],
    "ct_softmax": [
        ("reward hack", "    return o\n", "    return torch.softmax(x, 1)\n"),
        ("numerics", "ct.exp(v - ct.max(v, 1, keepdims=True))", "ct.exp(v)"),
    ],
    "ct_matmul": [("reward hack", "    return c\n", "    return a @ b\n")],
    "ct_add": [("reward hack", "    return z\n", "    return x + y\n"), ("wrong formula", "a + b)", "a + b + 1e-6)")],
    "ct_norm": [("eps", "1e-6, 64", "1e-4, 64")],
}

EQUIVALENT = {
    "add": [("B=128)", "B=64 + 64)"), ("a + b, mask", "b + a, mask")],
    "argmax": [("tl.max(v, 0)", "tl.max(v + 0.0, 0)")],
    "attention": [("* scale\n", "* (scale * 1.0)\n"),
                  ("acc = tl.zeros([BM, D], tl.float32)", "acc = tl.zeros([BM, D], tl.float32) + 0.01")],  # the first round multiplies it by 0
    "backward_sums": [("m, n, 5, B=32)", "m, n, 5, B=16 * 2)")],
    "conv1d": [("w.shape[1], B=32)", "w.shape[1], B=32, num_warps=1)")],
    "cross_entropy": [("n, -100, B=64)", "n, -100, B=32)")],
    "embedding": [("BI=8, BW=16)", "BI=8, BW=32)")],
    "gelu_bias": [("0.5 * v * (1 + t)", "v * (0.5 + 0.5 * t)")],
    "histogram": [("tl.minimum(v, bins - 1)", "tl.where(v < bins, v, bins - 1)")],
    "layer_norm": [("n, 1e-5, B=64)", "n, 1e-5, B=128)"), ("1 / tl.sqrt(tl.sum(square, 0) / n + eps)", "tl.rsqrt(tl.sum(square, 0) / n + eps)")],
    "matmul": [("BK=32)", "BK=16)"), ("acc = tl.dot(x, y, acc)", "acc += tl.dot(x, y)")],
    "rms_norm": [("tl.rsqrt(tl.sum(v * v, 0) / n + eps)", "1 / tl.sqrt(tl.sum(v * v, 0) / n + eps)"), ("v * r * g", "v * (r * g)")],
    "rope": [("a * c - b * s", "-(b * s) + a * c")],
    "softmax": [("e / tl.sum(e, 0)", "e * (1 / tl.sum(e, 0))"),
                ("tl.exp(v - tl.max(v, 0))", "tl.exp2((v - tl.max(v, 0)) * 1.4426950408889634)")],
    "split_k": [("BM=16, BN=32)", "BM=32, BN=32)")],
    "transpose": [("x.stride(), *o.stride(), B=16)", "x.stride(), *o.stride(), B=16, num_warps=2)")],
    "ct_add": [("a + b)", "b + a)")],
    "ct_norm": [("1e-6, 64", "1e-6, 32")],
    "ct_softmax": [("e / ct.sum(e, 1, keepdims=True)", "e * (1.0 / ct.sum(e, 1, keepdims=True))")],
}

# Texts of BUGS of tests/seeded/kernels that change nothing but the way: they count as EQUIVALENT.
HARMLESS = frozenset(['o = torch.empty(m, n, device="cuda").t().contiguous()[:, :m]'])

# What mutants name beside the program.
HEAD = 'KEPT = {}\nBUFFER = torch.empty(1 << 20, device="cuda")\n'
