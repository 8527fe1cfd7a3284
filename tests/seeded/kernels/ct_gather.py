"""cuTile: counts by atomic updates, and rows by gather; indices are checked by the program, not by cuTile."""
import cuda.tile as ct
import torch


@ct.kernel
def take(table, index, o, used, n, B: ct.Constant[int]):
    i = ct.bid(0) * B + ct.arange(B, dtype=ct.int32)
    inside = i < n
    at = ct.gather(index, i, mask=inside, padding_value=0, check_bounds=False)
    v = ct.gather(table, at, mask=inside, padding_value=0, check_bounds=False)
    ct.scatter(o, i, v, mask=inside, check_bounds=False)
    ct.atomic_add(used, ct.where(inside, at, -1), 1)


def call(table, index):
    n = index.numel()
    o = torch.empty(n, device="cuda")
    used = torch.zeros(table.numel(), device="cuda", dtype=torch.int32)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(n, 32),), take, (table, index, o, used, n, 32))
    return o, used


CASES = {"friendly": [(16, 64)], "odd": [(1, 1), (10, 33), (7, 50), (40, 31)]}
BOUND = 0


def inputs(rows, n):
    return torch.randn(rows, device="cuda"), torch.randint(0, rows, (n,), device="cuda", dtype=torch.int32)


def expected(table, index):
    return table[index.long()], torch.bincount(index.long(), minlength=table.numel())


BUGS = [
    ("mask missing", "at = ct.gather(index, i, mask=inside, padding_value=0, check_bounds=False)", "at = ct.gather(index, i, check_bounds=False)"),
    ("mask missing", "ct.scatter(o, i, v, mask=inside, check_bounds=False)", "ct.scatter(o, i, v, check_bounds=False)"),
    ("mask off by one", "inside = i < n", "inside = i <= n"),
    ("past the end", "v = ct.gather(table, at,", "v = ct.gather(table, at + 1,"),
    ("missing atomic", "ct.atomic_add(used, ct.where(inside, at, -1), 1)",
     "ct.scatter(used, ct.where(inside, at, -1), ct.gather(used, ct.where(inside, at, -1)) + 1)"),
    ("empty", "used = torch.zeros(", "used = torch.empty("),
    ("grid", "ct.cdiv(n, 32)", "n // 32 or 1"),
]
