"""What TileGym uses of the packages cuda.core and cuda.bindings, on tilevm: modules are Tile IR bytecode in place of machine code.

    cuda_core.install("cpu")       # before anything imports cuda.core

Kernels get addresses. On the CPU the VM wants to know what stands there: the storage of every tensor that was asked for its address
(`data_ptr`), which is what a launch may touch. A parameter that is no such address, or whose storage is gone, may not be followed.
"""

import ctypes
import sys
import types

import numpy
import tilevm
import torch
from torch.multiprocessing.reductions import StorageWeakRef

DTYPES = {torch.float16: "float16", torch.float32: "float32", torch.float64: "float64", torch.int8: "int8", torch.uint8: "uint8",
          torch.int16: "int16", torch.int32: "int32", torch.int64: "int64", torch.bool: "uint8"}


class Tensors:
    """Storages of tensors by address, as long as they live; the tensor itself may be a view that is gone."""

    def __init__(self):
        self.known = {}
        original = torch.Tensor.data_ptr

        def data_ptr(tensor):
            address = original(tensor)
            storage = tensor.untyped_storage()
            dtype = DTYPES.get(tensor.dtype, "uint16" if tensor.element_size() == 2 else "uint8")
            whole = tensor.is_contiguous() and tensor.numel() * tensor.element_size() == storage.nbytes()
            shape = tuple(tensor.shape) if whole else (-1,)
            self.known[address] = (StorageWeakRef(storage), storage.data_ptr(), storage.nbytes(), dtype, shape)
            return address

        torch.Tensor.data_ptr = data_ptr

    def memory(self, addresses):
        """Arrays over the storages that the addresses point into, by a name for messages: "parameter 3"."""
        found = {}
        for index, address in addresses.items():
            storage, base, size, dtype, shape = self.known.get(address, (None, 0, 0, None, None))
            if size and base not in found and not storage.expired():
                bytes_ = (ctypes.c_uint8 * size).from_address(base)
                size -= size % numpy.dtype(dtype).itemsize
                found[base] = ("parameter %d" % index, numpy.frombuffer(bytes_, dtype, size // numpy.dtype(dtype).itemsize).reshape(shape))
        return dict(found.values())


class ObjectCode:
    """A module: bytes of Tile IR bytecode."""

    def __init__(self, code):
        self.module = tilevm.load(bytes(code))

    @classmethod
    def from_cubin(cls, code):
        return cls(code)

    def get_kernel(self, name):
        return self.module[name]


class LaunchConfig:
    def __init__(self, grid, block):
        assert block == 1, "a tile kernel has one thread a block"
        self.grid = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)


class Stream:
    @classmethod
    def from_handle(cls, handle):
        stream = cls()
        stream.handle = handle
        return stream


def make_device(on):
    class Device:
        def __init__(self, index=0):
            self.compute_capability = torch.cuda.get_device_capability(index)

        def set_current(self):
            pass

    return Device


def make_launch(on, tensors):
    def launch(stream, config, kernel, *arguments):
        """Arguments are NumPy scalars; those of 16-bit floats are their bits."""
        if len(arguments) != len(kernel.parameters):
            raise TypeError("%s takes %d arguments, not %d" % (kernel.name, len(kernel.parameters), len(arguments)))
        values = [a.item() if hasattr(a, "item") else a for a in arguments]
        for p in kernel.parameters:
            if p.element in ("f16", "bf16") and not p.is_pointer:
                raise TypeError("%s takes a number of type %s" % (kernel.name, p.element))
        if on == "cpu":
            addresses = {i: v for i, (p, v) in enumerate(zip(kernel.parameters, values)) if p.is_pointer}
            kernel(*values, grid=config.grid, device="cpu", memory=tensors.memory(addresses))
        else:
            kernel(*values, grid=config.grid, device=on, stream=stream.handle)

    return launch


class Driver(types.ModuleType):
    """cuda.bindings.driver: what looks for the name of a kernel."""

    class CUresult:
        CUDA_SUCCESS = 0

    def cuCtxGetCurrent(self):
        return 0, 1

    def cuModuleLoadData(self, code):
        return 0, ObjectCode(code).module

    def cuModuleGetFunctionCount(self, module):
        return 0, len(module)

    def cuModuleEnumerateFunctions(self, count, module):
        return 0, list(module)[:count]

    def cuFuncGetName(self, name):
        return 0, name.encode()


def install(on):
    """`on`: "cpu", or "cuda" for kernels that libtilec compiles."""
    if on != "cpu":
        tilevm.device(on).allow_compile()
    core = types.ModuleType("cuda.core", __doc__)
    core.Device, core.LaunchConfig, core.ObjectCode, core.Stream = make_device(on), LaunchConfig, ObjectCode, Stream
    core.launch = make_launch(on, Tensors())
    driver = Driver("cuda.bindings.driver")
    bindings = types.ModuleType("cuda.bindings")
    bindings.driver = driver
    sys.modules.update({"cuda.core": core, "cuda.bindings": bindings, "cuda.bindings.driver": driver})
