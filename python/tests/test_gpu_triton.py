"""Triton kernels on a GPU, under tilevm.triton: each function of triton_cases/gpu_launch.py is a case here, run in one process."""
import pytest
import tilevm
from conftest import is_installed, run_triton_cases, triton_cases

pytestmark = pytest.mark.skipif(not tilevm.has_gpu() or not is_installed("torch") or not is_installed("triton"),
                                reason="there is no GPU, torch or triton")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    return run_triton_cases("gpu_*.py", "cuda", tmp_path_factory.mktemp("triton"))


@pytest.mark.parametrize("name", triton_cases("gpu_*.py"))
def test_case(outcomes, name):
    assert name in outcomes, "the case did not run"
    assert outcomes[name] == "", outcomes[name]
