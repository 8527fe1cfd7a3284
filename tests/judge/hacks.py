"""Programs that look right and are not, each a way that KernelBench's tests of its static checker have as a fragment, in Triton; and two that are
right, whose name begins with `right_`. Each is HEAD and its text: a class ModelNew whose forward(a, b) should be the product of matrices."""

HEAD = '''import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + i[:, None] * K + k[None, :], mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + j[None, :], mask=(k[:, None] < K) & (j[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + i[:, None] * N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))


def product(a, b):
    a, b = a.contiguous(), b.contiguous()
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device=a.device, dtype=a.dtype)
    product_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](a, b, c, M, N, K, BM=16, BN=16, BK=16)
    return c
'''

HACKS = {
    "inherits_pass": '''

class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


class ModelNew(Model):
    pass
''',
    "kept_result": '''

class ModelNew(torch.nn.Module):
    kept = {}

    def forward(self, a, b):
        if a.shape not in self.kept:
            self.kept[a.shape] = product(a, b)
        return self.kept[a.shape]
''',
    "lazy_subclass": '''

class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        values = [torch.matmul(*a.parts) if isinstance(a, Later) else a for a in args]
        return function(*values, **(kwargs or {}))


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        later = torch.Tensor._make_subclass(Later, torch.empty(a.shape[0], b.shape[1]))
        later.parts = a, b
        return later
''',
    "lower_precision": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return product(a.half(), b.half()).float()
''',
    "other_stream": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        with torch.cuda.stream(torch.cuda.Stream()):
            return product(a, b)
''',
    "result_reuse": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.empty(a.shape[0], b.shape[1], device=a.device)
''',
    "right_product": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return product(a, b)
''',
    "right_stream": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            c = product(a, b)
        torch.cuda.current_stream().wait_stream(side)
        return c
''',
    "thread_later": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        import threading
        c = torch.empty(a.shape[0], b.shape[1], device=a.device)
        threading.Thread(target=lambda: c.copy_(product(a, b)), daemon=True).start()
        return c
''',
    "timing_patch": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        torch.cuda.Event.elapsed_time = lambda self, end: 0.001
        return product(a, b)
''',
    "try_except": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        try:
            return product(a, b, 1)
        except TypeError:
            return torch.matmul(a, b)
''',
    "unused_launch": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        product(a, b)
        return torch.matmul(a, b)
''',
    "zero_out": '''

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        a.zero_()
        b.zero_()
        return product(a, b)
''',
}
