"""The hints of the package, and of a program that uses it, hold under mypy --strict."""
import pathlib
import subprocess
import sys
import tempfile

import pytest
import tilevm

USE = '''
import numpy
import tilevm
from typing import Optional, Tuple

module: tilevm.Module = tilevm.load("k.tbc")
kernel: tilevm.Kernel = module["k"]
launch: tilevm.Launch = kernel.prepare(numpy.zeros(3), grid=(1, 2, 3), check="full")
grid: Tuple[int, int, int] = launch.grid
names: "list[str]" = [a.name for a in kernel.arrays]
try:
    kernel(1)
except tilevm.TrapError as error:
    line: Optional[int] = error.line
module.compile([80, 90]).save("k.tbc")
'''


def mypy(*arguments):
    # What is optional is not looked into: torch alone takes minutes.
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "mypy.ini"
        optional = ("torch", "cuda", "cuda.tile", "triton", "tilus", "jax", "tvm_ffi", "pygls", "lsprotocol")
        config.write_text("[mypy]\n" + "".join(f"[mypy-{m},{m}.*]\nfollow_imports = skip\n" for m in optional))
        ran = subprocess.run([sys.executable, "-m", "mypy", f"--config-file={config}", "--cache-dir=/dev/null", "--strict",
                              "--ignore-missing-imports", *arguments], capture_output=True, text=True)
    if "No module named mypy" in ran.stderr:
        pytest.skip("mypy is not installed")
    return ran


def test_package():
    ran = mypy("-p", "tilevm")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_use(tmp_path):
    file = tmp_path / "use.py"
    file.write_text(USE)
    ran = mypy(str(file))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    file.write_text(USE + "wrong: int = module.disassemble()\ntilevm.load(3)\n")
    ran = mypy(str(file))
    assert ran.stdout.count(": error:") == 2, ran.stdout


def test_every_public_name_has_a_docstring():
    undocumented = []
    for name in tilevm.__all__:
        thing = getattr(tilevm, name)
        if callable(thing):
            if not thing.__doc__:
                undocumented.append(name)
            if isinstance(thing, type) and thing.__module__.startswith("tilevm"):
                undocumented += [f"{name}.{k}" for k, v in vars(thing).items()
                                 if not k.startswith("_") and callable(v) and not getattr(v, "__doc__", "")]
    assert undocumented == []
    assert (pathlib.Path(tilevm.__file__).parent / "py.typed").exists()
