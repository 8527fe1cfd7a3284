"""The examples of examples/script, against NumPy."""
import importlib.util
import os
import pathlib

import numpy as np
import pytest

FOLDER = pathlib.Path(os.environ.get("TILEVM_EXAMPLES", pathlib.Path(__file__).absolute().parents[3] / "examples")) / "script"


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_has_a_test():
    tested = {n[5:] for n in globals() if n.startswith("test_")}
    assert {p.stem for p in FOLDER.glob("*.py")} <= tested


@pytest.mark.parametrize("n", [1, 1024, 5000])
def test_vector_add(run, rng, n):
    a, b = rng.random(n, "float32"), rng.random(n, "float32")
    assert np.array_equal(run(example("vector_add").vector_add, a, b), a + b)


@pytest.mark.parametrize("dtype,tolerance", [("float32", 1e-5), ("float16", 1e-3)])
def test_softmax(run, rng, dtype, tolerance):
    x = rng.random((7, 33)).astype(dtype)
    e = np.exp(x.astype("float64") - x.max(1, keepdims=True))
    assert np.allclose(run(example("softmax").softmax, x, SIZE=64), e / e.sum(1, keepdims=True), rtol=tolerance)


def test_layer_norm(run, rng):
    x, w, b = rng.random((5, 100), "float32"), rng.random(100, "float32"), rng.random(100, "float32")
    wanted = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
    assert np.allclose(run(example("layer_norm").layer_norm, x, w, b, SIZE=128), wanted, atol=1e-5)


@pytest.mark.parametrize("m,n,k", [(16, 16, 8), (37, 20, 50)])
def test_matmul(run, rng, m, n, k):
    a, b = rng.random((m, k), "float32"), rng.random((k, n), "float32")
    assert np.allclose(run(example("matmul").matmul, a, b, TM=16, TN=16, TK=8), a @ b, rtol=1e-5)


@pytest.mark.parametrize("n", [1, 4096, 300_001])
def test_histogram(run, rng, n):
    data = rng.integers(0, 256, n).astype("uint8")
    wanted = np.bincount(data, minlength=256)
    module = example("histogram")
    for kernel in (module.histogram, module.histogram_shared):
        assert np.array_equal(run(kernel, data, check="full" if n < 5000 else "bounds"), wanted)


def test_transpose(run, rng):
    for dtype in ("float32", "int8"):
        x = rng.integers(0, 99, (50, 37)).astype(dtype)
        assert np.array_equal(run(example("transpose").transpose, x, TILE=16), x.T)


def test_attention(run, rng):
    q, k, v = (rng.random((2, n, 16), "float32") for n in (9, 21, 21))
    score = np.exp(q @ k.swapaxes(1, 2) * 0.125)
    wanted = score / score.sum(2, keepdims=True) @ v
    assert np.allclose(run(example("attention").attention, q, k, v, D=16, Q=8, K=8), wanted, rtol=1e-4)
