"""Loading, looking into, and writing programs."""
import subprocess
import sys

import pytest
import tilevm
from conftest import EXAMPLES


def test_every_form_by_content(example, tmp_path):
    module = example("matmul")
    module.save(tmp_path / "anything.xyz")
    again = tilevm.load(str(tmp_path / "anything.xyz"))
    bytecode = tilevm.load(module.export(version="13.3"), name="m.tilebc")
    assert again.to_bytes() == module.to_bytes()
    assert [m.description["form"] for m in (module, again, bytecode)] == ["text", "tbc", "tileir"]
    assert bytecode.description["version"] == "13.3"
    assert tilevm.load(module.export()).description["version"] == "13.1"  # the lowest that holds it
    assert list(again) == list(bytecode) == list(module) == ["matmul"]
    assert tilevm.load(memoryview(again.to_bytes())).kernel.name == "matmul"


def test_disassembly_is_a_program(example):
    text = example("softmax").disassemble()
    assert text.startswith("entry @softmax") or "entry @softmax" in text
    assert tilevm.loads(text).disassemble() == text


def test_debug_information_can_be_left_out(example):
    module = example("softmax")
    assert len(module.to_bytes(debug=False)) < len(module.to_bytes())


def test_interface(example):
    kernel = example("vector_add").kernel
    assert kernel.signature == "vector_add(a: f32[n], b: f32[n]) -> c: f32[n]"
    assert [(a.name, a.direction, a.element, a.rank) for a in kernel.arrays] == [
        ("a", "in", "f32", 1), ("b", "in", "f32", 1), ("c", "out", "f32", 1)]
    assert kernel.grid == ("ceildiv(a.shape[0], 4096)",)
    assert [p.is_pointer for p in kernel.parameters] == [True, True, True, False]
    assert repr(kernel.arrays[2]) == "out c: f32[n]"


def test_what_is_not_there(example):
    module = example("vector_add")
    with pytest.raises(tilevm.NotFoundError, match="no kernel `other`; it has vector_add") as info:
        module["other"]
    assert info.value.code == "run.no_kernel"
    with pytest.raises(tilevm.NotFoundError, match="no such file"):
        tilevm.load("/no/such/file.tbc")
    two = tilevm.loads("entry @a() {\n  return\n}\nentry @b() {\n  return\n}\n")
    with pytest.raises(tilevm.NotFoundError, match="2 kernels: a, b"):
        two.kernel


def test_mistakes_have_places():
    text = "entry @k() {\n  %x = iota : tile<4xi32>\n  %y = addf %x, %x : tile<4xi32>\n  %z = nothing %x\n  return\n}\n"
    with pytest.raises(tilevm.ModuleError) as info:
        tilevm.loads(text, "k.tile")
    error = info.value
    assert (error.file, error.line, error.code) == ("k.tile", 3, "addf.c5")
    assert [(d.severity, d.line, d.code) for d in error.diagnostics] == [("error", 3, "addf.c5"), ("error", 4, "text.unknown_op")]
    found = tilevm.verify(text.replace("  %z = nothing %x\n", "").encode(), "k.tile")
    assert [(d.line, d.code) for d in found] == [(3, "addf.c5")]
    assert tilevm.verify(EXAMPLES / "vector_add.tile") == ()


@pytest.mark.parametrize("data", [b"", b"\0\1\2\3", b"TBC", b"\x7fTileIR\0"])
def test_other_bytes_are_refused(data):
    with pytest.raises(tilevm.ModuleError) as info:
        tilevm.load(data, name="junk")
    assert info.value.code and "junk" in str(info.value)


def test_damaged_bytes_never_crash(example):
    data = example("vector_add").to_bytes()
    for at in range(0, len(data), 97):
        damaged = bytearray(data)
        damaged[at] ^= 0x5A
        try:
            tilevm.load(bytes(damaged))
        except tilevm.ModuleError:
            pass
        with pytest.raises(tilevm.ModuleError):
            tilevm.load(data[:at])


def test_versions(example):
    module = example("vector_add")
    with pytest.raises(tilevm.ArgumentError, match="13.1 to 13.5 can be written"):
        module.export(version="13.9")
    with pytest.raises(tilevm.ArgumentError, match="MAJOR.MINOR"):
        module.export(version="new")


def test_saving_is_all_or_nothing(example, tmp_path):
    with pytest.raises(OSError):
        example("vector_add").save(tmp_path / "no folder" / "k.tbc")
    target = tmp_path / "k.tbc"
    target.mkdir()
    with pytest.raises(OSError):
        example("vector_add").save(target)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["k.tbc"]


def test_compile(example):
    try:
        tilevm.tool("tilec")
    except tilevm.UnavailableError:
        pytest.skip("this wheel was built without tilec")
    try:
        compiled = example("vector_add").compile([80, 90])
    except tilevm.UnavailableError as error:
        assert error.code == "codegen.ptxas", error
        pytest.skip("no ptxas")
    assert {i["arch"].rstrip("a") for i in compiled.images} == {"sm_80", "sm_90"}
    assert all(i["kernel"] == "vector_add" and i["current"] for i in compiled.images)
    with pytest.raises(tilevm.Error, match="sm"):
        example("vector_add").compile("12345")


def test_commands():
    command = [sys.executable, "-c", "import sys; sys.argv = ['tilevm', '--version']; from tilevm._tools import tilevm; tilevm()"]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0 and said.stdout.startswith("tilevm"), said


def test_caches_of_others_tell_compilers_apart(tmp_path, monkeypatch):
    from tilevm._module import digest_of_compiler

    monkeypatch.delenv("TILEVM_TILEC", raising=False)
    own = digest_of_compiler()
    (tmp_path / "tilec").write_bytes(b"another compiler")
    monkeypatch.setenv("TILEVM_TILEC", str(tmp_path / "tilec"))
    other = digest_of_compiler()
    assert other != own
    (tmp_path / "newer").write_bytes(b"a newer one")
    monkeypatch.setenv("TILEVM_TILEC", str(tmp_path / "newer"))
    assert digest_of_compiler() not in (own, other)
    monkeypatch.delenv("TILEVM_TILEC")
    assert digest_of_compiler() == own
