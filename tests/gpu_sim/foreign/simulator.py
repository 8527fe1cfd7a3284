"""The PTX simulator by the CUDA driver's functions: load PTX, allocate arrays, launch, read back.

    sim = Simulator("bazel-bin/tests/gpu_sim/driver/gpu_sim/libgpu_sim.so", sm=100)
    kernel = sim.load(ptx_text)
    out = sim.array(numpy.zeros(128, numpy.float32))
    error = sim.launch(kernel, grid=(1, 1, 1), threads=128, shared=0, arguments=[out, 7], seed=1, lateness=2)
    values = out.get()

An error is the text that the simulator says; None if the launch succeeded.
"""

import ctypes
import os
import re
import tempfile

import numpy

KINDS_OF_LATENESS = (0, 1, 2)  # at once, late, as the dice fall
CLUSTER_ATTRIBUTE = 4


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


class Array:
    """An array in the memory of the simulated device."""

    def __init__(self, sim, values):
        self.sim, self.values = sim, numpy.ascontiguousarray(values)
        self.address = ctypes.c_uint64()
        sim.call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(self.values.nbytes, 16)))
        self.put(self.values)

    def put(self, values):
        self.sim.call("cuMemcpyHtoDAsync_v2", self.address, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes), None)

    def get(self):
        out = numpy.empty_like(self.values)
        self.sim.call("cuMemcpyDtoHAsync_v2", out.ctypes.data_as(ctypes.c_void_p), self.address, ctypes.c_size_t(out.nbytes), None)
        return out

    def free(self):
        self.sim.call("cuMemFree_v2", self.address)


class Kernel:
    def __init__(self, sim, module, function, ptx):
        self.sim, self.module, self.function = sim, module, function
        self.num_parameters = len(re.findall(r"\.param ", ptx[ptx.index(".entry"):].split(")", 1)[0]))

    def unload(self):
        self.sim.call("cuModuleUnload", self.module)


class Simulator:
    def __init__(self, library, sm):
        os.environ["GPU_SIM_SM"] = str(sm)
        self.library = ctypes.CDLL(library)
        self.call("cuInit", 0)

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result != 0:
            raise RuntimeError(f"{name} gives {result}")

    def array(self, values):
        return Array(self, values)

    def load(self, ptx):
        """The only kernel of a module."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), len(log))
        text = ctypes.create_string_buffer(ptx.encode())
        if self.library.cuModuleLoadDataEx(ctypes.byref(module), text, 2, options, values) != 0:
            raise RuntimeError(log.value.decode())
        name = re.search(r"\.entry\s+([\w$]+)", ptx).group(1)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return Kernel(self, module, function, ptx)

    def tensor_map(self, array, sizes, box, element_bytes, data_type, swizzle, strides=None):
        """128 bytes; sizes and box with the contiguous dimension first."""
        rank = len(sizes)
        if strides is None:
            strides = [element_bytes * int(numpy.prod(sizes[: d + 1])) for d in range(rank - 1)]
        room = ctypes.create_string_buffer(256)
        at = (ctypes.addressof(room) + 63) // 64 * 64
        self.call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), data_type, rank, array.address, (ctypes.c_uint64 * rank)(*sizes),
                  (ctypes.c_uint64 * max(rank - 1, 1))(*strides), (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank),
                  0, swizzle, 0, 0)
        return (ctypes.c_uint8 * 128).from_buffer_copy(ctypes.string_at(at, 128))

    def launch(self, kernel, grid, threads, shared, arguments, seed, lateness, cluster=(1, 1, 1), ptxas_waits=False):
        os.environ.update(GPU_SIM_SEED=str(seed), GPU_SIM_LATE=str(lateness), GPU_SIM_PTXAS_WAITS=str(int(ptxas_waits)))
        values = [argument_of(a) for a in arguments]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        attributes = (Attribute * 1)()
        attributes[0].id = CLUSTER_ATTRIBUTE
        attributes[0].value[0:3] = cluster
        config = LaunchConfig((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(threads, 1, 1), shared, None, attributes, 1)
        with StandardError() as text:
            self.call("cuLaunchKernelEx", ctypes.byref(config), kernel.function, pointers, None)
            failed = self.library.cuStreamSynchronize(None) != 0
        return text.read() if failed else None


def argument_of(a):
    if isinstance(a, Array):
        return a.address
    if isinstance(a, float):
        return ctypes.c_float(a)
    return ctypes.c_int32(a) if isinstance(a, int) else a


class StandardError:
    """What is written to standard error, by C++ too."""

    def __enter__(self):
        self.file = tempfile.TemporaryFile()
        self.kept = os.dup(2)
        os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *_):
        os.dup2(self.kept, 2)
        os.close(self.kept)
        self.file.seek(0)
        self.text = self.file.read().decode().strip()
        self.file.close()

    def read(self):
        return self.text
