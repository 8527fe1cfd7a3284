"""What an answer does while it is called: launches of kernels, operations of torch, functions of others that it replaces.

    watch = Watch()                      # before the answer is loaded
    with watch.call(off=False) as seen:
        result = function(*arguments)
    seen.launches, seen.torch            # [Seen("add", (4, 1, 1), {"BLOCK": 64})], {"aten.mm": 64}

With `off` launches do nothing, so that what the answer gives then is not the work of a kernel. All of it runs in the process of the answer,
which could cheat it by native code: the judge does not rely on it where values decide.
"""
from __future__ import annotations

import contextlib
import functools
import hashlib
import sys

from . import _coverage, _launches, _modes, _streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

_MOST_HASHED = 1 << 22  # bytes of an array
# Functions by which answers are measured or compared; an answer has no reason to replace them.
_GUARDED = ("time.time", "time.perf_counter", "time.perf_counter_ns", "time.monotonic", "time.process_time", "torch.cuda.synchronize",
            "torch.cuda.Event.record", "torch.cuda.Event.elapsed_time", "torch.cuda.Event.synchronize", "torch.allclose", "torch.equal",
            "torch.isclose", "torch.testing.assert_close", "torch.Tensor.allclose", "torch.Tensor.__eq__", "torch.manual_seed",
            "torch.randn", "torch.rand", "torch.empty", "torch.zeros", "torch.cuda.current_stream", "triton.testing.do_bench",
            "numpy.allclose", "numpy.testing.assert_allclose", "tilevm.Kernel.__call__", "tilevm.Launch.__call__",
            "triton.compiler.CompiledKernel.run", "triton.runtime.driver.active", "cuda.tile.launch", "builtins.abs", "builtins.all")
# Operations of torch that make memory, look at it differently, or move values without computing any.
PLAIN = frozenset("""empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones full full_like
new_full scalar_tensor fill_ fill zero_ clone copy_ _to_copy to contiguous detach alias view _unsafe_view reshape _reshape_alias as_strided
expand expand_as permute transpose t transpose_ t_ squeeze unsqueeze squeeze_ unsqueeze_ select slice narrow split split_with_sizes chunk unbind
flatten unflatten view_as_complex view_as_real view_as movedim swapaxes cat stack resize_ lift_fresh lift_fresh_copy _local_scalar_dense item
is_same_size arange set_ _has_compatible_shallow_copy_type is_pinned pin_memory record_stream numpy_T mT mH unfold diagonal constant_pad_nd
repeat _conj conj resolve_conj resolve_neg linspace""".split())


class Seen:
    """Of one call: `launches` (name, grid, constants), `torch` (largest number of elements for each operation that computes), `known`
    (hashes of what the inputs held, and kernels computed), `copied` (of what a kernel wrote, and another argument held before, unknown),
    `tf32`: whether a kernel rounds operands of products to tf32 because tl.dot does so by default."""

    def __init__(self) -> None:
        self.launches: "List[Tuple[str, Tuple[int, ...], Dict[str, int]]]" = []
        self.tf32 = False
        self.torch: "Dict[str, int]" = {}
        self.known: "Set[str]" = set()
        self.copied: "Set[str]" = set()


class Watch:
    """Replaces the doors to launches; once a process, before the answer is loaded."""

    def __init__(self, device: str = "vm") -> None:
        self._seen: "Seen" = Seen()
        self._off, self._device = False, device
        self.now = ""  # the kernel that runs
        self._recorder: "Optional[_launches.Recorder]" = None
        self.streams = _streams.Streams(device)
        self.coverage = _coverage.Recorder() if device == "vm" else None
        if "triton" in sys.modules and device in ("vm", "cuda", "tilec"):  # it has no kernels for others
            self._watch_triton()
        if "cuda.tile" in sys.modules:
            self._watch_cutile()
        self._watch_kernels()
        self._guarded = _snapshot()

    @contextlib.contextmanager
    def call(self, off: bool, inputs: "Any" = (), record: str = "") -> "Iterator[Seen]":
        """Around one call of the answer. `record`: a folder for launches."""
        self._seen, self._off = Seen(), off
        if self._recorder is not None:
            self._recorder.folder = record
        self.streams.begin()
        if self.coverage is not None:
            self.coverage.begin()
        for array in arrays_in(inputs):
            self._seen.known.add(hash_of(array))
        with torch_operations(self._seen.torch) if "torch" in sys.modules else contextlib.nullcontext():
            yield self._seen
        self._off = False

    @property
    def launches(self) -> int:
        """Of the last call."""
        return len(self._seen.launches)

    def replaced(self) -> "List[str]":
        """Names of functions that are not what they were."""
        now = _snapshot()
        return [name for name, value in self._guarded.items() if now.get(name) is not value and not _is_their_own(now.get(name))]

    # --- doors

    def _launch(self, name: str, grid: "Tuple[int, ...]", constants: "Dict[str, int]", arguments: "Any", run: "Callable[[], Any]") -> "Any":
        seen = self._seen
        seen.launches.append((name, grid, constants))
        self.streams.launched(name)
        if self._off:
            return None
        given = list(arrays_in(arguments))
        before = list(map(hash_of, given))
        strange = set(before) - seen.known - {""}
        self.now = name
        if self.coverage is not None:
            self.coverage.launched()
        result = run()
        self.now = ""
        for one, other in zip(before, map(hash_of, given)):
            if one != other:
                (seen.copied if other in strange else seen.known).add(other)
        return result

    def _watch_triton(self) -> None:
        from triton.runtime import driver

        active: "Any" = driver.active
        if self._device != "cuda":  # programs of tilevm
            self._recorder = recorder = _launches.Recorder(active)
        else:
            recorder = None
        make = active.launcher_cls

        def launcher(source: "Any", metadata: "Any") -> "Callable[..., Any]":
            run = make(source, metadata)
            name = getattr(getattr(source, "fn", None), "__name__", "kernel")
            constants = _constants_of(source)
            tf32 = self._device == "cuda" or bool(getattr(metadata, "rounds_to_tf32", False))  # Triton's own compiler does not say it

            def launch(*arguments: "Any") -> "Any":
                _ask_for_gpu(arguments[9:])
                grid = tuple(int(n) for n in arguments[:3])
                self._seen.tf32 |= tf32
                if recorder is not None and not self._off:
                    recorder.note(source, arguments)
                return self._launch(name, grid, constants, arguments[9:], lambda: run(*arguments))

            return launch

        active.launcher_cls = launcher

    def _watch_cutile(self) -> None:
        module = sys.modules["cuda.tile"]
        original = getattr(module, "launch")

        @functools.wraps(original)
        def launch(*arguments: "Any", **named: "Any") -> "Any":
            grid = tuple(int(n) for n in arguments[1]) if len(arguments) > 1 and isinstance(arguments[1], (tuple, list)) else ()
            kernel = arguments[2] if len(arguments) > 2 else named.get("kernel")
            name = getattr(getattr(kernel, "_pyfunc", kernel), "__name__", "kernel")
            given = arguments[3] if len(arguments) > 3 else ()
            numbers = {f"argument {i}": v for i, v in enumerate(given) if type(v) is int}
            return self._launch(name, grid, numbers, given, lambda: original(*arguments, **named))

        for other in list(sys.modules.values()):
            if getattr(other, "__name__", "").startswith("cuda.tile") and vars(other).get("launch") is original:
                setattr(other, "launch", launch)

    def _watch_kernels(self) -> None:
        from .. import _kernel, _launch

        whole, again = _kernel.Kernel.__call__, _launch.Launch.__call__

        def call(kernel: "Any", *arguments: "Any", **named: "Any") -> "Any":
            def run() -> "Any":
                return whole(kernel, *arguments, **named)

            if not self._off:
                return self._launch(kernel.readable, (), {}, (arguments, list(named.values())), run)
            named.pop("stream", None)
            launch = kernel.prepare(*arguments, **named)
            self._launch(kernel.readable, (), {}, (arguments, list(named.values())), run)
            return launch.outputs

        def call_again(launch: "Any", *arguments: "Any") -> "Any":
            self._launch(launch.kernel.readable, launch.grid, {}, launch._kept, lambda: again(launch, *arguments))
            return launch.outputs

        setattr(_kernel.Kernel, "__call__", call)
        setattr(_launch.Launch, "__call__", call_again)


def _ask_for_gpu(arguments: "Sequence[Any]") -> None:
    """Errors: ValueError for a tensor that the answer made without device="cuda", as Triton raises it."""
    for number, argument in enumerate(arguments):
        if getattr(getattr(argument, "device", None), "type", "cuda") == "cpu" and argument.numel():
            raise ValueError(f"Pointer argument (at {number}) cannot be accessed from Triton (cpu tensor?)")


def _constants_of(source: "Any") -> "Dict[str, int]":
    found = {}
    names = getattr(getattr(source, "fn", None), "arg_names", [])
    for key, value in (getattr(source, "constants", None) or {}).items():
        at = key[0] if isinstance(key, tuple) else key
        name = names[at] if isinstance(at, int) and at < len(names) else str(at)
        if type(value) is int:
            found[name] = value
    return found


def arrays_in(value: "Any") -> "Iterator[Any]":
    """Tensors and NumPy arrays, in tuples, lists and dictionaries, too."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from arrays_in(item)
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))
    elif hasattr(value, "untyped_storage") or hasattr(value, "__array_interface__"):
        yield value
    else:
        owner = getattr(value, "base", None)
        if owner is not None and owner is not value and (hasattr(owner, "untyped_storage") or hasattr(owner, "__array_interface__")):
            yield owner


def hash_of(array: "Any") -> str:
    """Of the values in order, whatever the strides; "" for large ones, for those of one value, and for what has no memory."""
    try:
        data = bytes_of(array)
    except Exception:  # without memory
        return ""
    item = max(1, len(data) // max(1, _count(array)))
    if len(data) > _MOST_HASHED or len(data) < 4 * item or data == data[:item] * (len(data) // item):
        return ""
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def _count(array: "Any") -> int:
    return int(array.numel() if hasattr(array, "numel") else array.size)


def bytes_of(array: "Any") -> bytes:
    """The elements in row-major order."""
    if hasattr(array, "untyped_storage"):
        torch = sys.modules["torch"]
        with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
            flat = array.detach().contiguous()
            flat = flat.as_strided((flat.numel(),), (1,))  # an array of one element may be contiguous with any stride
            return bytes(flat.view(torch.uint8).cpu().numpy()) if flat.numel() else b""
    import numpy

    return numpy.ascontiguousarray(array).tobytes()


def _is_their_own(value: "Any") -> bool:
    """Whether the new function is one of the libraries themselves, which replace some of theirs when they are used first."""
    module = str(getattr(value, "__module__", None) or getattr(type(value), "__module__", ""))
    return module.split(".")[0] in ("tilevm", "torch", "triton", "cuda")


def _snapshot() -> "Dict[str, Any]":
    found: "Dict[str, Any]" = {}
    for name in _GUARDED:
        parts = name.split(".")
        value: "Any" = sys.modules.get(parts[0])
        for part in parts[1:]:
            value = None if value is None else vars(value).get(part) if isinstance(value, type) else _part_of(value, part)
        if value is not None:
            found[name] = value
    return found


def _part_of(value: "Any", part: str) -> "Any":
    try:
        return getattr(value, part, None)
    except RuntimeError:  # Triton's driver, where there is no device of Triton's
        return None


def torch_operations(into: "Dict[str, int]") -> "Any":
    """A context in which operations of torch that compute are noted, with their largest result."""
    from torch.utils._python_dispatch import TorchDispatchMode

    @_modes.without_dynamo
    class Ops(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: "Any", types: "Any", arguments: "Any" = (), named: "Any" = None) -> "Any":
            result = function(*arguments, **(named or {}))
            name = function.overloadpacket.__name__
            if name not in PLAIN and not function.is_view:
                size = max((t.numel() for t in arrays_in([result, list(arguments)]) if hasattr(t, "numel")), default=0)
                into[name] = max(into.get(name, 0), size)
            return result

    return Ops()
