"""A product whose blocks add their parts of k one after the other, in the order of a semaphore."""
import numpy as np
import tilus
import torch
from tilus import float16, float32, int32
from tilus.utils import cdiv


class SplitK(tilus.Script):
    def __init__(self, parts=3):
        super().__init__()
        self.parts = parts

    def __call__(self, m: int32, n: int, k: int, a_ptr: ~float16, b_ptr: ~float16, c_ptr: ~float32):
        self.attrs.blocks = [cdiv(m, 32), cdiv(n, 32), self.parts]
        self.attrs.warps = 1
        offset_m: int32 = 32 * self.blockIdx.x
        offset_n: int32 = 32 * self.blockIdx.y
        length = cdiv(cdiv(k, self.parts), 16) * 16
        first = self.blockIdx.z * length
        ga = self.global_view(a_ptr, dtype=float16, shape=[m, k])
        gb = self.global_view(b_ptr, dtype=float16, shape=[k, n])
        gc = self.global_view(c_ptr, dtype=float32, shape=[m, n])
        acc = self.register_tensor(dtype=float32, shape=[32, 32], init=0.0)
        for offset_k in self.range(first, min(first + length, k), 16):
            a = self.load_global(ga, offsets=[offset_m, offset_k], shape=[32, 16])
            b = self.load_global(gb, offsets=[offset_k, offset_n], shape=[16, 32])
            self.dot(a, b, acc, out=acc)
        turns = self.global_tensor(dtype=int32, shape=[cdiv(m, 32), cdiv(n, 32)], requires_clean=True)
        turn: ~int32 = turns[self.blockIdx.x, self.blockIdx.y].item_ptr()
        if self.blockIdx.z > 0:
            self.lock_semaphore(turn, value=self.blockIdx.z)
            self.add(acc, self.load_global(gc, offsets=[offset_m, offset_n], shape=[32, 32]), out=acc)
        self.store_global(gc, acc, offsets=[offset_m, offset_n])
        self.sync()
        self.release_semaphore(turn, value=(self.blockIdx.z + 1) % self.parts)


def run(odd):
    m, n, k = (45, 56, 136) if odd else (32, 64, 96)
    rng = np.random.default_rng(2)
    a, b = (rng.random(shape, dtype=np.float32).astype(np.float16) for shape in ((m, k), (k, n)))
    c = torch.zeros(m, n, dtype=torch.float32).cuda()
    SplitK()(m, n, k, torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda(), c)
    np.testing.assert_allclose(c.cpu().numpy(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4)
