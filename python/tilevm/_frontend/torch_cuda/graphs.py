"""CUDA graphs on the CPU: between begin and end of a capture, launches and operations of torch are recorded, not done.

An operation that makes new tensors is done, because its caller needs them, and done again at a replay, into the same memory. One that
changes a tensor is only recorded.
"""
from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterator, List, Optional

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
    TorchDispatchMode: Any
else:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

from ... import _tilevm
from . import streams
from .recording import Recording, record_into, recording

# Operations that need a value on the host.
_WAIT = frozenset(("aten::_local_scalar_dense", "aten::item", "aten::nonzero", "aten::is_nonzero"))


def _flat(value: Any) -> "List[Any]":
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in _flat(item)]
    return []


class _Operations(TorchDispatchMode):  # type: ignore[misc]
    """Records what torch does."""

    def __init__(self, into: Recording) -> None:
        super().__init__()
        self._into = into

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keywords = kwargs or {}
        schema = func._schema
        if schema.name in _WAIT:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        changed = []
        for i, argument in enumerate(schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                changed.append(args[i] if i < len(args) else keywords.get(argument.name))
        if changed:
            self._into.add(lambda: func(*args, **keywords))
            return changed[0] if len(changed) == 1 else tuple(changed)
        result = func(*args, **keywords)
        if any(r.alias_info is not None for r in schema.returns):
            return result  # a view
        outputs = _flat(result)
        self._into.kept.append(outputs)
        if outputs and not schema.name.startswith(("aten::empty", "aten::new_empty")):
            self._into.add(lambda: _again(func, args, keywords, outputs))
        return result


def _again(function: Any, arguments: Any, keywords: Any, outputs: "List[Any]") -> None:
    with torch.no_grad():
        for into, value in zip(outputs, _flat(function(*arguments, **keywords))):
            into.copy_(value)


class CUDAGraph:
    """torch.cuda.CUDAGraph."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._recording: "Optional[Recording]" = None
        self._mode: "Optional[_Operations]" = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        stream = streams.current_stream()
        if stream == streams.default_stream():
            raise RuntimeError("CUDA graphs must be captured on a non-default stream.")
        if recording() is not None:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        self._recording = Recording(stream)
        record_into(self._recording)
        _tilevm.driver_capture(stream.cuda_stream, self._recording.steps)
        self._mode = _Operations(self._recording)
        self._mode.__enter__()

    def capture_end(self) -> None:
        if self._mode is None:
            raise RuntimeError("capture_end without capture_begin")
        self._mode.__exit__(None, None, None)
        self._mode = None
        record_into(None)
        _tilevm.driver_capture(0, None)

    def instantiate(self) -> None:
        pass

    def replay(self) -> None:
        """Does everything again. Errors: RuntimeError before a capture; those of the kernels."""
        if self._recording is None or self._mode is not None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        self._recording.run()

    def reset(self) -> None:
        self._recording = None

    def pool(self) -> Any:
        return (0, 1)

    def enable_debug_mode(self) -> None:
        pass

    def debug_dump(self, debug_path: str) -> None:
        pass


class graph:
    """torch.cuda.graph."""

    _default_stream: "Optional[streams.Stream]" = None

    def __init__(self, cuda_graph: CUDAGraph, pool: Any = None, stream: "Optional[streams.Stream]" = None,
                 capture_error_mode: str = "global", **keywords: Any) -> None:
        if graph._default_stream is None:
            graph._default_stream = streams.Stream()
        self.cuda_graph = cuda_graph
        self.capture_stream = stream if stream is not None else graph._default_stream

    def __enter__(self) -> None:
        self.capture_stream.__enter__()
        try:
            self.cuda_graph.capture_begin()
        except BaseException:
            self.capture_stream.__exit__()
            raise

    def __exit__(self, *unused: object) -> None:
        self.cuda_graph.capture_end()
        self.capture_stream.__exit__()


def is_current_stream_capturing() -> bool:
    return recording() is not None


@contextlib.contextmanager
def _no_pool(*arguments: Any, **keywords: Any) -> "Iterator[None]":
    yield


def install(module: Any) -> None:
    cuda = module.cuda
    for name in ("CUDAGraph", "graph", "is_current_stream_capturing"):
        setattr(cuda, name, globals()[name])
        setattr(cuda.graphs, name, globals()[name])
    cuda.graph_pool_handle = cuda.graphs.graph_pool_handle = lambda: (0, 1)
    cuda.use_mem_pool = _no_pool
