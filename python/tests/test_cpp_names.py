"""Kernels from C++: by what C++ calls them."""
import numpy
import pytest

import tilevm

TEXT = """entry @_ZN3lib3putIfEEvT_PS1_(%value: tile<f32>, %y: tile<ptr<f32>>) {
  %t = store_ptr_tko weak %y, %value : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @_Z4sameIfEvPT_(%x: tile<ptr<f32>>) {
  return
}
entry @_Z4sameIiEvPT_(%x: tile<ptr<i32>>) {
  return
}
"""


@pytest.mark.parametrize("name", ["put", "lib::put", "put<float>", "lib::put<float>(float, float *)", "_ZN3lib3putIfEEvT_PS1_"])
def test_found(name):
    y = numpy.zeros(1, "float32")
    tilevm.load(TEXT.encode())[name](2.5, y, grid=1)
    assert y[0] == 2.5


def test_several():
    module = tilevm.load(TEXT.encode())
    assert module["same<int>"].name == "_Z4sameIiEvPT_"
    with pytest.raises(tilevm.NotFoundError, match=r"2 kernels are called `same`: same<float>\(float\*\) \[_Z4sameIfEvPT_\], same<int>"):
        module["same"]
    with pytest.raises(tilevm.NotFoundError, match=r"the module has 3 kernels: lib::put<float>\(float, float\*\) \[_ZN3lib"):
        module.kernel


def test_none():
    with pytest.raises(tilevm.NotFoundError, match="no kernel `pu`"):
        tilevm.load(TEXT.encode())["pu"]


def test_messages_call_kernels_as_cpp_does():
    put = tilevm.load(TEXT.encode())["put"]
    y = numpy.zeros(1, "float32")
    assert put.signature == "lib::put<float>(value: tile<f32>, y: tile<ptr<f32>>)"
    for wrong, said in ((lambda: put(2.5, y, out=y), "kernel `lib::put<float>` has no interface"),
                        (lambda: put(2.5, y, grid=-1), "`lib::put<float>`|grid"),
                        (lambda: put(2.5, y), "kernel `lib::put<float>` has no launch rule"),
                        (lambda: put(2.5, 64, grid=1), "parameter 1 of kernel `lib::put<float>` points to no buffer")):
        with pytest.raises(tilevm.Error, match=said) as caught:
            wrong()
        assert "_ZN3lib" not in str(caught.value)
    assert "_ZN3lib" not in repr(put.prepare(2.5, y, grid=1))
