"""Launches on a GPU that a driver for tests plays (runtime/cuda/fake_cuda.h): which calls reach the driver, in which order, on which
stream, and whether anybody waits. Its memory is the host's. Torch is played too: a type of tensors with DLPack's C exchange."""
import os
import subprocess
import sys
import textwrap

import pytest

LIBRARY, MODULE = os.environ.get("TILEVM_FAKE_CUDA", ""), os.environ.get("TILEVM_FAKE_MODULE", "")
pytestmark = pytest.mark.skipif(not LIBRARY or not MODULE, reason="TILEVM_FAKE_CUDA and TILEVM_FAKE_MODULE name no driver for tests")

PROLOGUE = '''
import ctypes, gc, os, sys, types
import numpy
import tilevm

device = tilevm.device("cuda")
add = tilevm.load(os.environ["TILEVM_FAKE_MODULE"]).kernel
driver = ctypes.CDLL(os.environ["TILEVM_LIBCUDA"])
driver.fake_cuda_log.restype = ctypes.c_char_p


def calls(work):
    """What `work` gives, and names of driver calls about work."""
    driver.fake_cuda_reset()
    result = work()
    names = [line.split()[0].removesuffix("_v2") for line in driver.fake_cuda_log().decode().splitlines()]
    return result, [n for n in names if n in ("cuLaunchKernel", "cuStreamSynchronize", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemAlloc", "cuGraphLaunch")]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


DESCRIBE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))


@DESCRIBE
def describe(tensor, into):
    into[0] = DLTensor(tensor.data_ptr(), 2, 0, 1, 2, 32, 1, ctypes.addressof(tensor.sizes), None, 0)
    return 0


class Exchange(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p), ("unused", ctypes.c_void_p * 3),
                ("describe", DESCRIBE), ("stream", ctypes.c_void_p)]


exchange = Exchange(1, 3, None, (ctypes.c_void_p * 3)(), describe, None)
ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor:
    __module__, __qualname__ = "torch", "Tensor"
    __dlpack_c_exchange_api__ = ctypes.pythonapi.PyCapsule_New(ctypes.addressof(exchange), b"dlpack_exchange_api", None)
    device = types.SimpleNamespace(type="cuda", index=0)
    dtype = numpy.dtype("float32")
    requires_grad = False

    def __init__(self, values):
        self.memory = numpy.array(values, "float32")
        self.shape, self.sizes = self.memory.shape, (ctypes.c_int64 * 1)(self.memory.size)

    def is_neg(self):
        return False

    def data_ptr(self):
        return self.memory.ctypes.data

    def stride(self):
        return (1,)


made = []


def empty(*shape, dtype, device):
    made.append(shape)
    return Tensor(numpy.zeros(shape[0] if isinstance(shape[0], tuple) else shape))


of_torch = device.stream()
torch = sys.modules["torch"] = types.ModuleType("torch")
torch.Tensor, torch.empty, torch.float32 = Tensor, empty, Tensor.dtype
torch.cuda = types.SimpleNamespace(current_stream=lambda ordinal: types.SimpleNamespace(cuda_stream=of_torch.cuda_stream))
'''


def play(code, **environment):
    environment = {**os.environ, "TILEVM_LIBCUDA": LIBRARY, "FAKE_CUDA_CC": "90", "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    said = subprocess.run([sys.executable, "-X", "faulthandler", "-c", PROLOGUE + textwrap.dedent(code)], capture_output=True, text=True, env=environment)
    assert said.returncode == 0 and said.stdout.endswith("done\n"), said.stdout + said.stderr


def test_arrays_of_the_host_are_copied_at_each_call():
    play("""
        a = numpy.arange(8, dtype="float32")
        for _ in range(4):
            c, seen = calls(lambda: add(a, a, device="cuda"))
            assert (c == 2 * a).all()
            assert seen.count("cuMemcpyHtoDAsync") >= 2 and seen.count("cuLaunchKernel") == 1 and "cuMemcpyDtoHAsync" in seen, seen
        assert add._num_plans() == 0
        print("done")
    """)


def test_tensors_of_the_device_on_torch_s_stream():
    play("""
        a, b = Tensor(range(8)), Tensor(range(8))
        for i in range(6):
            c, seen = calls(lambda: add(a, b))
            assert type(c) is Tensor and (c.memory == 2 * a.memory).all() and made[-1] in ((8,), ((8,),))
            assert [n for n in seen if n != "cuMemAlloc"] == ["cuLaunchKernel", "cuStreamSynchronize"], seen
        assert add._num_plans() == 1
        for n in (3, 5, 8):
            c = add(Tensor(range(n)), Tensor(range(n)))
            assert (c.memory == 2 * numpy.arange(n)).all()
        for call in (lambda: add(a, Tensor(range(4))), lambda: add(a, b, out=Tensor(range(3)))):
            for _ in range(3):
                try:
                    call()
                except tilevm.ArgumentError as error:
                    assert "must be equal" in str(error)
                else:
                    raise AssertionError("accepted")
        print("done")
    """)


def test_a_stream_means_that_nobody_waits():
    play("""
        a, b, c = Tensor(range(8)), Tensor(range(8)), Tensor(range(8))
        mine = device.stream()
        for stream in (mine, mine.cuda_stream, types.SimpleNamespace(cuda_stream=of_torch.cuda_stream)):
            before = add._num_plans()
            for _ in range(4):
                c.memory[:] = 0
                result, seen = calls(lambda: add(a, b, out=c, stream=stream))
                assert result is c and (c.memory == 2 * a.memory).all()
                assert [n for n in seen if n != "cuMemAlloc"] == ["cuLaunchKernel"], seen
            assert add._num_plans() == before + 1
        result, seen = calls(lambda: add(a, b, out=c, stream=mine))
        assert seen == ["cuLaunchKernel"], seen  # nothing else, when all is as it was

        class Core:  # as cuda.core's
            version = 0

            def __cuda_stream__(self):
                return self.version, mine.cuda_stream

        old = types.SimpleNamespace(__cuda_stream__=(0, mine.cuda_stream))
        for stream in (Core(), old):
            c.memory[:] = 0
            result, seen = calls(lambda: add(a, b, out=c, stream=stream))
            assert (c.memory == 2 * a.memory).all() and [n for n in seen if n != "cuMemAlloc"] == ["cuLaunchKernel"], seen
        assert mine.__cuda_stream__() == (0, mine.cuda_stream) and mine.cuda_stream != 0
        Core.version = 1
        try:
            add(a, b, out=c, stream=Core())
        except tilevm.ArgumentError as error:
            assert "version 1 of __cuda_stream__" in str(error)
        else:
            raise AssertionError("accepted")
        try:
            tilevm.device("cpu").stream().__cuda_stream__()
        except tilevm.UnsupportedError as error:
            assert error.code == "python.stream"
        else:
            raise AssertionError("accepted")
        print("done")
    """)


def test_a_prepared_launch_on_changing_streams():
    """The form of its last call is remembered; another form is none the worse for it."""
    play("""
        driver.fake_cuda_log.restype = ctypes.c_char_p
        a, b, c = Tensor(range(8)), Tensor(range(8)), Tensor(range(8))
        launch = add.prepare(a, b, out=c)
        first, second = device.stream(), device.stream()
        for stream in (first, second, first, first.cuda_stream, second.cuda_stream + 0, first.cuda_stream + 0,
                       types.SimpleNamespace(cuda_stream=second.cuda_stream)):
            for _ in range(3):
                c.memory[:] = 0
                result, seen = calls(lambda: launch(stream))
                assert result is c and (c.memory == 2 * a.memory).all() and seen == ["cuLaunchKernel"], seen
            if isinstance(stream, tilevm.Stream):
                with stream.capture() as graph:
                    c.memory[:] = 0
                    assert launch(stream) is c and (c.memory == 0).all()
                graph(stream)
                assert (c.memory == 2 * a.memory).all()
        for _ in range(3):
            result, seen = calls(launch)
            assert result is c and "cuStreamSynchronize" in seen, seen
            result, seen = calls(lambda: launch(stream=first))
            assert result is c and seen == ["cuLaunchKernel"], seen
        launch(first)
        for wrong in ("no stream", tilevm.device("cpu").stream(), 1.5):
            try:
                launch(wrong)
            except tilevm.ArgumentError:
                pass
            else:
                raise AssertionError("accepted")
        try:
            launch(first, second)
        except TypeError:
            pass
        else:
            raise AssertionError("accepted")
        driver.fake_cuda_fail(b"cuLaunchKernel", 999)
        try:
            launch(first)
        except tilevm.Error as error:
            assert "vector_add" in str(error), error
        else:
            raise AssertionError("accepted")
        driver.fake_cuda_reset()
        assert launch(first) is c
        print("done")
    """)


def test_graphs():
    play("""
        a, b, c = Tensor(range(8)), Tensor(range(8)), Tensor(range(8))
        stream = device.stream()
        for _ in range(3):
            add(a, b, out=c, stream=stream)
        launch = add.prepare(c, b, out=c)
        launch(stream)
        c.memory[:] = 0
        with stream.capture() as graph:
            add(a, b, out=c, stream=stream)
            launch(stream)
        assert (c.memory == 0).all()
        del launch
        gc.collect()
        for _ in range(3):
            result, seen = calls(lambda: graph(stream))
            assert seen == ["cuGraphLaunch"] and (c.memory == 3 * a.memory).all(), seen
        stream.synchronize()
        _, seen = calls(graph)
        assert "cuStreamSynchronize" in seen
        print("done")
    """)


def test_events():
    play("""
        stream, start, end = device.stream(), device.event(), device.event()
        start.record(stream)
        end.record(stream)
        end.synchronize()
        assert isinstance(end.elapsed_ms(start), float)
        device.stream().wait(end)
        print("done")
    """)


def test_failures_of_the_driver_are_told():
    play("""
        a, b, c = Tensor(range(8)), Tensor(range(8)), Tensor(range(8))
        for _ in range(3):
            add(a, b, out=c)
        for _ in range(2):
            driver.fake_cuda_fail(b"cuLaunchKernel", 999)
            try:
                add(a, b, out=c)
            except tilevm.Error as error:
                assert "vector_add" in str(error), error
            else:
                raise AssertionError("accepted")
            driver.fake_cuda_reset()
            assert (add(a, b, out=c).memory == 2 * a.memory).all()
        print("done")
    """)


def test_a_kernel_that_fails_is_told_by_who_waits():
    play("""
        a, b, c = Tensor(range(8)), Tensor(range(8)), Tensor(range(8))
        stream = device.stream()
        add(a, b, out=c, stream=stream)
        try:
            stream.synchronize()
        except tilevm.Error as error:
            assert error.code == "cuda.illegal_address", error
        else:
            raise AssertionError("accepted")
        print("done")
    """, FAKE_CUDA_FAULT="700")


def test_streams_that_nobody_waits_for_are_asked_now_and_then():
    play("""
        a, b, c = Tensor(range(8)), Tensor(range(8)), Tensor(range(8))
        stream = device.stream(of_torch.cuda_stream)

        def work():
            for _ in range(4100):
                add(a, b, out=c, stream=stream)
                stream.count_launch()

        _, seen = calls(work)
        launches = seen.count("cuLaunchKernel") + seen.count("cuGraphLaunch")  # what repeats is a graph
        assert (seen.count("cuStreamSynchronize"), launches) == (1, 4100), (len(seen), launches)
        print("done")
    """)
