"""Script.atomic and scatters, as the document of Tilus states them: unmodified scripts. Run by test_tilus.py with every check.

Tilus 0.2.0 has none of it: with that version the cases are skipped by name."""
import pathlib
import re

import pytest
import tilevm
import tilus
import torch
from tilus import float32, int32, uint32

pytestmark = pytest.mark.skipif(not hasattr(tilus.Script, "atomic") and "atomic" not in getattr(tilus.Script, "__annotations__", {}),
                                reason="this Tilus has no Script.atomic; 0.2.0 does not")

FUNCTIONS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "min": min, "max": max, "exch": lambda a, b: b}


class SharedUpdate(tilus.Script):
    def __init__(self, op: str, sem: str, scope: str):
        super().__init__()
        self.op = op
        self.sem = sem
        self.scope = scope

    def __call__(self, m_ptr: ~int32, v_ptr: ~int32, old_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        gm = self.global_view(m_ptr, dtype=int32, shape=[32])
        s = self.shared_tensor(dtype=int32, shape=[32])
        self.store_shared(s, self.load_global(gm, offsets=[0], shape=[32]))
        values = self.load_global(self.global_view(v_ptr, dtype=int32, shape=[32]), offsets=[0], shape=[32])
        self.sync()
        if self.op == "add":
            old = self.atomic.shared_add(s, values, sem=self.sem, scope=self.scope)
        if self.op == "sub":
            old = self.atomic.shared_sub(s, values, sem=self.sem, scope=self.scope)
        if self.op == "min":
            old = self.atomic.shared_min(s, values, sem=self.sem, scope=self.scope)
        if self.op == "max":
            old = self.atomic.shared_max(s, values, sem=self.sem, scope=self.scope)
        if self.op == "exch":
            old = self.atomic.shared_exch(s, values, sem=self.sem, scope=self.scope)
        self.sync()
        self.store_global(gm, self.load_shared(s), offsets=[0])
        self.store_global(self.global_view(old_ptr, dtype=int32, shape=[32]), old, offsets=[0])


class GlobalUpdate(tilus.Script):
    def __init__(self, op: str, sem: str, scope: str):
        super().__init__()
        self.op = op
        self.sem = sem
        self.scope = scope

    def __call__(self, m_ptr: ~int32, v_ptr: ~int32, old_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        gm = self.global_view(m_ptr, dtype=int32, shape=[32])
        values = self.load_global(self.global_view(v_ptr, dtype=int32, shape=[32]), offsets=[0], shape=[32])
        if self.op == "add":
            old = self.atomic.global_add(gm, values, sem=self.sem, scope=self.scope)
        if self.op == "sub":
            old = self.atomic.global_sub(gm, values, sem=self.sem, scope=self.scope)
        if self.op == "min":
            old = self.atomic.global_min(gm, values, sem=self.sem, scope=self.scope)
        if self.op == "max":
            old = self.atomic.global_max(gm, values, sem=self.sem, scope=self.scope)
        if self.op == "exch":
            old = self.atomic.global_exch(gm, values, sem=self.sem, scope=self.scope)
        self.store_global(self.global_view(old_ptr, dtype=int32, shape=[32]), old, offsets=[0])


def numbers(seed):
    torch.manual_seed(seed)
    return torch.randint(-50, 50, (32,), dtype=torch.int32).cuda()


@pytest.mark.parametrize("op", FUNCTIONS)
@pytest.mark.parametrize("script", [SharedUpdate, GlobalUpdate])
def test_each_element_is_updated_and_the_old_one_given(script, op):
    m, v, old = numbers(1), numbers(2), torch.zeros(32, dtype=torch.int32).cuda()
    before = m.clone()
    script(op, "relaxed", "cta" if script is SharedUpdate else "gpu")(m, v, old)
    expected = [FUNCTIONS[op](a, b) for a, b in zip(before.flatten().tolist(), v.flatten().tolist())]
    assert m.flatten().tolist() == expected and torch.equal(old, before)


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope", ["cta", "cluster", "gpu", "sys"])
def test_orders_and_scopes(sem, scope):
    for script in (SharedUpdate, GlobalUpdate):
        m, v, old = numbers(1), numbers(2), torch.zeros(32, dtype=torch.int32).cuda()
        before = m.clone()
        script("add", sem, scope)(m, v, old)
        assert torch.equal(m, before + v)


class Lock(tilus.Script):
    """The document's last example: compare-and-swap, then a branch on the old value."""

    def __call__(self, out_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        g = self.global_view(out_ptr, dtype=int32, shape=[3])
        lock = self.shared_tensor(dtype=int32, shape=[1])
        zero = self.register_tensor(dtype=int32, shape=[1], init=0)
        one = self.register_tensor(dtype=int32, shape=[1], init=1)
        self.store_shared(lock, zero)
        self.sync()
        first = self.atomic.shared_cas(lock, compare=zero, values=one)
        second = self.atomic.shared_cas(lock, compare=zero, values=one)
        self.sync()
        self.store_global(g, first, offsets=[0])
        self.store_global(g, second, offsets=[1])
        if first[0].item() == 0:
            self.store_global(g, self.load_shared(lock), offsets=[2])


def test_compare_and_swap_of_a_lock():
    out = torch.full((3,), 7, dtype=torch.int32).cuda()
    Lock()(out)
    assert out.tolist() == [0, 1, 1]


class Histogram(tilus.Script):
    """Scatter with duplicates, the result unused; `shared`: in shared memory first."""

    def __init__(self, shared: bool):
        super().__init__()
        self.shared = shared

    def __call__(self, n: int32, bins: int, x_ptr: ~int32, out_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        g = self.global_view(out_ptr, dtype=int32, shape=[bins])
        x = self.load_global(self.global_view(x_ptr, dtype=int32, shape=[n]), offsets=[0], shape=[64])
        ones = self.register_tensor(dtype=int32, shape=[64], init=1)
        if self.shared:
            s = self.shared_tensor(dtype=int32, shape=[bins])
            self.store_shared(s, self.load_global(g, offsets=[0], shape=[bins]))  # Tilus has no layout for constants that go to shared memory
            self.sync()
            self.atomic.shared_scatter_add(s, dim=0, indices=x, values=ones)
            self.sync()
            self.store_global(g, self.load_shared(s), offsets=[0])
        else:
            self.atomic.global_scatter_add(g, dim=0, indices=x, values=ones)


@pytest.mark.parametrize("shared", [True, False])
def test_a_histogram_counts_duplicates(shared):
    torch.manual_seed(3)
    x, out = torch.randint(0, 8, (64,), dtype=torch.int32).cuda(), torch.zeros(8, dtype=torch.int32).cuda()
    Histogram(shared)(64, 8, x, out)
    assert out.tolist() == torch.bincount(x.long(), minlength=8).tolist()


@pytest.mark.parametrize("shared", [True, False])
def test_an_index_outside_of_the_dimension_is_a_mistake(shared):
    x, out = torch.full((64,), 8, dtype=torch.int32).cuda(), torch.zeros(8, dtype=torch.int32).cuda()
    with pytest.raises(tilevm.TrapError) as caught:
        Histogram(shared)(64, 8, x, out)
    assert caught.value.code == "vm.out_of_bounds" and "cases_atomics.py" in str(caught.value)


class Scatter(tilus.Script):
    """Along each of two dimensions, with the old values."""

    def __init__(self, op: str, dim: int):
        super().__init__()
        self.op = op
        self.dim = dim

    def __call__(self, m_ptr: ~int32, i_ptr: ~int32, v_ptr: ~int32, old_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        gm = self.global_view(m_ptr, dtype=int32, shape=[8, 8])
        shape = [4, 8] if self.dim == 0 else [8, 4]
        indices = self.load_global(self.global_view(i_ptr, dtype=int32, shape=shape), offsets=[0, 0], shape=shape)
        values = self.load_global(self.global_view(v_ptr, dtype=int32, shape=shape), offsets=[0, 0], shape=shape)
        s = self.shared_tensor(dtype=int32, shape=[8, 8])
        self.store_shared(s, self.load_global(gm, offsets=[0, 0], shape=[8, 8]))
        self.sync()
        if self.op == "add":
            old = self.atomic.shared_scatter_add(s, dim=self.dim, indices=indices, values=values)
            self.atomic.global_scatter_add(gm, dim=self.dim, indices=indices, values=values)
        if self.op == "sub":
            old = self.atomic.shared_scatter_sub(s, dim=self.dim, indices=indices, values=values)
            self.atomic.global_scatter_sub(gm, dim=self.dim, indices=indices, values=values)
        if self.op == "min":
            old = self.atomic.shared_scatter_min(s, dim=self.dim, indices=indices, values=values)
            self.atomic.global_scatter_min(gm, dim=self.dim, indices=indices, values=values)
        if self.op == "max":
            old = self.atomic.shared_scatter_max(s, dim=self.dim, indices=indices, values=values)
            self.atomic.global_scatter_max(gm, dim=self.dim, indices=indices, values=values)
        self.store_global(self.global_view(old_ptr, dtype=int32, shape=shape), old, offsets=[0, 0])


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("op", ["add", "sub", "min", "max"])
def test_a_dimension_and_an_index_choose_the_element(op, dim):
    torch.manual_seed(4)
    m = torch.randint(-50, 50, (8, 8), dtype=torch.int32).cuda()
    shape = (4, 8) if dim == 0 else (8, 4)
    i, v = torch.randint(0, 8, shape, dtype=torch.int32).cuda(), torch.randint(-50, 50, shape, dtype=torch.int32).cuda()
    old = torch.zeros(shape, dtype=torch.int32).cuda()
    expected = m.clone().tolist()
    for a in range(shape[0]):
        for b in range(shape[1]):
            row, column = (int(i[a, b]), b) if dim == 0 else (a, int(i[a, b]))
            expected[row][column] = FUNCTIONS[op](expected[row][column], int(v[a, b]))
    Scatter(op, dim)(m, i, v, old)
    assert m.tolist() == expected


class Permutation(tilus.Script):
    """Plain scatter stores, without collisions."""

    def __call__(self, i_ptr: ~int32, v_ptr: ~int32, out_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        indices = self.load_global(self.global_view(i_ptr, dtype=int32, shape=[32]), offsets=[0], shape=[32])
        values = self.load_global(self.global_view(v_ptr, dtype=int32, shape=[32]), offsets=[0], shape=[32])
        s = self.shared_tensor(dtype=int32, shape=[32])
        g = self.global_view(out_ptr, dtype=int32, shape=[2, 32])
        self.store_shared_scatter(s, dim=0, indices=indices, values=values)
        self.sync()
        self.store_global(g, self.load_shared(s), offsets=[0, 0], dims=[1])
        self.store_global_scatter(g[1], dim=0, indices=indices, values=values)


def test_scatter_stores():
    torch.manual_seed(5)
    i, v = torch.randperm(32, dtype=torch.int32).cuda(), torch.arange(32, dtype=torch.int32).cuda()
    out = torch.zeros(2, 32, dtype=torch.int32).cuda()
    Permutation()(i, v, out)
    expected = torch.zeros(32, dtype=torch.int32)
    expected[i.long().cpu()] = v.cpu()
    assert out[0].tolist() == out[1].tolist() == expected.tolist()


class Scan(tilus.Script):
    """Inclusive and exclusive."""

    def __init__(self, op: str, exclusive: bool):
        super().__init__()
        self.op = op
        self.exclusive = exclusive

    def __call__(self, x_ptr: ~int32, y_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        x = self.load_global(self.global_view(x_ptr, dtype=int32, shape=[4, 16]), offsets=[0, 0], shape=[4, 16])
        y = self.scan(x, dim=1, op=self.op, exclusive=self.exclusive)
        self.store_global(self.global_view(y_ptr, dtype=int32, shape=[4, 16]), y, offsets=[0, 0])


@pytest.mark.parametrize("exclusive", [False, True])
def test_scans(exclusive):
    torch.manual_seed(6)
    x, y = torch.randint(-9, 9, (4, 16), dtype=torch.int32).cuda(), torch.zeros(4, 16, dtype=torch.int32).cuda()
    Scan("add", exclusive)(x, y)
    sums = torch.cumsum(x, 1).int()
    assert torch.equal(y, sums - x if exclusive else sums)


class Unused(tilus.Script):
    """Updates whose old values nobody reads, by the functions without names for sem and scope; compare-and-swap of global memory."""

    def __call__(self, m_ptr: ~int32, v_ptr: ~int32, old_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        gm = self.global_view(m_ptr, dtype=int32, shape=[4, 8])
        v = self.load_global(self.global_view(v_ptr, dtype=int32, shape=[8]), offsets=[0], shape=[8])
        s = self.shared_tensor(dtype=int32, shape=[8])
        self.store_shared(s, self.load_global(gm, offsets=[0, 0], shape=[8], dims=[1]))
        self.sync()
        self.atomic.shared_exch(s, v)
        self.sync()
        self.store_global(gm, self.load_shared(s), offsets=[0, 0], dims=[1])
        self.atomic.global_exch(gm[1], v)
        self.atomic.global_sub(gm[2], v)
        compare = self.load_global(gm, offsets=[3, 0], shape=[8], dims=[1]) + self.register_tensor(dtype=int32, shape=[8], init=lambda i: i % 2)
        old = self.atomic.global_cas(gm[3], compare=compare, values=v)
        self.store_global(self.global_view(old_ptr, dtype=int32, shape=[8]), old, offsets=[0])


def test_updates_without_a_result_and_defaults():
    lowest = -2**31
    m = torch.arange(32, dtype=torch.int32).reshape(4, 8).cuda()
    m[2] = torch.tensor([0, 1, -1, lowest, 5, 2**31 - 1, 7, 9], dtype=torch.int32)
    v = torch.tensor([100, 1, lowest, lowest, -5, -1, 7, 2**31 - 1], dtype=torch.int32).cuda()
    before, old = m.clone(), torch.zeros(8, dtype=torch.int32).cuda()
    Unused()(m, v, old)
    assert torch.equal(m[0], v) and torch.equal(m[1], v)
    assert m[2].tolist() == [(a - b + 2**31) % 2**32 - 2**31 for a, b in zip(before[2].tolist(), v.tolist())]
    assert m[3].tolist() == [int(v[i]) if i % 2 == 0 else int(before[3, i]) for i in range(8)] and torch.equal(old, before[3])
    written = max(pathlib.Path(tilus.option.get_option("cache_dir")).rglob("kernel.tile"), key=lambda file: file.stat().st_mtime).read_text()
    updates = re.findall(r"atomic_\w+ (\w+ \w+) ", written)
    assert updates.count("relaxed tl_blk") == 1 and updates.count("relaxed device") == 3 and len(updates) == 4, updates


class Wrong(tilus.Script):
    """One argument that the document does not allow."""

    def __init__(self, sem: str, scope: str, size: int):
        super().__init__()
        self.sem = sem
        self.scope = scope
        self.size = size

    def __call__(self, m_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        values = self.register_tensor(dtype=int32, shape=[self.size], init=1)
        self.atomic.global_add(self.global_view(m_ptr, dtype=int32, shape=[8]), values, sem=self.sem, scope=self.scope)


@pytest.mark.parametrize("sem, scope, size, message", [("strong", "gpu", 8, "sem"), ("relaxed", "block", 8, "scope"), ("relaxed", "gpu", 4, "shape"),
                                                       ("relaxed", "gpu", 1, "shape")])
def test_other_words_and_shapes_are_rejected(sem, scope, size, message):
    m = torch.zeros(8, dtype=torch.int32).cuda()
    with pytest.raises(Exception, match=message):
        Wrong(sem, scope, size)(m)
    assert not m.any()


class Numbers(tilus.Script):
    """uint32 and float32, which the document foresees."""

    def __call__(self, u_ptr: ~uint32, v_ptr: ~uint32, f_ptr: ~float32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        u = self.global_view(u_ptr, dtype=uint32, shape=[2, 8])
        v = self.load_global(self.global_view(v_ptr, dtype=uint32, shape=[8]), offsets=[0], shape=[8])
        self.atomic.global_min(u[0], v)
        self.atomic.global_max(u[1], v)
        self.atomic.global_add(self.global_view(f_ptr, dtype=float32, shape=[8]), self.register_tensor(dtype=float32, shape=[8], init=0.5))


def test_unsigned_integers_and_floats():
    u = torch.tensor([[5, 2**31 + 1] * 4] * 2, dtype=torch.int64).to(torch.int32).cuda().view(torch.uint32)
    v, f = torch.tensor([7] * 4 + [-9] * 4, dtype=torch.int32).cuda().view(torch.uint32), torch.arange(8, dtype=torch.float32).cuda()
    Numbers()(u, v, f)
    old, new = [5, 2**31 + 1] * 4, [7] * 4 + [2**32 - 9] * 4
    found = (u.view(torch.int32).to(torch.int64) % 2**32).tolist()
    assert found == [[min(a, b) for a, b in zip(old, new)], [max(a, b) for a, b in zip(old, new)]] and f.tolist() == [i + 0.5 for i in range(8)]
