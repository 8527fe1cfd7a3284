"""Each block counts in shared memory, and adds its counts to those of all."""
import numpy as np
import tilus
import torch
from tilus import int32
from tilus.utils import cdiv


class Histogram(tilus.Script):
    def __init__(self, bins=16, chunk=128):
        super().__init__()
        self.bins = bins
        self.chunk = chunk

    def __call__(self, n: int32, x_ptr: ~int32, zeros_ptr: ~int32, out_ptr: ~int32):
        self.attrs.blocks = [cdiv(n, 2 * self.chunk)]
        self.attrs.warps = 2
        gx = self.global_view(x_ptr, dtype=int32, shape=[n])
        gout = self.global_view(out_ptr, dtype=int32, shape=[self.bins])
        counts = self.shared_tensor(dtype=int32, shape=[self.bins])
        self.store_shared(counts, self.load_global(self.global_view(zeros_ptr, dtype=int32, shape=[self.bins]), offsets=[0], shape=[self.bins]))
        self.sync()
        ones = self.register_tensor(dtype=int32, shape=[self.chunk], init=1)
        for i in self.range(2):
            x = self.load_global(gx, offsets=[(2 * self.blockIdx.x + i) * self.chunk], shape=[self.chunk])
            self.atomic.shared_scatter_add(counts, dim=0, indices=x, values=ones)
        self.sync()
        found = self.load_shared(counts)
        self.atomic.global_add(gout, found)


def run(odd):
    # Elements outside of x are zero, and are counted.
    n = 700 if odd else 512
    x = np.random.default_rng(4).integers(0, 16, n, dtype=np.int32)
    out = torch.zeros(16, dtype=torch.int32).cuda()
    Histogram()(n, torch.from_numpy(x).cuda(), torch.zeros(16, dtype=torch.int32).cuda(), out)
    expected = np.bincount(x, minlength=16)
    expected[0] += -n % 256
    np.testing.assert_array_equal(out.cpu().numpy(), expected)
