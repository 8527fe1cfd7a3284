"""docs/script.md: its listings run, its reference is that of the docstrings."""
import linecache
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).absolute().parents[3]
PAGE = ROOT / "docs/script.md"


def test_listings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listings = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8").partition("<!-- reference -->")[0], re.S)
    assert len(listings) >= 5
    file = tmp_path / "listings.py"
    file.write_text("\n".join(listings))
    linecache.checkcache(str(file))
    exec(compile(file.read_text(), str(file), "exec"), names := {"__name__": "listings"})
    numpy = names["numpy"]
    a, b = (numpy.random.default_rng(0).random(s, "float32") for s in ((40, 50), (50, 70)))
    assert numpy.allclose(names["matmul"](a, b, check="full"), a @ b, rtol=1e-5)
    data = numpy.arange(3000, dtype="uint8")
    assert numpy.array_equal(names["histogram"](data), numpy.bincount(data, minlength=256))
    table, rows = numpy.arange(640, dtype="float32").reshape(10, 64), numpy.array([3, 9, 0], "int32")
    assert numpy.array_equal(names["take"](table, rows), table[rows])
    assert (tmp_path / "add.tbc").exists()


def test_reference():
    if sys.version_info >= (3, 13):
        pytest.skip("from 3.13 on docstrings don't keep the margin of their examples")
    ran = subprocess.run([sys.executable, str(ROOT / "python/reference/script.py"), "--check", str(PAGE)], capture_output=True, text=True)
    assert ran.returncode == 0, f"run python python/reference/script.py docs/script.md\n{ran.stderr}"
