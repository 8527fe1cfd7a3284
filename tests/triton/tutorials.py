"""Triton's tutorials for one GPU, as they are, without their benchmarks, which measure; what they compare is compared at sizes that a CPU
is done with. Run by `tests/triton/run CHECKOUT --tutorials`, which names the folder in TUTORIALS.

A tutorial runs to its end as a program; where that takes a GPU (06, 09, 11), its own function that compares is called instead.
"""
import os
import pathlib
import runpy
import sys

import pytest
import tilevm.triton
import torch
import triton.testing

FOLDER = pathlib.Path(os.environ["TUTORIALS"])


@pytest.fixture
def tutorial(monkeypatch, tmp_path):
    """tutorial("01-vector-add"): runs it; its names, if it is not to run as a program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(triton.testing.Mark, "run", lambda self, **options: None)
    torch.manual_seed(0)

    def run(name, as_program=True):
        path = FOLDER / f"{name}.py"
        monkeypatch.setattr(sys, "argv", [str(path)])
        return runpy.run_path(str(path), run_name="__main__" if as_program else "tutorial")

    return run


def test_01_vector_add(tutorial, capsys):
    tutorial("01-vector-add")
    assert "The maximum difference between torch and triton is 0.0" in capsys.readouterr().out


def test_02_fused_softmax(tutorial):
    tutorial("02-fused-softmax")


def test_03_matrix_multiplication(tutorial, capsys):
    tutorial("03-matrix-multiplication")
    said = capsys.readouterr().out
    assert said.count("✅") == 2 and "❌" not in said


def test_04_low_memory_dropout(tutorial):
    names = tutorial("04-low-memory-dropout")
    x = torch.randn(100, device="cuda")
    one, same, other = (names["seeded_dropout"](x, p=0.5, seed=seed) for seed in (123, 123, 512))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert set((one / x).round(decimals=3).tolist()) == {0.0, 2.0}


def test_05_layer_norm(tutorial):
    tutorial("05-layer-norm")


@pytest.mark.parametrize("heads, length, width", [(2, 128, 64), (1, 256, 128)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mode, provider", [("bwd", "triton-fp16"), ("fwd", "triton-fp8")])
def test_06_fused_attention(tutorial, heads, length, width, causal, mode, provider):
    tutorial("06-fused-attention", as_program=False)["test_op"](1, heads, length, width, causal, False, mode, provider)


def test_07_extern_functions(tutorial, capsys):
    tutorial("07-extern-functions")
    said = capsys.readouterr().out
    assert said.count("The maximum difference between torch and triton is") == 2
    assert all(float(line.rsplit(" ", 1)[1]) < 1e-6 for line in said.splitlines() if line.startswith("The maximum"))


def test_08_grouped_gemm(tutorial):
    tutorial("08-grouped-gemm")


@pytest.mark.skipif(not tilevm.triton.installed().is_gpu, reason="opens cuBLASLt itself, which crashes where there is no driver")
@pytest.mark.parametrize("sizes", [(32, 32, 32), (192, 160, 96)])
def test_09_persistent_matmul(tutorial, capsys, sizes):
    tutorial("09-persistent-matmul", as_program=False)["validate"](*sizes, torch.float16)
    said = capsys.readouterr().out
    assert "✅" in said and "❌" not in said


def test_11_programmatic_dependent_launch(tutorial, capsys):
    tutorial("11-programmatic-dependent-launch", as_program=False)["validate"](1024)
    assert "❌" not in capsys.readouterr().out
