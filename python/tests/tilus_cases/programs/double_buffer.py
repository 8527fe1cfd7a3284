"""A product whose next tiles are copied while the present ones are multiplied."""
import numpy as np
import tilus
import torch
from tilus import float16, float32, int32
from tilus.utils import cdiv


class DoubleBuffered(tilus.Script):
    def __init__(self, block_m=32, block_n=32, block_k=16):
        super().__init__()
        self.block_m = block_m
        self.block_n = block_n
        self.block_k = block_k

    def __call__(self, m: int32, n: int, k: int, a_ptr: ~float16, b_ptr: ~float16, c_ptr: ~float32):
        self.attrs.blocks = [cdiv(m, self.block_m), cdiv(n, self.block_n)]
        self.attrs.warps = 2
        offset_m: int32 = self.block_m * self.blockIdx.x
        offset_n: int32 = self.block_n * self.blockIdx.y
        ga = self.global_view(a_ptr, dtype=float16, shape=[m, k])
        gb = self.global_view(b_ptr, dtype=float16, shape=[k, n])
        gc = self.global_view(c_ptr, dtype=float32, shape=[m, n])
        sa = self.shared_tensor(dtype=float16, shape=[2, self.block_m, self.block_k])
        sb = self.shared_tensor(dtype=float16, shape=[2, self.block_k, self.block_n])
        acc = self.register_tensor(dtype=float32, shape=[self.block_m, self.block_n], init=0.0)
        self.copy_async(src=ga, dst=sa[0], offsets=[offset_m, 0])
        self.copy_async(src=gb, dst=sb[0], offsets=[0, offset_n])
        self.copy_async_commit_group()
        for i in self.range(cdiv(k, self.block_k)):
            self.copy_async(src=ga, dst=sa[(i + 1) % 2], offsets=[offset_m, (i + 1) * self.block_k])
            self.copy_async(src=gb, dst=sb[(i + 1) % 2], offsets=[(i + 1) * self.block_k, offset_n])
            self.copy_async_commit_group()
            self.copy_async_wait_group(1)
            self.sync()
            self.dot(self.load_shared(sa[i % 2]), self.load_shared(sb[i % 2]), acc, out=acc)
            self.sync()
        self.store_global(gc, acc, offsets=[offset_m, offset_n])


def run(odd):
    m, n, k = (45, 56, 72) if odd else (64, 64, 64)
    rng = np.random.default_rng(1)
    a, b = (rng.random(shape, dtype=np.float32).astype(np.float16) for shape in ((m, k), (k, n)))
    c = torch.zeros(m, n, dtype=torch.float32).cuda()
    DoubleBuffered()(m, n, k, torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda(), c)
    np.testing.assert_allclose(c.cpu().numpy(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4)
