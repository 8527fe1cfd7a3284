"""The driver of the back end: the device that programs see, loading kernels, launching them."""
from __future__ import annotations

import sys

from triton.backends import compiler as _compiler
from triton.backends import driver as _driver

from .. import _tilevm
from . import _memory, _tune
from ._install import finish_tuner, install_if_asked, installed, replace_nvidia
from ._signature import descriptors, leaves
from .compiler import REGISTERS, padded_with_nan, to_tbc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Sequence, Tuple

_FUNCTION, _FIRST_ARGUMENT = 4, 9  # among what Triton calls a launcher with
_MANY_THREADS = 1 << 20  # no kernel has too many warps: they are chosen anew


class Utils:
    """What Triton asks of a driver in compiled code: `triton.runtime.driver.active.utils`."""

    def get_device_properties(self, device: int = 0) -> "Dict[str, int]":
        """Of a GPU; on the cpu those of one with as many multiprocessors as the VM has threads."""
        state = installed()
        assert state is not None
        found = {"max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": state.device.multiprocessors, "warpSize": 32,
                 "sm_clock_rate": 1000000, "mem_clock_rate": 1000000, "mem_bus_width": 64}
        if state.is_gpu and "torch" in sys.modules:
            properties = sys.modules["torch"].cuda.get_device_properties(device)
            found["max_shared_mem"] = properties.shared_memory_per_block_optin
            for ours, theirs in (("sm_clock_rate", "clock_rate"), ("mem_clock_rate", "memory_clock_rate"),
                                 ("mem_bus_width", "memory_bus_width")):
                found[ours] = getattr(properties, theirs, 0) or found[ours]
        return found

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> "Tuple[Any, Any, int, int, int]":
        """(module, kernel, registers, spilled, most threads)."""
        program = _tilevm.Program(bytes(kernel), name)
        return program, _tilevm.TritonFunction(program, name), REGISTERS, 0, _MANY_THREADS

    def unload_module(self, module: "Any") -> None:
        """Modules live as long as somebody has them."""

    def set_printf_fifo_size(self, size: int) -> None:
        """What kernels print is limited by nothing."""


def make_launcher(source: "Any", metadata: "Any") -> "Any":
    """What launches a kernel of this signature, in compiled code. Errors: UnsupportedError for a type that tilevm does not have."""
    names = getattr(getattr(source, "fn", None), "arg_names", None) or [f"argument {i}" for i in range(len(source.signature))]
    arguments = leaves(list(source.signature.values()), names)
    launcher = _tilevm.TritonLauncher(arguments, metadata.makes_pointers, _memory.memory_of, _memory.shape_of, _memory.array_of,
                                      _memory.live_tensors)
    places = descriptors(arguments)
    return DescriptorLauncher(launcher, metadata, places) if places else launcher


class DescriptorLauncher:
    """A launcher of a kernel with descriptors, whose padding is not part of the signature: where it is NaN, another form runs."""

    def __init__(self, launcher: "Any", metadata: "Any", places: "Sequence[Tuple[int, ...]]") -> None:
        self._launch, self._metadata, self._places = launcher, metadata, places
        self._forms: "Dict[Tuple[int, ...], Any]" = {}

    def __call__(self, *args: "Any") -> "Any":
        nan = tuple(i for i, place in enumerate(self._places) if getattr(self._at(args, place), "padding", "zero") == "nan")
        if nan:
            args = (*args[:_FUNCTION], self._form(nan), *args[_FUNCTION + 1:])
        return self._launch(*args)

    @staticmethod
    def _at(args: "Any", place: "Tuple[int, ...]") -> "Any":
        found = args[_FIRST_ARGUMENT + place[0]]
        for step in place[1:]:
            found = found[step]
        return found

    def _form(self, nan: "Tuple[int, ...]") -> "Any":
        if nan not in self._forms:
            name = self._metadata.name
            tbc = to_tbc(padded_with_nan(self._metadata.descriptors, nan), name, str(self._metadata.target.arch))
            self._forms[nan] = _tilevm.TritonFunction(_tilevm.Program(tbc, name), name)
        return self._forms[nan]


class TilevmDriver(_driver.DriverBase):  # type: ignore[misc]
    """One device: the VM, or a GPU."""

    def __init__(self) -> None:
        super().__init__()
        install_if_asked()
        finish_tuner()
        self.utils = Utils()
        self.launcher_cls = make_launcher
        _memory.take_numpy()

    @classmethod
    def is_active(cls) -> bool:
        install_if_asked()
        return installed() is not None

    def get_current_target(self) -> "Any":
        major, minor = self.get_device_capability()
        return _compiler.GPUTarget("cuda", major * 10 + minor, 32)

    def get_device_capability(self, device: "Any" = None) -> "Tuple[int, int]":
        state = installed()
        assert state is not None
        return state.capability

    def get_current_device(self) -> int:
        state = installed()
        return state.device.ordinal if state is not None and state.is_gpu else 0

    def set_current_device(self, device: int) -> None:
        if device != self.get_current_device():
            raise RuntimeError(f"tilevm.triton is installed for device {self.get_current_device()}, not for {device}")

    def get_current_stream(self, device: "Any" = None) -> int:
        torch = sys.modules.get("torch")
        if torch is None:
            return 0
        state = installed()
        if state is not None and state.is_gpu:  # the driver's number; of torch's default stream, if nobody has used the GPU
            number: int = torch._C._cuda_getCurrentRawStream(self.get_current_device())
            return number
        return int(torch.cuda.current_stream(device).cuda_stream)

    def get_active_torch_device(self) -> "Any":
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self) -> "Any":
        import torch

        return torch.cuda

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_benchmarker(self) -> "Any":
        state = installed()
        if state is None or not state.is_gpu:
            return _tune.measure
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> "Any":
        """Memory whose clearing empties the cache of a GPU; the VM's times say nothing about that."""
        import torch

        state = installed()
        return torch.empty((256 << 18) if state is not None and state.is_gpu else 1, dtype=torch.int, device="cuda")

    def clear_cache(self, cache: "Any") -> None:
        cache.zero_()

    def assemble_tensormap_to_arg(self, tensormaps_info: "Any", args: "Any") -> "Any":
        return args


install_if_asked()
if installed() is not None:
    replace_nvidia()
