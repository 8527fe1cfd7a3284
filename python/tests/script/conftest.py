"""Kernels for tests: every test of a source document runs on the CPU with all checks, and on a GPU if there is one.

A test names the rows of tests/source-coverage.md that it shows: @pytest.mark.source("S0-007", "S0-008").
"""
import linecache
import re
import subprocess

import numpy
import pytest
import tilevm
from tilevm import script


def pytest_configure(config):
    config.addinivalue_line("markers", "source(*rows): rows of tests/source-coverage.md that the test shows")


DEVICES = ["cpu"] + (["cuda"] if tilevm.has_gpu() else [])


class Run:
    """run(kernel, *arguments): a launch; with every check of the VM unless check= says otherwise. `device`: "cpu" or "cuda"."""

    def __init__(self, device):
        self.device = device
        if device == "cuda":
            tilevm.device("cuda").allow_compile()

    def __call__(self, kernel, *args, check="full", **named):
        return kernel(*args, device=self.device, **(named if self.device == "cuda" else {**named, "check": check}))


@pytest.fixture(params=DEVICES)
def run(request):
    return Run(request.param)


@script.kernel("x: T[n], inout y: U[m]", grid=1)
def one_line(x, y, body, T=None, U=None):
    body(x, y)


@pytest.fixture
def built():
    """built(lambda x, y: …, T, U): the text of a kernel of one expression; x is an input, y is changed."""
    return lambda body, T="i32", U="i32": one_line.specialize(body=body, T=T, U=U).module.disassemble()


@pytest.fixture
def refused(built):
    """refused(code, lambda x, y: …): the error that the expression gives, which has the line of this call and a fix."""
    def refuse(code, body, T="i32", U="i32"):
        with pytest.raises(script.ScriptError) as e:
            built(body, T, U)
        assert (e.value.code, e.value.file) == (code, body.__code__.co_filename), str(e.value)
        assert linecache.getline(e.value.file, e.value.line).strip() and e.value.fix
        if body.__name__ == "<lambda>" and body.__code__.co_names[:1] in (("script",), ("pointer",)):  # it calls at once
            assert 0 <= e.value.line - body.__code__.co_firstlineno <= 2
        return e.value

    return refuse


def tilec(kernel, emit, sm, tmp_path):
    try:
        command = tilevm.tool("tilec")
    except tilevm.UnavailableError:
        pytest.skip("there is no tilec")
    kernel.module.save(tmp_path / "k.tbc")
    ran = subprocess.run([command, str(tmp_path / "k.tbc"), f"--sm={sm}", f"--emit={emit}", "-o", "-"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture
def ptx(tmp_path):
    """ptx(kernel): the PTX of a built kernel."""
    return lambda kernel, sm=90: tilec(kernel, "ptx", sm, tmp_path)


@pytest.fixture
def rng():
    return numpy.random.default_rng(1)


def operations(text, mnemonic):
    """The lines of a text with an operation."""
    return [line.strip() for line in text.splitlines() if re.search(rf"(^|= ){mnemonic}\b", line.strip())]


@pytest.fixture
def ops():
    return operations
