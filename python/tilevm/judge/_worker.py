"""The process of an answer, after it was shut in: loads the answer, calls it as it is asked to, and says what came of it.

    {"do": "load", "path": …, "entry": "softmax"}         -> {"ok": true, "entry": "softmax"}
    {"do": "call", "arguments": …, "off": false, …}       -> {"ok": true, "results": …, "launches": […], "torch": {…}, "warnings": […], …}

It never holds a reference or its result. What it says is a claim: the judge compares values by itself.
"""
from __future__ import annotations

import contextlib
import importlib.util
import inspect
import os
import signal
import sys
import threading
import traceback
import warnings

from . import _values, _watch, _wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

_NAMES = ("answer", "call", "solution", "run", "launch", "main", "forward")


class _TimeLimit(BaseException):
    """The answer took too long."""


def serve(connection: "socket.socket", request: "Dict[str, Any]") -> None:
    """Until the judge closes the connection."""
    answer: "Optional[Answer]" = None
    handlers: "Dict[str, Callable[..., Tuple[Dict[str, Any], List[bytes]]]]" = {"load": Answer.load, "make": Answer.make, "call": Answer.call}
    while True:
        try:
            message, blobs = _wire.receive(connection)
        except _wire.Closed:
            return
        try:
            answer = answer or Answer(request.get("device", "vm"))
            reply, out = handlers[message.pop("do")](answer, blobs=blobs, **message)
        except BaseException as error:  # noqa: BLE001  # the answer may raise anything
            reply, out = {"ok": False, "error": describe(error), "launches": answer.launched() if answer else 0}, []
        _wire.send(connection, reply, out)


def describe(error: BaseException) -> "Dict[str, Any]":
    """An exception as JSON: what of tilevm's it is, and the innermost line that is of no installed module."""
    from .._errors import Error, TrapError

    seen: "Optional[BaseException]" = error
    found: "Dict[str, Any]" = {"type": type(error).__name__, "text": str(error)[:8000], "code": "", "unsupported": False, "late": isinstance(error, _TimeLimit),
                               "module": type(error).__module__.split(".")[0]}
    for _ in range(8):
        if isinstance(seen, Error):
            found.update(code=seen.code, text=str(seen)[:8000], file=seen.file, line=seen.line, trap=isinstance(seen, TrapError),
                         unsupported=type(seen).__name__ in ("UnsupportedError", "UnavailableError", "InternalError"),
                         memory=type(seen).__name__ == "OutOfMemoryError")
            for name in ("array", "index", "kernel", "block"):
                found[name] = getattr(seen, name, None)
            return found
        if seen is None:
            break
        seen = seen.__cause__ or seen.__context__
    found["memory"] = isinstance(error, MemoryError)
    cause = error.__cause__ or error.__context__
    if found["text"].rstrip().endswith("^") and cause is not None:  # Triton's CompilationError without its cause
        found["text"] = f"{found['text'].rstrip()}\n{type(cause).__name__}: {cause}"[:8000]
    frames = traceback.extract_tb(error.__traceback__)
    if any(frame.filename.endswith(os.path.join("torch", "utils", "cpp_extension.py")) for frame in frames):
        found["text"] = f"the answer compiles C++ or CUDA C++ by torch.utils.cpp_extension, which is no tile kernel ({found['text']})"
    for frame in reversed(frames):
        if "site-packages" not in frame.filename and "/tilevm/" not in frame.filename and not frame.filename.startswith(("<", os.path.dirname(os.__file__))):
            found.update(file=frame.filename, line=frame.lineno)
            break
    return found


class Answer:
    """What was loaded, and what it gave at earlier calls."""

    def __init__(self, device: str = "vm") -> None:
        """`device`: "vm", or "cuda" for torch's and Triton's own, or "tilec" for torch's own and kernels by tilec. Errors: UnavailableError, if torch
        cannot use it."""
        self._device = {"vm": "", "tilec": "cuda"}.get(device, device)  # of torch
        if self._device:
            _start_device(self._device)
        if device == "tilec":
            _start_tilec(self._device)
        self._watch = _watch.Watch(device)
        self._function: "Optional[Callable[..., Any]]" = None
        self._class: "Any" = None
        self._kept: "List[Any]" = []  # results of calls that are asked for again
        self._threads = threading.active_count()

    def launched(self) -> int:
        """Launches of the last call."""
        return self._watch.launches

    def load(self, path: str, entry: str, names: "List[str]", blobs: "List[bytes]") -> "Tuple[Dict[str, Any], List[bytes]]":
        if not path.endswith(".py"):
            import tilevm

            program = tilevm.load(path)
            kernel = program[entry] if entry else program.kernel
            if not kernel.has_interface:
                raise ValueError(f"kernel `{kernel.name}` of {path} has no interface that says how it is launched: give a Python file with a "
                                 f"function that does kernel = tilevm.load({os.path.basename(path)!r}).kernel and calls it")
            self._function = kernel
            return {"ok": True, "entry": kernel.name, "constants": []}, []
        spec = importlib.util.spec_from_file_location("answer_" + "".join(c if c.isalnum() else "_" for c in os.path.basename(path)[:-3]), path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        sys.path.insert(0, os.path.dirname(path))
        spec.loader.exec_module(module)
        found = _entry_of(module, entry, names)
        if inspect.isclass(found):
            self._class = found
        else:
            self._function = found
        return {"ok": True, "entry": getattr(found, "__name__", entry)}, []

    def make(self, arguments: "Any", state: "Any", seed: int, blobs: "List[bytes]") -> "Tuple[Dict[str, Any], List[bytes]]":
        """Of a class: an object, with the parameters of the reference's where names and shapes are the same."""
        import torch

        given = _values.unpack(arguments, blobs, self._device)
        torch.manual_seed(seed)
        model = self._class(*given)
        model = model.to(self._device or "cuda")  # on the VM that is what tensors are taken for
        with torch.no_grad():
            own = dict(model.state_dict())
            for name, value in _values.unpack(state, blobs).items():
                if name in own and own[name].shape == value.shape:
                    own[name].copy_(value)
        self._function = model.eval()
        return {"ok": True}, []

    def call(self, arguments: "Any", named: "Any", off: bool, seconds: float, keep: bool, into: bool, record: str,
             blobs: "List[bytes]") -> "Tuple[Dict[str, Any], List[bytes]]":
        """`into`: values go to the arrays of the call before, in their places, so that an answer that knows them by their addresses is asked
        for other values; `keep`: says also what results of earlier calls hold now; `record`: a folder for launches."""
        values, keywords = (_values.unpack(each, blobs, self._device) for each in (arguments, named))
        if into and self._last is not None:
            values, keywords = self._refilled(values, keywords)
        self._last = values, keywords
        before = [_watch.bytes_of(array) for array in _watch.arrays_in([values, keywords])]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            parameters: "Dict[str, Any]" = getattr(self._function, "state_dict", dict)()
            with self._watch.call(off, [values, keywords, dict(parameters)], record) as seen:
                result = self._run(values, keywords, seconds)
        after = [_watch.bytes_of(array) for array in _watch.arrays_in([values, keywords])]
        changed = [i for i, (one, other) in enumerate(zip(before, after)) if one != other]
        reply: "Dict[str, Any]" = {"ok": True, "launches": seen.launches[:64], "torch": seen.torch, "tf32": seen.tf32, "warnings": _kernel_warnings(said),
                                   "replaced": self._watch.replaced(), "threads": threading.active_count() - self._threads, "changed": changed}
        reply["streams"] = self._watch.streams.pending
        reply["coverage"] = [] if self._watch.coverage is None else self._watch.coverage.said()
        reply["unwritten"] = [] if self._device else unwritten(result)
        reply["copied"] = [i for i, array in enumerate(_watch.arrays_in(result)) if _watch.hash_of(array) in seen.copied]
        reply["arrays"], out = _values.pack([result, [[values, keywords]], self._kept if keep else []])
        if keep:
            self._kept = [*self._kept, result]
        return reply, out

    _last: "Optional[Tuple[Any, Any]]" = None

    def _refilled(self, values: "Any", keywords: "Any") -> "Tuple[Any, Any]":
        assert self._last is not None
        olds, news = list(_watch.arrays_in(list(self._last))), list(_watch.arrays_in([values, keywords]))
        if [_shape_of(a) for a in olds] != [_shape_of(a) for a in news]:
            return values, keywords
        for old, new in zip(olds, news):
            old[...] = new
        places = iter(olds)
        refilled: "Tuple[Any, Any]" = (_with_arrays(values, places), _with_arrays(keywords, places))
        return refilled

    def _run(self, values: "Any", keywords: "Any", seconds: float) -> "Any":
        assert self._function is not None, "no answer is loaded"
        signal.signal(signal.SIGPROF, _stop)
        signal.setitimer(signal.ITIMER_PROF, seconds)  # of processor time, whatever else the machine does
        try:
            if "torch" not in sys.modules:
                return self._function(*values, **keywords)
            with sys.modules["torch"].no_grad():
                result = self._function(*values, **keywords)
                if self._device == "cuda":
                    sys.modules["torch"].cuda.synchronize()  # errors of kernels come here
                return result
        except _TimeLimit:
            raise _TimeLimit(f"kernel `{self._watch.now}` had not ended after {seconds:.0f} s" if self._watch.now else
                             f"the call had not ended after {seconds:.0f} s") from None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._watch.now = ""


def _start_device(device: str) -> None:
    """torch.empty gives NaN and the largest integers there, so that what nobody wrote differs from the task's result. Errors: UnavailableError."""
    from .._errors import UnavailableError

    fix = "  fix: judge with --device=vm, or install a torch for the GPU of this machine"
    torch = sys.modules.get("torch")
    if torch is None:
        raise UnavailableError(f"error[judge.device]: neither task nor answer imports torch, by which arrays come to `{device}`\n{fix}")
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UnavailableError(f"error[judge.device]: torch cannot use `{device}`: {str(error).splitlines()[0]}\n{fix}") from None
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True


def _start_tilec(device: str) -> None:
    """Kernels of cuTile, Triton and tilevm run on a GPU by tilec. Errors: UnavailableError."""
    import tilevm

    from .._errors import UnavailableError

    tilevm.install(device)
    with contextlib.suppress(UnavailableError):  # without the compiler's library a kernel of tilevm.script says what it lacks
        tilevm.device(device).allow_compile()


def _stop(number: int, frame: "Any") -> None:
    raise _TimeLimit()


def _with_arrays(value: "Any", places: "Iterator[Any]") -> "Any":
    """The same with each array, in the order of _watch.arrays_in, replaced by the next of `places`; numbers are as they are."""
    if isinstance(value, dict):
        return {name: _with_arrays(each, places) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([_with_arrays(each, places) for each in value])
    return next(places) if list(_watch.arrays_in(value)) else value


def _shape_of(array: "Any") -> "Any":
    strides = array.stride() if hasattr(array, "untyped_storage") else array.strides
    return str(array.dtype), tuple(array.shape), tuple(strides)


def _named(module: "Any", name: str) -> "Any":
    """`softmax`, or `LayerNorm.apply`; None if it is not there."""
    first, _, second = name.partition(".")
    found = vars(module).get(first)
    return getattr(found, second, None) if second else found


def _entry_of(module: "Any", entry: str, names: "List[str]") -> "Any":
    """The function or class that is meant: by name, by the reference's name, by a usual name, or the only one."""
    if entry:
        found = _named(module, entry)
        if found is None:
            raise AttributeError(f"the answer has no `{entry}`")
        return found
    for name in (*names, *_NAMES):
        found = _named(module, name)
        if callable(found):
            return found
    own = [value for name, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")]
    if len(own) == 1:
        return own[0]
    raise AttributeError(f"the answer has none of {', '.join((*names, *_NAMES))}, and {len(own)} functions: name one, as in answer.py:function")


def _kernel_warnings(said: "Any") -> "List[Dict[str, Any]]":
    from .._warnings import KernelWarning

    return [{"code": w.message.code, "text": str(w.message)[:2000], "file": w.message.file or w.filename, "line": w.message.line or w.lineno}
            for w in said if isinstance(w.message, KernelWarning)]


def unwritten(result: "Any") -> "List[Dict[str, Any]]":
    """Elements of results that are tensors of torch.empty, and that nobody wrote."""
    if "torch" not in sys.modules:
        return []
    from .._frontend.torch_cuda import fresh

    torch = sys.modules["torch"]
    found = []
    for number, array in enumerate(_watch.arrays_in(result)):
        if not hasattr(array, "untyped_storage") or array.numel() == 0:
            continue
        with torch._C.DisableTorchFunction(), torch.no_grad():
            entry = fresh.entry_of(array.untyped_storage().data_ptr())
            missing = None if entry is None else entry.missing_of(array)
            if missing is not None and entry is not None:
                found.append({"result": number, "count": int(missing.sum()), "first": [int(i) for i in missing.nonzero()[0]], "of": array.numel(),
                              "made_at": entry.made_at})
    return found
