"""The task of tests/seeded/kernels/ct_gather.py: cuTile: counts by atomic updates, and rows by gather; indices are checked by the program, not by cuTile."""
import torch

INPUTS = {"table": "f32[r] inf nan", "index": "i32[n] in 0..r-1"}


def expected(table, index):
    return table[index.long()], torch.bincount(index.long(), minlength=table.numel())
