"""Tilus scripts of memory, arithmetic, control flow, each compared with torch. Run by test_tilus.py with every check."""
import pytest
import tilevm
import tilus
import torch
from tilus import float16, float32, int32
from tilus.utils import cdiv


class AddRows(tilus.Script):
    """Any size: the last block sticks out of the array."""

    def __call__(self, m: int32, n: int32, x_ptr: ~float32, y_ptr: ~float32, z_ptr: ~float32):
        self.attrs.blocks = [cdiv(m, 8), cdiv(n, 32)]
        self.attrs.warps = 1
        at = [8 * self.blockIdx.x, 32 * self.blockIdx.y]
        gx = self.global_view(x_ptr, dtype=float32, shape=[m, n])
        gy = self.global_view(y_ptr, dtype=float32, shape=[m, n])
        gz = self.global_view(z_ptr, dtype=float32, shape=[m, n])
        x = self.load_global(gx, offsets=at, shape=[8, 32])
        y = self.load_global(gy, offsets=at, shape=[8, 32])
        self.store_global(gz, x + y * 2.0, offsets=at)


@pytest.mark.parametrize("m, n", [(8, 32), (13, 77), (1, 1), (64, 96)])
def test_windows_that_stick_out(m, n):
    x, y, z = (torch.rand(m, n, device="cuda") for _ in range(3))
    AddRows()(m, n, x, y, z)
    torch.testing.assert_close(z, x + 2 * y)


class Prefetch(tilus.Script):
    """The load of the last round lies behind the array: it reads zeros."""

    def __call__(self, n: int32, x_ptr: ~float32, y_ptr: ~float32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        gx = self.global_view(x_ptr, dtype=float32, shape=[n])
        gy = self.global_view(y_ptr, dtype=float32, shape=[n])
        x = self.load_global(gx, offsets=[0], shape=[32])
        for i in self.range(cdiv(n, 32)):
            following = self.load_global(gx, offsets=[32 * i + 32], shape=[32])
            self.store_global(gy, x + following, offsets=[32 * i])
            x = following


def test_what_lies_outside_reads_as_zero_without_an_alarm():
    x, y = torch.rand(96, device="cuda"), torch.zeros(96, device="cuda")
    Prefetch()(96, x, y)
    torch.testing.assert_close(y, x + torch.cat([x[32:], torch.zeros(32, device="cuda")]))


class Loops(tilus.Script):
    """Variables and tensors that loops change, a while, a break."""

    def __call__(self, n: int32, out_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        g = self.global_view(out_ptr, dtype=int32, shape=[4, 8])
        total: int32 = 0
        for i in self.range(n):
            if i % 2 == 0:
                total = total + i
            else:
                total = total - 1
        steps: int32 = 0
        value: int32 = n
        while value != 1:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            steps += 1
        found: int32 = -1
        for i in self.range(100):
            if i * i >= n:
                found = i
                break
        acc = self.register_tensor(dtype=int32, shape=[8], init=0)
        for i in self.range(n):
            acc = acc + i
        self.store_global(g, self.register_tensor(dtype=int32, shape=[1, 8], init=lambda i, j: total + j), offsets=[0, 0])
        self.store_global(g, self.register_tensor(dtype=int32, shape=[1, 8], init=lambda i, j: steps + j), offsets=[1, 0])
        self.store_global(g, self.register_tensor(dtype=int32, shape=[1, 8], init=lambda i, j: found + j), offsets=[2, 0])
        self.store_global(g, acc, offsets=[3, 0], dims=[1])


@pytest.mark.parametrize("n", [1, 6, 27])
def test_variables_that_loops_change(n):
    out = torch.zeros(4, 8, dtype=torch.int32, device="cuda")
    Loops()(n, out)
    steps, value = 0, n
    while value != 1:
        value, steps = (value // 2 if value % 2 == 0 else 3 * value + 1), steps + 1
    total = sum(i if i % 2 == 0 else -1 for i in range(n))
    root = next(i for i in range(100) if i * i >= n)
    assert out[:3, 0].tolist() == [total, steps, root] and out[3].tolist() == [n * (n - 1) // 2] * 8
    assert out[0].tolist() == [total + j for j in range(8)]


class Table(tilus.Script):
    """Elements of slices as numbers, and a slice that is stored to."""

    def __call__(self, n: int32, table_ptr: ~int32, x_ptr: ~int32, out_ptr: ~int32):
        self.attrs.blocks = [n]
        self.attrs.warps = 1
        table = self.global_view(table_ptr, dtype=int32, shape=[n, 3])
        x = self.global_view(x_ptr, dtype=int32, shape=[n, 32])
        out = self.global_view(out_ptr, dtype=int32, shape=[n, 2, 32])
        row = table[self.blockIdx.x, 2].item()
        part = out[self.blockIdx.x, 1]
        self.store_global(part, self.load_global(x, offsets=[row, 0], shape=[32], dims=[1]), offsets=[0])


def test_slices_and_their_elements():
    table = torch.tensor([[9, 9, 3], [9, 9, 0], [9, 9, 2], [9, 9, 1]], dtype=torch.int32, device="cuda")
    x, out = torch.arange(128, dtype=torch.int32, device="cuda").reshape(4, 32), torch.zeros(4, 2, 32, dtype=torch.int32, device="cuda")
    Table()(4, table, x, out)
    assert torch.equal(out[:, 1], x[[3, 0, 2, 1]]) and not out[:, 0].any()


class Reductions(tilus.Script):
    """A shape that is no power of two: the rest of the tile takes no part."""

    def __call__(self, x_ptr: ~float32, out_ptr: ~float32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        x = self.load_global(self.global_view(x_ptr, dtype=float32, shape=[8, 96]), offsets=[0, 0], shape=[8, 96])
        out = self.global_view(out_ptr, dtype=float32, shape=[3, 8])
        self.store_global(out, self.sum(x, dim=1), offsets=[0, 0], dims=[1])
        self.store_global(out, self.max(x, dim=1), offsets=[1, 0], dims=[1])
        self.store_global(out, self.min(x, dim=1), offsets=[2, 0], dims=[1])


def test_reductions_of_sizes_that_are_no_powers_of_two():
    x = torch.rand(8, 96, device="cuda") - 2.0
    out = torch.zeros(3, 8, device="cuda")
    Reductions()(x, out)
    torch.testing.assert_close(out, torch.stack([x.sum(1), x.amax(1), x.amin(1)]))


class Shared(tilus.Script):
    """Parts of shared memory: slices, a transposed view, a reshaped one, sizes 3 and 12."""

    def __call__(self, x_ptr: ~float16, y_ptr: ~float16, z_ptr: ~float16):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        gx = self.global_view(x_ptr, dtype=float16, shape=[3, 16, 8])
        s = self.shared_tensor(dtype=float16, shape=[3, 16, 8])
        for i in self.range(3):
            x = self.load_global(gx, offsets=[i, 0, 0], shape=[16, 8], dims=[1, 2])
            self.store_shared(s[i], x)
        self.sync()
        y = self.load_shared(s[2].transpose())
        self.store_global(self.global_view(y_ptr, dtype=float16, shape=[8, 16]), y, offsets=[0, 0])
        flat = self.reshape_shared(s, shape=[12, 32])
        z = self.load_shared(flat)
        self.store_global(self.global_view(z_ptr, dtype=float16, shape=[12, 32]), z, offsets=[0, 0])


def test_parts_of_shared_memory():
    x = torch.rand(3, 16, 8, dtype=torch.float16, device="cuda")
    y, z = torch.zeros(8, 16, dtype=torch.float16, device="cuda"), torch.zeros(12, 32, dtype=torch.float16, device="cuda")
    Shared()(x, y, z)
    torch.testing.assert_close(y, x[2].T.contiguous())
    torch.testing.assert_close(z, x.reshape(12, 32))


class Mistake(tilus.Script):
    """Says that an array is larger than it is."""

    def __call__(self, n: int32, x_ptr: ~float32):
        self.attrs.blocks = [cdiv(n, 64)]
        self.attrs.warps = 1
        g = self.global_view(x_ptr, dtype=float32, shape=[n])
        x = self.load_global(g, offsets=[64 * self.blockIdx.x], shape=[64])  # here
        self.store_global(g, x + 1.0, offsets=[64 * self.blockIdx.x])


def test_a_mistake_names_the_line_of_the_script():
    with pytest.raises(tilevm.TrapError) as caught:
        Mistake()(200, torch.zeros(100, device="cuda"))
    line = next(i for i, text in enumerate(open(__file__), 1) if text.rstrip().endswith("# here"))
    assert caught.value.code == "vm.out_of_bounds" and caught.value.line == line and caught.value.file.endswith("cases_language.py")


class Address(tilus.Script):
    def __call__(self, x: int):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        s = self.shared_tensor(dtype=float32, shape=[1])
        s[0].item_ptr()


def test_what_does_not_run_is_refused_with_its_line():
    with pytest.raises(tilevm.UnsupportedError) as caught:
        Address()(1)
    assert "cases_language.py" in str(caught.value) and "error[tilus.unsupported]" in str(caught.value) and "fix: " in str(caught.value)


class Says(tilus.Script):
    def __call__(self, n: int32, x_ptr: ~int32):
        self.attrs.blocks = [2]
        self.attrs.warps = 1
        if self.blockIdx.x == 1:
            self.printf("block %d of %s: %5.2f%%\n", self.blockIdx.x, "two", float32(12.5))
        else:
            x = self.load_global(self.global_view(x_ptr, dtype=int32, shape=[n]), offsets=[0], shape=[4])
            self.print_tensor("counts ", x * 3)


def test_prints(capsys):
    Says()(4, torch.arange(4, dtype=torch.int32, device="cuda"))
    out = capsys.readouterr().out
    assert "block 1 of two: 12.50%\n" in out and "counts register_tile(dtype=int32, shape=[4])\n" in out and "    9" in out


class Addresses(tilus.Script):
    def __call__(self, n: int32, x_ptr: ~float32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        g = self.global_view(x_ptr, dtype=float32, shape=[n])
        self.store_global(g, self.register_tensor(dtype=float32, shape=[32], init=1.0), offsets=[0])


def test_addresses_of_tensors():
    x = torch.zeros(40, device="cuda")
    Addresses()(32, x.data_ptr())
    assert x.tolist() == [1.0] * 32 + [0.0] * 8
