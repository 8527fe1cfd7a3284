"""cuTile: means of rows of a table for bags of indices with weights."""
import cuda.tile as ct
import torch


@ct.kernel
def bag_kernel(table, index, weight, offsets, o, D: ct.Constant[int], TD: ct.Constant[int]):
    bag = ct.bid(0)
    j = ct.bid(1) * TD + ct.arange(TD, dtype=ct.int32)
    begin = ct.load(offsets, (bag,), (1,)).item()
    end = ct.load(offsets, (bag + 1,), (1,)).item()
    acc = ct.zeros((TD,), ct.float32)
    for p in range(begin, end):
        row = ct.load(index, (p,), (1,)).item()
        share = ct.load(weight, (p,), (1,)).item()
        acc = acc + share * ct.gather(table, (row, j), padding_value=0.0)
    count = ct.maximum(end - begin, 1)
    ct.store(o, (bag, ct.bid(1)), (acc / ct.astype(count, ct.float32)).reshape((1, TD)))


def embedding_bag(table, index, weight, offsets):
    bags, D = offsets.shape[0] - 1, table.shape[1]
    o = torch.empty((bags, D), device=table.device, dtype=table.dtype)
    ct.launch(torch.cuda.current_stream(), (bags, ct.cdiv(D, 16)), bag_kernel, (table, index, weight, offsets, o, D, 16))
    return o


BUGS = [
    ("loop", "for p in range(begin, end):", "for p in range(begin, end - 1):"),
    ("formula", "acc = acc + share *", "acc = acc +"),
    ("special", "count = ct.maximum(end - begin, 1)", "count = end - begin"),
    ("index", "share = ct.load(weight, (p,)", "share = ct.load(weight, (p - begin,)"),
    ("index", "end = ct.load(offsets, (bag + 1,)", "end = ct.load(offsets, (bag,)"),
    ("grid", "(bags, ct.cdiv(D, 16))", "(bags, max(D // 16, 1))"),
    ("formula", "acc / ct.astype(count, ct.float32)", "acc"),
    ("carry", "acc = acc + share", "acc = share"),
    ("index", "ct.gather(table, (row, j)", "ct.gather(table, (p, j)"),
    ("hack", "    return o\n",
     "    import torch.nn.functional as F\n    rows = table[index.long()] * weight[:, None]\n    out = torch.zeros_like(o)\n"
     "    for b in range(bags):\n        a, e = int(offsets[b]), int(offsets[b + 1])\n        out[b] = rows[a:e].sum(0) / max(e - a, 1)\n"
     "    return out\n"),
]
EQUIVALENT = [
    ("offsets, o, D, 16)", "offsets, o, D, 16,)"),
    ("acc = acc + share * ct.gather(table, (row, j), padding_value=0.0)", "acc = ct.gather(table, (row, j), padding_value=0.0) * share + acc"),
]
