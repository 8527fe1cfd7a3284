"""Synchronisation: sync, groups of asynchronous copies, barriers (mbarrier).

A barrier is a number here, 8 apart as their addresses are. The program carries its counts as values: arrivals, bytes that copies are still to
bring, and the parity of completed phases. A wait for a phase that is not complete would never end, because nothing else runs beside it. An
assertion of the kernel finds such a wait.
"""
from __future__ import annotations

from . import _scan
from ._expr import compare
from ._refuse import Refusal
from ._scan import kind
from ._translate import Translator, row
from ._types import dtypes
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
    """A fence orders two ways to the same memory, which are one way here."""


# --- groups of asynchronous operations


@row("CopyAsyncCommitGroupInst", "CopyAsyncTensorCommitGroupInst", "CopyAsyncBulkCommitGroupInst", "WgmmaCommitGroupInst")
def _commit(t: Translator, i: "Any") -> None:
    t.order.commit(_scan.COMMITS[kind(i)])


@row(*_scan.WAITS)
def _wait(t: Translator, i: "Any") -> None:
    """Copies are over for the threads that wait, and the next sync() tells the others.

    A product is one operation of all four warps, so that its end is the end for each of them."""
    family = _scan.WAITS[kind(i)]
    t.order.wait(family, t.static(i.n, "the number of groups to leave under way"), "ready" if family == "wgmma" else "since")


@row("CopyAsyncWaitAllInst")
def _wait_all(t: Translator, i: "Any") -> None:
    t.order.commit("copy")
    t.order.wait("copy", 0)


# --- barriers


class Barriers:
    """The barriers of a kernel: the number of the first one of each allocation, and how many arrivals complete a phase."""

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
            t.state[name] = t.w.constant(0, dtypes.int32, (self.size,))


def begin(t: Translator) -> None:
    """Begins the counts at the top of a kernel, so that loops can carry them."""
    found = Barriers(t)
    t.tiles["barriers"] = found
    if found.number:
        for name in (_ARRIVED, _EXPECTED, _PARITY):
            found.zeros(t, name)


@row("AllocBarrierInst")
def _allocate(t: Translator, i: "Any") -> None:
    first = t.tiles["barriers"].first[i]
    numbers = t.x.op("addi", t.iota(0, i.output.shape, dtypes.int32), t.x.number(first, dtypes.int32), dtype=dtypes.int32)
    t.define(i.output, t.x.op("muli", numbers, t.x.number(_BYTES, dtypes.int32), dtype=dtypes.int32))


def _number(t: Translator, barrier: "Any") -> Tile:
    return t.x.op("divi", t.x.cast(t.x.value(barrier), dtypes.int32), t.x.number(_BYTES, dtypes.int32), dtype=dtypes.int32, words=" signed")


def _each(t: Translator, number: Tile, then: "Any") -> None:
    """Calls then(i) inside of an if for each barrier that it may be."""
    barriers: Barriers = t.tiles["barriers"]
    if barriers.number == 1:
        then(0)
        return
    for i in range(barriers.number):
        t.state.branches(compare(t.x, "equal", number, t.x.number(i, dtypes.int32)), lambda i=i: then(i))


def signal(t: Translator, barrier: "Any", *tokens: Token) -> None:
    """Notes accesses that complete on a barrier."""
    _each(t, _number(t, barrier), lambda i: t.order.add(f"barrier {i}", *tokens))


def count(t: Translator, barrier: "Any", arrivals: "Any" = None, expected: "Any" = None) -> None:
    """Adds to the counts of a barrier, and completes its phase if nothing is missing."""
    barriers: Barriers = t.tiles["barriers"]
    here = compare(t.x, "equal", t.iota(0, (barriers.size,), dtypes.int32), _number(t, barrier))
    zero = t.x.number(0, dtypes.int32)
    for name, more in ((_ARRIVED, arrivals), (_EXPECTED, expected)):
        if more is not None:
            step = t.x.op("select", here, more, zero, dtype=dtypes.int32)
            t.state[name] = t.x.op("addi", t.state[name], step, dtype=dtypes.int32)
    counts = t.w.op(f"constant <i32: [{', '.join(map(str, barriers.counts))}]>", (barriers.size,), dtypes.int32, typed=True)
    complete = t.x.op("andi", compare(t.x, "equal", t.state[_ARRIVED], counts), compare(t.x, "equal", t.state[_EXPECTED], zero), dtype=here.dtype)
    done = t.x.op("andi", complete, here, dtype=here.dtype)
    flipped = t.x.op("xori", t.state[_PARITY], t.x.number(1, dtypes.int32), dtype=dtypes.int32)
    t.state[_PARITY] = t.x.op("select", done, flipped, t.state[_PARITY], dtype=dtypes.int32)
    t.state[_ARRIVED] = t.x.op("select", done, zero, t.state[_ARRIVED], dtype=dtypes.int32)


def _times_threads(t: Translator, value: "Any") -> Tile:
    """Each thread of the group arrives."""
    number = t.x.cast(t.x.value(value), dtypes.int32)
    return number if t.threads[-1] == 1 else t.x.op("muli", number, t.x.number(t.threads[-1], dtypes.int32), dtype=dtypes.int32)


def _before(t: Translator) -> "Tuple[Token, Token]":
    return t.state["ready"], t.state["since"]


@row("ArriveBarrierInst")
def _arrive(t: Translator, i: "Any") -> None:
    signal(t, i.barrier, *_before(t))
    count(t, i.barrier, _times_threads(t, i.count))


@row("ArriveExpectTxBarrierInst")
def _arrive_expect(t: Translator, i: "Any") -> None:
    signal(t, i.barrier, *_before(t))
    count(t, i.barrier, t.x.number(t.threads[-1], dtypes.int32), _times_threads(t, i.transaction_bytes))


@row("WaitBarrierInst")
def _wait_barrier(t: Translator, i: "Any") -> None:
    number = _number(t, i.barrier)
    parity = t.w.reshape(t.w.op(f"extract {t.state[_PARITY]}[{number}]", (1,), dtypes.int32, typed=True), ())
    phase = t.x.op("andi", t.x.cast(t.x.value(i.phase), dtypes.int32), t.x.number(1, dtypes.int32), dtype=dtypes.int32)
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
