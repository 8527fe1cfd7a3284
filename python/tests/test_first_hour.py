"""What newcomers meet beside kernels: tracebacks, classes' names, places with their lines, folders, headers and libraries."""
import os
import pathlib
import pickle
import shutil
import subprocess
import sys

import numpy
import pytest
import tilevm
from conftest import OUTSIDE


def frames(error):
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame.f_code
        at = at.tb_next


def own_frames(error):
    return [code.co_name for code in frames(error) if code.co_filename.startswith(tilevm.__path__[0])]


def test_classes_are_called_as_they_are_found():
    for name in tilevm.__all__:
        thing = getattr(tilevm, name)
        if isinstance(thing, type):
            assert name == "Builder" or (thing.__module__, thing.__qualname__) == ("tilevm", name)
    assert "tilevm.TrapError" in repr(tilevm.TrapError) and pickle.loads(pickle.dumps(tilevm.TrapError)) is tilevm.TrapError
    from tilevm import script

    assert script.ScriptError.__module__ == "tilevm.script"


def test_a_trap_shows_its_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside.tile").write_text(OUTSIDE)
    kernel = tilevm.load("outside.tile")["outside"]
    for _ in range(3):  # the third call is one that the extension remembers
        with pytest.raises(tilevm.TrapError) as e:
            kernel(numpy.ones(3, "float32"))
        source = OUTSIDE.splitlines()[e.value.line - 1]
        first, where, line, caret = str(e.value).split("\n")[:4]
        assert where.startswith("  in kernel `outside`")
        assert first.startswith(f"outside.tile:{e.value.line}:{e.value.column}: error[vm.out_of_bounds]: ")
        assert line == "    " + source and caret.strip() == "^" and len(caret) == 4 + e.value.column
        assert (e.value.array, e.value.index, e.value.kernel, e.value.op) == ("x", 3, "outside", "load_ptr_tko")
        assert len(own_frames(e.value)) <= 1


def test_a_mistake_of_several_blocks_is_told_once():
    text = """entry @claim() interface { grid 6 } {
  %x, %y, %z = get_tile_block_id
  %ok = cmpi equal %x, 0, signed : tile<i32> -> tile<i1>
  assert %ok, "no more than one block"
  return
}
"""
    with pytest.raises(tilevm.TrapError) as e:
        tilevm.loads(text, "claim.tile")["claim"]()
    assert (e.value.kernel, e.value.block, e.value.op) == ("claim", (1, 0, 0), "assert")
    assert str(e.value).count("error[") == 1 and "and in 4 other blocks: first (2, 0, 0), last (5, 0, 0)" in str(e.value)


def test_only_sources_are_shown(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(OUTSIDE)
    with pytest.raises(tilevm.TrapError) as e:
        tilevm.loads(OUTSIDE, str(secret))["outside"](numpy.ones(3, "float32"))
    assert "^" not in str(e.value)


CALLS = {
    "a wrong argument": lambda add: add(3),
    "no such kernel": lambda add: add.module["sub"],
    "no such file": lambda add: tilevm.load("/nowhere/k.tbc"),
    "wrong text": lambda add: tilevm.loads("entry @k("),
    "a wrong device": lambda add: add.load("tpu"),
    "a wrong option": lambda add: add(numpy.ones(3, "float32"), numpy.ones(3, "float32"), check="much"),
    "a wrong version": lambda add: add.module.to_bytes(version="9.9"),
    "a wrong program": lambda add: broken().build(),
}


def broken():
    b = tilevm.Builder()
    with b.entry("k", x="tile<i32>") as (x,):
        b.addf(x, x)
    return b


@pytest.mark.parametrize("name", CALLS)
def test_tracebacks_end_at_the_call(name, add):
    with pytest.raises(tilevm.Error) as e:
        CALLS[name](add)
    assert len(own_frames(e.value)) <= 1, own_frames(e.value)


def test_folders_and_modules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside.tile").write_text(OUTSIDE)
    with pytest.raises(tilevm.ArgumentError, match="'.' is a directory") as e:
        tilevm.load(".")
    assert "outside.tile" in e.value.fix
    ran = subprocess.run([sys.executable, "-c", "import tilevm; print(tilevm.script.__name__, tilevm.builder.__name__); tilevm.torch"],
                         capture_output=True, text=True)
    assert ran.stdout == "tilevm.script tilevm.builder\n" and "import tilevm.torch" in ran.stderr
    with pytest.raises(AttributeError, match="tilevm.script.kernel"):
        tilevm.jit


def test_reprs():
    device = tilevm.device("cpu")
    stream = device.stream()
    assert repr(stream) == "<tilevm.Stream of cpu>" and repr(device.event()) == "<tilevm.Event of cpu>"
    with stream.capture() as graph:
        assert "not recorded yet" in repr(graph)
    assert repr(graph) == "<tilevm.Graph of cpu>"


def test_bits_of_bf16_from_a_file(tmp_path, add):
    numpy.save(tmp_path / "x.npy", numpy.zeros(4, "V2"))
    x = numpy.load(tmp_path / "x.npy")
    with pytest.raises(tilevm.ArgumentError) as e:
        add(x, x)
    assert "ml_dtypes.bfloat16" in e.value.fix


@pytest.fixture
def app(tmp_path):
    """The folder of a program in C, and a function that runs what it was built into."""
    (tmp_path / "app.c").write_text('#include <stdio.h>\n#include "tilevm.h"\nint main(void) { printf("%u\\n", tilevm_abi_version()); return 0; }\n')

    def run(program):
        assert subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip().isdigit()

    return tmp_path, run


def test_an_application_links(app):
    folder, run = app
    lib = tilevm.get_library_dir()
    subprocess.run(["cc", "app.c", f"-I{tilevm.get_include()}", f"-L{lib}", "-ltilevm", f"-Wl,-rpath,{lib}", "-o", "app"], cwd=folder, check=True)
    run(folder / "app")


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")
def test_an_application_links_with_pkg_config(app):
    folder, run = app
    env = {**os.environ, "PKG_CONFIG_PATH": tilevm.get_pkgconfig_dir()}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "tilevm"], env=env, capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["cc", "app.c", *flags, f"-Wl,-rpath,{tilevm.get_library_dir()}", "-o", "app"], cwd=folder, check=True)
    run(folder / "app")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
def test_an_application_links_with_cmake(app):
    folder, run = app
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.13)\nproject(app C)\nfind_package(tilevm REQUIRED)\n"
                                           "add_executable(app app.c)\ntarget_link_libraries(app tilevm::tilevm)\n")
    for command in (["-S", ".", "-B", "build", f"-Dtilevm_DIR={tilevm.get_cmake_dir()}"], ["--build", "build"]):
        done = subprocess.run(["cmake", *command], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    run(folder / "build" / "app")


def test_damaged_machine_code_is_refused(tmp_path):
    module = os.environ.get("TILEVM_FAKE_MODULE")
    if not module:
        pytest.skip("TILEVM_FAKE_MODULE names no module with machine code")
    data = bytearray(pathlib.Path(module).read_bytes())
    assert tilevm.load(bytes(data)).images[0]["arch"] == "sm_90a"
    at = data.index(b"FAKECUBIN")
    for distance in (0, 5, 20):
        damaged = bytearray(data)
        damaged[at + distance] ^= 1
        with pytest.raises(tilevm.ModuleError, match="image 0, sm_90a code of kernel `vector_add`, is damaged") as e:
            tilevm.load(bytes(damaged), name="k.tbc")
        assert e.value.code == "tbc.damaged" and e.value.fix
    (tmp_path / "k.tbc").write_bytes(damaged)
    for command in ("info", "verify", "run"):
        ran = subprocess.run([tilevm.tool("tilevm"), command, "k.tbc"], capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode == 1 and "k.tbc: error[tbc.damaged]: image 0, sm_90a code of kernel `vector_add`" in ran.stderr, ran.stderr
