"""Three stages of copies, two ahead: y[r] is the sum over i of x[8 i + r] * w[8 i + r]."""
import numpy as np
import tilus
import torch
from tilus import float32, int32
from tilus.utils import cdiv


class Pipeline(tilus.Script):
    def __init__(self, stages=3, rows=8):
        super().__init__()
        self.stages = stages
        self.rows = rows

    def __call__(self, m: int32, n: int, x_ptr: ~float32, w_ptr: ~float32, y_ptr: ~float32):
        self.attrs.blocks = [cdiv(n, 64)]
        self.attrs.warps = 2
        offset_n: int32 = 64 * self.blockIdx.x
        gx = self.global_view(x_ptr, dtype=float32, shape=[m, n])
        gw = self.global_view(w_ptr, dtype=float32, shape=[m, n])
        gy = self.global_view(y_ptr, dtype=float32, shape=[self.rows, n])
        sx = self.shared_tensor(dtype=float32, shape=[self.stages, self.rows, 64])
        sw = self.shared_tensor(dtype=float32, shape=[self.stages, self.rows, 64])
        acc = self.register_tensor(dtype=float32, shape=[self.rows, 64], init=0.0)
        for stage in range(self.stages - 1):
            self.copy_async(src=gx, dst=sx[stage], offsets=[stage * self.rows, offset_n])
            self.copy_async(src=gw, dst=sw[stage], offsets=[stage * self.rows, offset_n])
            self.copy_async_commit_group()
        stage: int32 = 0
        for i in self.range(cdiv(m, self.rows)):
            self.copy_async_wait_group(self.stages - 2)
            self.sync()
            acc = acc + self.load_shared(sx[stage]) * self.load_shared(sw[stage])
            ahead = (stage + self.stages - 1) % self.stages
            self.copy_async(src=gx, dst=sx[ahead], offsets=[(i + self.stages - 1) * self.rows, offset_n])
            self.copy_async(src=gw, dst=sw[ahead], offsets=[(i + self.stages - 1) * self.rows, offset_n])
            self.copy_async_commit_group()  # of the loop
            stage = (stage + 1) % self.stages
        self.store_global(gy, acc, offsets=[0, offset_n])


def run(odd):
    m, n = (45, 72) if odd else (48, 128)
    rng = np.random.default_rng(7)
    x, w = rng.standard_normal((m, n), dtype=np.float32), rng.standard_normal((m, n), dtype=np.float32)
    y = torch.zeros(8, n, dtype=torch.float32).cuda()
    Pipeline()(m, n, torch.from_numpy(x).cuda(), torch.from_numpy(w).cuda(), y)
    products = np.pad(x * w, [(0, -m % 8), (0, 0)])
    np.testing.assert_allclose(y.cpu().numpy(), products.reshape(-1, 8, n).sum(0), rtol=1e-4, atol=1e-5)
