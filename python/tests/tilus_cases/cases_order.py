"""Missing barriers, each beside the program that has them. Run by test_tilus.py with every check."""
import pytest
import tilevm
import tilus
import torch
from tilus import float16, int32


class Exchange(tilus.Script):
    """Rows become columns by way of shared memory, twice. `without`: the sync that is missing."""

    def __init__(self, without: int):
        super().__init__()
        self.without = without

    def __call__(self, x_ptr: ~float16, y_ptr: ~float16):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        gx = self.global_view(x_ptr, dtype=float16, shape=[2, 32, 32])
        gy = self.global_view(y_ptr, dtype=float16, shape=[2, 32, 32])
        s = self.shared_tensor(dtype=float16, shape=[32, 32])
        for i in self.range(2):
            self.store_shared(s, self.load_global(gx, offsets=[i, 0, 0], shape=[32, 32], dims=[1, 2]))
            if self.without != 1:
                self.sync()
            self.store_global(gy, self.load_shared(s.transpose()), offsets=[i, 0, 0], dims=[1, 2])
            if self.without != 2:
                self.sync()


def exchange(without):
    x, y = torch.rand(2, 32, 32, dtype=torch.float16, device="cuda"), torch.zeros(2, 32, 32, dtype=torch.float16, device="cuda")
    Exchange(without)(x, y)
    torch.testing.assert_close(y, x.transpose(1, 2).contiguous())


def test_a_program_with_its_barriers():
    exchange(0)


@pytest.mark.parametrize("without, what", [(1, "reads"), (2, "writes")])
def test_a_missing_sync(without, what):
    with pytest.raises(tilevm.TrapError) as caught:
        exchange(without)
    message = str(caught.value)
    assert caught.value.code == "vm.missing_token" and what in message and message.count("cases_order.py:") >= 2, message


class Ring(tilus.Script):
    """cp.async, two stages ahead. `left`: groups that the wait leaves under way; 1 is right."""

    def __init__(self, left: int, commits: bool):
        super().__init__()
        self.left = left
        self.commits = commits

    def __call__(self, n: int32, x_ptr: ~int32, y_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        gx = self.global_view(x_ptr, dtype=int32, shape=[n, 64])
        gy = self.global_view(y_ptr, dtype=int32, shape=[n, 64])
        s = self.shared_tensor(dtype=int32, shape=[3, 64])
        for stage in range(2):
            self.copy_async(src=gx, dst=s[stage], offsets=[stage, 0], dims=[1])
            self.copy_async_commit_group()
        for i in self.range(n):
            self.copy_async_wait_group(self.left)
            self.sync()
            self.store_global(gy, self.load_shared(s[i % 3]) + 1, offsets=[i, 0], dims=[1])
            self.copy_async(src=gx, dst=s[(i + 2) % 3], offsets=[i + 2, 0], dims=[1])
            if self.commits:
                self.copy_async_commit_group()


def ring(left, commits=True):
    x, y = torch.arange(320, dtype=torch.int32, device="cuda").reshape(5, 64), torch.zeros(5, 64, dtype=torch.int32, device="cuda")
    Ring(left, commits)(5, x, y)
    assert torch.equal(y, x + 1)


def test_copies_under_way():
    ring(1)
    ring(0)


@pytest.mark.parametrize("left, commits", [(2, True), (1, False)])
def test_a_wait_for_too_little(left, commits):
    with pytest.raises(tilevm.TrapError) as caught:
        ring(left, commits)
    assert caught.value.code == "vm.missing_token", str(caught.value)


class OwnElements(tilus.Script):
    """Each thread reads what it wrote: the layouts are one."""

    def __call__(self, x_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        g = self.global_view(x_ptr, dtype=int32, shape=[32, 4])
        s = self.shared_tensor(dtype=int32, shape=[32, 4])
        x = self.load_global(g, offsets=[0, 0], shape=[32, 4])
        self.store_shared(s, x)
        y = self.load_shared(s)
        self.annotate_layout(x, self.cuda.default_register_layout(num_warps=1, dtype=int32, shape=[32, 4]))
        self.annotate_layout(y, self.cuda.default_register_layout(num_warps=1, dtype=int32, shape=[32, 4]))
        self.store_global(g, y * 2, offsets=[0, 0])


def test_a_thread_needs_no_sync_for_what_it_wrote():
    x = torch.arange(128, dtype=torch.int32, device="cuda").reshape(32, 4)
    OwnElements()(x)
    assert torch.equal(x.cpu(), 2 * torch.arange(128, dtype=torch.int32).reshape(32, 4))


class Barrier(tilus.Script):
    """TMA and a barrier. `wrong`: what is missing."""

    def __init__(self, wrong: str):
        super().__init__()
        self.wrong = wrong

    def __call__(self, n: int32, x_ptr: ~float16, y_ptr: ~float16):
        self.attrs.blocks = [1]
        self.attrs.warps = 4
        gx = self.global_view(x_ptr, dtype=float16, shape=[n, 64])
        gy = self.global_view(y_ptr, dtype=float16, shape=[n, 64])
        s = self.shared_tensor(dtype=float16, shape=[64, 64])
        barrier = self.mbarrier.alloc(counts=[1])
        for i in self.range(n // 64):
            with self.single_thread():
                if self.wrong != "arrive":
                    self.mbarrier.arrive_and_expect_tx(barrier[0], transaction_bytes=4096 if self.wrong == "bytes" else s.nbytes)
                self.tma.global_to_shared(src=gx, dst=s, offsets=[64 * i, 0], mbarrier=barrier[0])
            if self.wrong != "wait":
                self.mbarrier.wait(barrier[0], phase=0 if self.wrong == "phase" else i % 2)
            self.store_global(gy, self.load_shared(s) * float16(2.0), offsets=[64 * i, 0])
            self.sync()


def copy_with_barrier(wrong):
    x, y = torch.rand(192, 64, dtype=torch.float16, device="cuda"), torch.zeros(192, 64, dtype=torch.float16, device="cuda")
    Barrier(wrong)(192, x, y)
    torch.testing.assert_close(y, x * 2)


def test_copies_that_complete_on_a_barrier():
    copy_with_barrier("")


@pytest.mark.parametrize("wrong, code", [("arrive", "vm.assert"), ("bytes", "vm.assert"), ("phase", "vm.assert"), ("wait", "vm.missing_token")])
def test_mistakes_with_barriers(wrong, code):
    with pytest.raises(tilevm.TrapError) as caught:
        copy_with_barrier(wrong)
    assert caught.value.code == code and "cases_order.py" in str(caught.value), str(caught.value)


class TwoGroups(tilus.Script):
    """A producer waits for a consumer that comes later."""

    def __call__(self, n: int32, x_ptr: ~float16):
        self.attrs.blocks = [1]
        self.attrs.warps = 5
        gx = self.global_view(x_ptr, dtype=float16, shape=[n, 64])
        s = self.shared_tensor(dtype=float16, shape=[64, 64])
        full = self.mbarrier.alloc(counts=[1])
        empty = self.mbarrier.alloc(counts=[128])
        with self.thread_group(thread_begin=128, num_threads=32):
            for i in self.range(n // 64):
                self.mbarrier.wait(empty[0], phase=(i + 1) % 2)
                with self.single_thread():
                    self.mbarrier.arrive_and_expect_tx(full[0], transaction_bytes=s.nbytes)
                    self.tma.global_to_shared(src=gx, dst=s, offsets=[64 * i, 0], mbarrier=full[0])
        with self.thread_group(thread_begin=0, num_threads=128):
            for i in self.range(n // 64):
                self.mbarrier.wait(full[0], phase=i % 2)
                self.store_global(gx, self.load_shared(s), offsets=[64 * i, 0])
                self.mbarrier.arrive(empty[0])


def test_groups_that_wait_for_each_other_are_refused():
    with pytest.raises(tilevm.UnsupportedError) as caught:
        TwoGroups()(128, torch.zeros(128, 64, dtype=torch.float16, device="cuda"))
    message = str(caught.value)
    assert "cases_order.py" in message and "error[tilus.groups]: mbarrier.wait" in message and "fix: " in message
