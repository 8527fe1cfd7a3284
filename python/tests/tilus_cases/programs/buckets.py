"""Values go to the bucket of their key: an atomic counter's old value is the place in the bucket."""
import numpy as np
import tilus
import torch
from tilus import int32
from tilus.utils import cdiv


class Buckets(tilus.Script):
    def __init__(self, buckets=8, chunk=64):
        super().__init__()
        self.buckets = buckets
        self.chunk = chunk

    def __call__(self, n: int32, keys_ptr: ~int32, values_ptr: ~int32, empty_ptr: ~int32, out_ptr: ~int32, counts_ptr: ~int32):
        self.attrs.blocks = [cdiv(n, self.chunk)]
        self.attrs.warps = 2
        size = self.buckets * self.chunk
        first: int32 = self.chunk * self.blockIdx.x
        gempty = self.global_view(empty_ptr, dtype=int32, shape=[size])
        gout = self.global_view(out_ptr, dtype=int32, shape=[cdiv(n, self.chunk), size])
        gcounts = self.global_view(counts_ptr, dtype=int32, shape=[self.buckets])
        places = self.shared_tensor(dtype=int32, shape=[size])
        counts = self.shared_tensor(dtype=int32, shape=[self.buckets])
        self.store_shared(places, self.load_global(gempty, offsets=[0], shape=[size]))
        self.store_shared(counts, self.load_global(gempty, offsets=[0], shape=[self.buckets]))
        self.sync()
        keys = self.load_global(self.global_view(keys_ptr, dtype=int32, shape=[n]), offsets=[first], shape=[self.chunk])
        values = self.load_global(self.global_view(values_ptr, dtype=int32, shape=[n]), offsets=[first], shape=[self.chunk])
        ones = self.register_tensor(dtype=int32, shape=[self.chunk], init=1)
        rank = self.atomic.shared_scatter_add(counts, dim=0, indices=keys, values=ones)
        self.store_shared_scatter(places, dim=0, indices=keys * self.chunk + rank, values=values)
        self.sync()
        self.atomic.global_add(gcounts, self.load_shared(counts))
        self.store_global(gout, self.load_shared(places), offsets=[self.blockIdx.x, 0], dims=[1])


def run(odd):
    # Elements outside of the arrays have key and value zero.
    n = 150 if odd else 128
    blocks = -(-n // 64)
    rng = np.random.default_rng(8)
    keys, values = rng.integers(0, 8, n, dtype=np.int32), rng.integers(1, 1000, n, dtype=np.int32)
    out, counts = torch.zeros(blocks, 512, dtype=torch.int32).cuda(), torch.zeros(8, dtype=torch.int32).cuda()
    Buckets()(n, torch.from_numpy(keys).cuda(), torch.from_numpy(values).cuda(), torch.zeros(512, dtype=torch.int32).cuda(), out, counts)
    expected = np.bincount(keys, minlength=8)
    expected[0] += -n % 64
    np.testing.assert_array_equal(counts.cpu().numpy(), expected)
    for block, rows in enumerate(out.cpu().numpy().reshape(blocks, 8, 64)):
        for key, row in enumerate(rows):
            part = slice(64 * block, 64 * block + 64)
            assert sorted(row[row > 0]) == sorted(values[part][keys[part] == key])
