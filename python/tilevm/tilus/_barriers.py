"""Synchronisation: sync, groups of asynchronous copies, barriers (mbarrier).

A barrier is a number here, 8 apart as their addresses are. What it has counted is a value that the program carries: arrivals, bytes that
copies are still to bring, completed phases (their parity). A wait for a phase that is not complete would never end, because nothing else
runs beside it: that is an assertion.
"""
from __future__ import annotations

from . import _scan
from ._expr import compare
from ._refuse import Refusal
from ._scan import kind
from ._translate import Translator, row
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

_BYTES = 8  # of a barrier
_ARRIVED, _EXPECTED, _PARITY = "barriers arrived", "barriers expected bytes", "barriers parity"


@row("SyncThreadsInst")
def _sync(t: Translator, i: "Any") -> None:
    t.order.sync()


@row("SyncReduceThreadsInst")
def _sync_reduce(t: Translator, i: "Any") -> None:
    """The value is one for all threads."""
    t.order.sync()
    t.state[i.var] = t.x.truth(t.x.value(i.reduce_value))


@row("FenceProxyAsync", "FenceProxyAsyncRelease", "WgmmaFenceInst")
def _fence(t: Translator, i: "Any") -> None:
    """Between ways to the same memory, which is one way here."""


# --- groups of copies


@row("CopyAsyncCommitGroupInst")
def _commit(t: Translator, i: "Any") -> None:
    t.order.commit("copy")


@row("CopyAsyncWaitGroupInst")
def _wait(t: Translator, i: "Any") -> None:
    t.order.wait("copy", t.static(i.n, "the number of groups to leave under way"))


@row("CopyAsyncWaitAllInst")
def _wait_all(t: Translator, i: "Any") -> None:
    t.order.commit("copy")
    t.order.wait("copy", 0)


@row("CopyAsyncTensorCommitGroupInst")
def _commit_tensor(t: Translator, i: "Any") -> None:
    t.order.commit("tma")


@row("CopyAsyncTensorWaitGroupInst")
def _wait_tensor(t: Translator, i: "Any") -> None:
    t.order.wait("tma", t.static(i.n, "the number of groups to leave under way"))


@row("CopyAsyncBulkCommitGroupInst")
def _commit_bulk(t: Translator, i: "Any") -> None:
    t.order.commit("bulk")


@row("CopyAsyncBulkWaitGroupInst")
def _wait_bulk(t: Translator, i: "Any") -> None:
    t.order.wait("bulk", t.static(i.n, "the number of groups to leave under way"))


# --- barriers


class Barriers:
    """All of a kernel: what each allocation has, and how many arrivals complete a phase."""

    def __init__(self, t: Translator) -> None:
        self.first: "Dict[Any, int]" = {}
        counts: "List[int]" = []
        for inst in _scan.instructions(t.function.body):
            if kind(inst) == "AllocBarrierInst":
                self.first[inst] = len(counts)
                counts += [t.function.metadata.num_warps * 32 if c is None else t.static(c, "the count of a barrier") for c in inst.counts]
        self.number = len(counts)
        self.size = max(1, 1 << (self.number - 1).bit_length()) if counts else 1
        self.counts = counts + [0] * (self.size - len(counts))

    def zeros(self, t: Translator, name: str) -> None:
        if name not in t.state:
            from tilus.hidet.ir.dtypes import int32

            t.state[name] = t.w.constant(0, int32, (self.size,))


def begin(t: Translator) -> None:
    """At the top of a kernel, so that loops can carry what barriers count."""
    found = Barriers(t)
    t.tiles["barriers"] = found
    if found.number:
        for name in (_ARRIVED, _EXPECTED, _PARITY):
            found.zeros(t, name)


@row("AllocBarrierInst")
def _allocate(t: Translator, i: "Any") -> None:
    from tilus.hidet.ir.dtypes import int32

    first = t.tiles["barriers"].first[i]
    numbers = t.x.op("addi", t.iota(0, i.output.shape, int32), t.x.number(first, int32), dtype=int32)
    t.define(i.output, t.x.op("muli", numbers, t.x.number(_BYTES, int32), dtype=int32))


def _number(t: Translator, barrier: "Any") -> Tile:
    from tilus.hidet.ir.dtypes import int32

    return t.x.op("divi", t.x.cast(t.x.value(barrier), int32), t.x.number(_BYTES, int32), dtype=int32, words=" signed")


def _each(t: Translator, number: Tile, then: "Any") -> None:
    """Calls then(i) inside of an if for each barrier that it may be."""
    from tilus.hidet.ir.dtypes import int32

    barriers: Barriers = t.tiles["barriers"]
    if barriers.number == 1:
        then(0)
        return
    for i in range(barriers.number):
        t.state.branches(compare(t.x, "equal", number, t.x.number(i, int32)), lambda i=i: then(i))


def signal(t: Translator, barrier: "Any", *tokens: Token) -> None:
    """These complete on a barrier."""
    _each(t, _number(t, barrier), lambda i: t.order.add(f"barrier {i}", *tokens))


def count(t: Translator, barrier: "Any", arrivals: "Any" = None, expected: "Any" = None) -> None:
    """Changes what one has counted, and completes its phase if nothing is missing."""
    from tilus.hidet.ir.dtypes import int32

    barriers: Barriers = t.tiles["barriers"]
    here = compare(t.x, "equal", t.iota(0, (barriers.size,), int32), _number(t, barrier))
    zero = t.x.number(0, int32)
    for name, more in ((_ARRIVED, arrivals), (_EXPECTED, expected)):
        if more is not None:
            step = t.x.op("select", here, more, zero, dtype=int32)
            t.state[name] = t.x.op("addi", t.state[name], step, dtype=int32)
    counts = t.w.op(f"constant <i32: [{', '.join(map(str, barriers.counts))}]>", (barriers.size,), int32, typed=True)
    complete = t.x.op("andi", compare(t.x, "equal", t.state[_ARRIVED], counts), compare(t.x, "equal", t.state[_EXPECTED], zero), dtype=here.dtype)
    done = t.x.op("andi", complete, here, dtype=here.dtype)
    flipped = t.x.op("xori", t.state[_PARITY], t.x.number(1, int32), dtype=int32)
    t.state[_PARITY] = t.x.op("select", done, flipped, t.state[_PARITY], dtype=int32)
    t.state[_ARRIVED] = t.x.op("select", done, zero, t.state[_ARRIVED], dtype=int32)


def _times_threads(t: Translator, value: "Any") -> Tile:
    """Each thread of the group arrives."""
    from tilus.hidet.ir.dtypes import int32

    number = t.x.cast(t.x.value(value), int32)
    return number if t.threads[-1] == 1 else t.x.op("muli", number, t.x.number(t.threads[-1], int32), dtype=int32)


def _before(t: Translator) -> "Tuple[Token, Token]":
    return t.state["ready"], t.state["since"]


@row("ArriveBarrierInst")
def _arrive(t: Translator, i: "Any") -> None:
    signal(t, i.barrier, *_before(t))
    count(t, i.barrier, _times_threads(t, i.count))


@row("ArriveExpectTxBarrierInst")
def _arrive_expect(t: Translator, i: "Any") -> None:
    from tilus.hidet.ir.dtypes import int32

    signal(t, i.barrier, *_before(t))
    count(t, i.barrier, t.x.number(t.threads[-1], int32), _times_threads(t, i.transaction_bytes))


@row("WaitBarrierInst")
def _wait_barrier(t: Translator, i: "Any") -> None:
    from tilus.hidet.ir.dtypes import int32

    number = _number(t, i.barrier)
    parity = t.w.reshape(t.w.op(f"extract {t.state[_PARITY]}[{number}]", (1,), int32, typed=True), ())
    phase = t.x.op("andi", t.x.cast(t.x.value(i.phase), int32), t.x.number(1, int32), dtype=int32)
    t.w.put(f'assert {compare(t.x, "not_equal", parity, phase)}, "this wait for a phase of a barrier never ends: arrivals, or bytes of '
            'copies, are missing or belong to another barrier or phase"')
    _each(t, number, lambda k: t.order.add("ready", t.state[f"barrier {k}"]))


@row("ArriveExpectTxMulticastBarrierInst", "ArriveExpectTxRemoteBarrierInst", "MapSharedAddrInst", "ClusterSyncThreadsInst",
     "CopyAsyncBulkGlobalToClusterSharedInst", "CopyAsyncBulkSharedToClusterSharedInst")
def _cluster(t: Translator, i: "Any") -> None:
    raise Refusal(f"{kind(i).removesuffix('Inst')}, which reaches other blocks of a cluster",
                  "write a version of the kernel for single blocks: without clusters, multicast and remote barriers", "cluster")


@row("ClusterLaunchControlTryCancelInst", "ClusterLaunchControlQueryResponseInst")
def _launch_control(t: Translator, i: "Any") -> None:
    raise Refusal("cluster launch control, by which a block takes the work of another", "launch one block for each piece of work", "cluster")
