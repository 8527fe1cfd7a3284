"""The softmax of the rows of a product: shared memory gives the threads of a row what those of the product hold."""
import numpy as np
import tilus
import torch
from tilus import float16, float32, int32
from tilus.utils import cdiv


class ProductSoftmax(tilus.Script):
    def __init__(self, block_m=16):
        super().__init__()
        self.block_m = block_m

    def __call__(self, m: int32, n: int, k: int, a_ptr: ~float16, b_ptr: ~float16, y_ptr: ~float32):
        self.attrs.blocks = [cdiv(m, 2 * self.block_m)]
        self.attrs.warps = 2
        ga = self.global_view(a_ptr, dtype=float16, shape=[m, k])
        gb = self.global_view(b_ptr, dtype=float16, shape=[k, n])
        gy = self.global_view(y_ptr, dtype=float32, shape=[m, n])
        s = self.shared_tensor(dtype=float32, shape=[self.block_m, n])
        for i in self.range(2):
            row: int32 = (2 * self.blockIdx.x + i) * self.block_m
            acc = self.register_tensor(dtype=float32, shape=[self.block_m, n], init=0.0)
            a = self.load_global(ga, offsets=[row, 0], shape=[self.block_m, k])
            b = self.load_global(gb, offsets=[0, 0], shape=[k, n])
            self.dot(a, b, acc, out=acc)
            self.store_shared(s, acc)
            self.sync()
            x = self.load_shared(s)
            e = self.exp(x - self.max(x, dim=1, keepdim=True))
            self.store_global(gy, e / self.sum(e, dim=1, keepdim=True), offsets=[row, 0])
            self.sync()


def run(odd):
    m, n, k = (45, 64, 32) if odd else (64, 64, 32)
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape, dtype=np.float32).astype(np.float16) for shape in ((m, k), (k, n)))
    y = torch.zeros(m, n, dtype=torch.float32).cuda()
    ProductSoftmax()(m, n, k, torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda(), y)
    x = a.astype(np.float32) @ b.astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y.cpu().numpy(), e / e.sum(1, keepdims=True), rtol=1e-4, atol=1e-7)
