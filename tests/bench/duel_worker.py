"""The side of a duel (duel.py) that runs kernels: what stands at a row, compared and timed when it is asked for.

Lines to standard output begin with a record separator: {"at": [place in the sequence], "what": {...}} at each row, then an answer to each
command of standard input: {"do": "save" | "compare", "path": …}, {"do": "time"}, {"do": "next"}. A time is {"us": …}, with "launches" if
they are timed one by one.
"""
import gc
import json
import sys

import torch

REPLAYS = 7
GRAPH_MS = 4.0  # of launches in one graph, so that reading the clock does not count


def say(**what):
    sys.stdout.write("\x1e" + json.dumps(what) + "\n")
    sys.stdout.flush()


def release_memory():
    gc.collect()
    torch.cuda.empty_cache()


class NotRecorded(RuntimeError):
    """What a graph cannot record: cuTile's lists of arrays."""


def repeated(fn):
    """(launches, how to run them): a graph of as many launches as take GRAPH_MS. Errors: NotRecorded."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    fn()
    begin.record()
    for _ in range(3):
        fn()
    end.record()
    end.synchronize()
    launches = max(1, min(300, int(GRAPH_MS / max(begin.elapsed_time(end) / 3, 1e-3))))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    gc.collect()
    gc.disable()  # A module that is unloaded during a capture would end the process.
    try:
        with torch.cuda.stream(stream):
            fn()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches):
                fn()
        return launches, graph.replay
    except RuntimeError as error:
        if "List argument" not in str(error):
            raise
        torch.cuda.synchronize()
        raise NotRecorded(str(error)) from error
    finally:
        gc.enable()


def covered(spans):
    """How much of the line the spans (begin, end) cover: a kernel that starts early waits for the one in front."""
    total, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def kernels_us(fn):
    """How long, as the profiler says, some kernel of a call was running: for functions that no graph can record, because they wait for the
    GPU, or pass lists. Timed as a whole they would show how fast Python launches."""
    fn()
    torch.cuda.synchronize()
    times = []
    for _ in range(REPLAYS):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            fn()
            torch.cuda.synchronize()
        spans = [event.time_range for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
        times.append(covered((span.start, span.end) for span in spans))
    if min(times) <= 0:
        raise RuntimeError("the profiler saw no kernels")
    return sorted(times)[len(times) // 2]


def time_us(fn):
    try:
        launches, run = repeated(fn)
    except NotRecorded:
        return kernels_us(fn)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    run()
    torch.cuda.synchronize()
    times = []
    for _ in range(REPLAYS):
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / launches)
    return sorted(times)[len(times) // 2]


def tensors(x):
    if isinstance(x, torch.Tensor):
        return [x]
    return [t for y in x for t in tensors(y)] if isinstance(x, (list, tuple)) else []


def difference(mine, theirs):
    """The largest relative difference of two lists of tensors, by norms; infinite if they do not match."""
    if len(mine) != len(theirs) or any(m.shape != t.shape for m, t in zip(mine, theirs)):
        return float("inf")
    worst = 0.0
    for m, t in zip(mine, theirs):
        m, t = m.to(torch.complex128 if m.is_complex() else torch.float64), t.to(m.device).to(torch.complex128 if t.is_complex() else torch.float64)
        worst = max(worst, float((m - t).norm() / (t.norm() + 1e-30)))
    return worst


class Row:
    """One call of a benchmark's function. It may time several things, each of which is a row of the report."""
    now = None

    def __init__(self, what, number, timer=time_us, launches_of=None):
        """With `launches_of(fn)`, which gives (kernel, how often, what launches it) of a call, its time is the sum of theirs."""
        self.what, self.number, self.timer, self.launches_of, self.calls = what, number, timer, launches_of, 0

    def at(self):
        return [self.number, self.calls]

    def failed(self, error):
        torch.cuda.synchronize()
        say(at=self.at(), what=self.what, fail=f"{type(error).__name__}: {error}"[:300])
        self.serve(None, [])

    def bench(self, fn):
        torch.manual_seed(1)
        result = tensors(fn())
        torch.cuda.synchronize()
        near = 1e-4 if all(t.dtype in (torch.float32, torch.float64) for t in result) else 2e-2
        say(at=self.at(), what=dict(self.what, call=self.calls, what_is_near=near))
        self.serve(fn, result)
        self.calls += 1

    def timed(self, fn):
        if self.launches_of is None:
            return {"us": self.timer(fn)}
        launches = [{"kernel": kernel, "times": times, "us": self.timer(again)} for kernel, times, again in self.launches_of(fn)]
        return {"us": sum(launch["us"] * launch["times"] for launch in launches), "launches": launches}

    def serve(self, fn, result):
        for line in sys.stdin:
            command = json.loads(line)
            if command["do"] == "next":
                return
            try:
                if command["do"] == "save":
                    torch.save([t.detach().cpu() for t in result], command["path"])
                    say(saved=len(result))
                elif command["do"] == "compare":
                    say(difference=difference(result, torch.load(command["path"])))
                else:
                    # Of what the comparison left in the cache of the side that made it, graphs are given memory that is slower: swiglu in f32,
                    # three arrays of 2 GiB, 2420 us on either side that compared, 2160 so.
                    release_memory()
                    say(**self.timed(fn))
            except Exception as error:
                torch.cuda.synchronize()
                say(fail=f"{type(error).__name__}: {error}"[:300])
        sys.exit(0)
