"""Tiles that are read by rows and written by columns, several for each block."""
import numpy as np
import tilus
import torch
from tilus import float16, int32
from tilus.utils import cdiv


class Transpose(tilus.Script):
    def __init__(self, tile=32):
        super().__init__()
        self.tile = tile

    def __call__(self, m: int32, n: int32, x_ptr: ~float16, y_ptr: ~float16):
        self.attrs.blocks = [cdiv(m, self.tile)]
        self.attrs.warps = 2
        offset_m: int32 = self.tile * self.blockIdx.x
        gx = self.global_view(x_ptr, dtype=float16, shape=[m, n])
        gy = self.global_view(y_ptr, dtype=float16, shape=[n, m])
        s = self.shared_tensor(dtype=float16, shape=[self.tile, self.tile])
        for offset_n in self.range(0, n, self.tile):
            x = self.load_global(gx, offsets=[offset_m, offset_n], shape=[self.tile, self.tile])
            self.store_shared(s, x)
            self.sync()
            self.store_global(gy, self.load_shared(s.transpose()), offsets=[offset_n, offset_m])
            self.sync()


def run(odd):
    m, n = (45, 77) if odd else (64, 96)
    x = np.random.default_rng(6).random((m, n), dtype=np.float32).astype(np.float16)
    y = torch.zeros(n, m, dtype=torch.float16).cuda()
    Transpose()(m, n, torch.from_numpy(x).cuda(), y)
    np.testing.assert_array_equal(y.cpu().numpy(), x.T)
