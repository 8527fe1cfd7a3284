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
    with pytest.raises(tilevm.NotFoundError, match="2 kernels are called `same`: _Z4sameIfEvPT_, _Z4sameIiEvPT_"):
        module["same"]


def test_none():
    with pytest.raises(tilevm.NotFoundError, match="no kernel `pu`"):
        tilevm.load(TEXT.encode())["pu"]
