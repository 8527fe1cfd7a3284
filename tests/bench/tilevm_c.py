"""Kernels of .tbc files through libtilevm.so (runtime/tilevm.h), on tensors of torch, as an application launches them.

    library = Library("prefix/lib/libtilevm.so.1")
    device = library.device("cuda")
    kernel = device.kernel("vector_add.tbc")
    kernel(torch.cuda.current_stream(), [a, b, c], [])   # arrays, then scalars, in the order of the interface

The stream is torch's; work on it can be captured into a graph. Tensors must be contiguous, and live until their work is
done. A call that fails raises RuntimeError with the library's message. One thread at a time.
"""
import ctypes
import functools

import torch

_TYPES = {
    torch.bool: 0, torch.uint8: 1, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5,
    torch.bfloat16: 6, torch.float32: 7, torch.float64: 9, torch.float8_e4m3fn: 10,
}


class _Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class _KernelInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("num_parameters", ctypes.c_uint32),
                ("num_arrays", ctypes.c_uint32), ("num_scalars", ctypes.c_uint32), ("has_launch_rule", ctypes.c_int32)]


class _ArrayInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("direction", ctypes.c_int32),
                ("type", ctypes.c_int32), ("rank", ctypes.c_int32), ("fixed_shape", ctypes.c_int64 * 16)]


class _ScalarInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("type", ctypes.c_int32),
                ("optional", ctypes.c_int32)]


class Library:
    def __init__(self, path):
        self._c = ctypes.CDLL(path)
        self._c.tilevm_error.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        if getattr(self._c, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {self._c.tilevm_error().decode()}")

    def create(self, name, *arguments):
        """For functions whose last argument receives what they make."""
        made = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(made))
        return made

    def device(self, name):
        return Device(self, self.create("tilevm_device_open", name.encode()))


class Device:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    @functools.lru_cache(maxsize=None)  # noqa: B019  a device lives as long as the benchmark
    def stream(self, native):
        return self.library.create("tilevm_stream_wrap", self.handle, ctypes.c_void_p(native))

    def kernel(self, path, name=None):
        module = self.library.create("tilevm_module_from_file", path.encode())
        return Kernel(self, self.library.create("tilevm_kernel_create", self.handle, module, name and name.encode()))


class Kernel:
    def __init__(self, device, handle):
        self.device, self.library = device, device.library
        self.launch = self.library.create("tilevm_launch_create", handle)
        info = self._info("tilevm_kernel_get_info", _KernelInfo, handle)
        self.arrays = [self._info("tilevm_kernel_get_array", _ArrayInfo, handle, i).name for i in range(info.num_arrays)]
        self.scalars = [self._info("tilevm_kernel_get_scalar", _ScalarInfo, handle, i).name for i in range(info.num_scalars)]
        self.bound = None

    def _info(self, name, kind, *arguments):
        info = kind(struct_size=ctypes.sizeof(kind))
        self.library.call(name, *arguments, ctypes.byref(info))
        return info

    def __call__(self, stream, tensors, scalars):
        wanted = ([(t.data_ptr(), t.shape) for t in tensors], list(scalars))
        if wanted != self.bound:
            self._bind(tensors, scalars)
            self.bound = wanted
        self.library.call("tilevm_launch_run", self.launch, self.device.stream(stream.cuda_stream))

    def _bind(self, tensors, scalars):
        if len(tensors) != len(self.arrays) or len(scalars) != len(self.scalars):
            raise ValueError(f"takes arrays {self.arrays} and scalars {self.scalars}")
        for name, t in zip(self.arrays, tensors):
            assert t.is_contiguous()
            shape = (ctypes.c_int64 * max(1, t.dim()))(*t.shape)
            array = _Array(t.data_ptr(), _TYPES[t.dtype], t.dim(), shape, None)
            self.library.call("tilevm_launch_set_array", self.launch, name, ctypes.byref(array))
        for name, value in zip(self.scalars, scalars):
            if isinstance(value, float):
                self.library.call("tilevm_launch_set_f64", self.launch, name, ctypes.c_double(value))
            else:
                self.library.call("tilevm_launch_set_i64", self.launch, name, ctypes.c_int64(value))
        self.library.call("tilevm_launch_prepare", self.launch)
