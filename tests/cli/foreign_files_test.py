"""Files that tilevm does not read: named for what they are, with what to pass instead.    foreign_files_test.py TILEVM"""

import gzip
import io
import json
import pickle
import re
import zipfile

import cli

ONES = "ones:f32[8]"


def torch_file():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02.")
        archive.writestr("archive/data/0", bytes(32))
    return file.getvalue()


ELF = b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xbe\x00" + bytes(44)

# Name, contents, what the message says in place of an array of f32.
ARRAYS = [
    ("t.pt", torch_file(), "a file of torch.save", "torch.load('t.pt').numpy()"),
    ("t.pth", torch_file(), "a file of torch.save", "torch.load('t.pth')"),
    ("no_extension", torch_file(), "a file of torch.save", "torch.load('no_extension')"),
    ("t.gguf", b"GGUF\3\0\0\0" + bytes(24), "a GGUF model", "GGUFReader('t.gguf')"),
    ("t.csv", b"1,2,3,4\n5,6,7,8\n", "a table of numbers as text", "numpy.loadtxt('t.csv', delimiter=','"),
    ("t.txt", b"1\n2\n3\n4\n5\n6\n7\n8\n", "numbers as text", "numpy.loadtxt('t.txt'"),
    ("t.json", json.dumps([1, 2, 3]).encode(), "JSON", "json.load(open('t.json'))"),
    ("t.pkl", pickle.dumps([1.0]), "a Python pickle", "numpy.save"),
    ("t.h5", b"\x89HDF\r\n\x1a\n" + bytes(24), "an HDF5 file", "h5py.File('t.h5')"),
    ("t.parquet", b"PAR1" + bytes(28), "a Parquet file", "read_parquet('t.parquet')"),
    ("t.jpg", b"\xff\xd8\xff\xe0" + bytes(28), "an image that is no PNG", "PIL.Image.open('t.jpg')"),
    ("t.npy.gz", gzip.compress(b"x"), "a file that gzip compressed", "gunzip t.npy.gz"),
    ("t.dat", bytes(32), "no array that tilevm knows", "say what they are: t.dat:f32"),
]

# Name, contents, what it is in place of a kernel, what to do.
KERNELS = [
    ("k.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n", "PTX", "asm['ttir']"),
    ("k.ll", "define void @k() {\n  ret void\n}\n", "LLVM IR", "asm['ttir']"),
    ("k.cubin", ELF, "a cubin", "asm['ttir']"),
    ("k.py", "import triton\n\n@triton.jit\ndef k(x):\n    pass\n", "a Python program with Triton kernels", "python -m tilevm.triton k.py"),
    ("c.py", "import cuda.tile as ct\n", "a Python program with cuTile kernels", "python -m tilevm.cutile c.py"),
    ("k.cu", "__global__ void k() {}\n", "CUDA C++ of single threads", "CUDA Tile C++"),
    ("k.mlir", "module {\n  func.func @f() {\n    return\n  }\n}\n", "MLIR of another dialect", "cuda_tile"),
    ("s.mlir", "func.func @main(%a: tensor<4xf32>) {\n  %b = stablehlo.abs %a : tensor<4xf32>\n  return\n}\n", "StableHLO", "a kernel"),
    ("k.hlo", "HloModule m\n\nENTRY e {\n}\n", "HLO", "a kernel"),
    ("k.safetensors", b"\x0a\0\0\0\0\0\0\0" + b'{"x":{}}  ' + bytes(8), "a safetensors file", "the kernel comes first"),
    ("k.zip", b"PK\x03\x04" + bytes(30), "a zip archive", "unzip k.zip"),
    ("k.gz", gzip.compress(b"x"), "a file that gzip compressed", "gunzip k.gz"),
]


class ForeignFiles(cli.Case):
    def test_arrays(self):
        for name, contents, what, fix in ARRAYS:
            for cast in ([], ["--cast"]):
                with self.subTest(name, cast=cast):
                    self.write(name, contents)
                    done = self.call("run", "vector_add.tile", ONES, name, *cast)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertTrue(done.stderr.startswith(f"{name}: error[run.value]: argument `b` takes f32, but "), done.stderr)
                    said, _, advice = done.stderr.partition("\n  fix: ")
                    self.assertIn(what, said)
                    self.assertIn(fix, advice)
                    self.assertNotIn("--cast", done.stderr)

    def test_bytes_on_demand(self):
        self.write("t.csv", "1,2\n")
        done = self.call("run", "vector_add.tile", "t.csv:u8", ONES)
        self.assertIn("takes f32, but the value is u8[4]; convert it with --cast", done.stderr)

    def test_what_run_wrote_as_text_is_refused_by_name(self):
        self.good("run", "vector_add.tile", ONES, ONES, "-o", "c.txt")
        done = self.call("run", "vector_add.tile", "c.txt", ONES)
        self.assertIn("numbers as text", done.stderr)
        self.assertIn("writes an array in the first place", done.stderr)

    def test_kernels(self):
        for name, contents, what, fix in KERNELS:
            for command in ("run", "verify", "as"):
                with self.subTest(name, command=command):
                    self.write(name, contents)
                    done = self.call(command, name)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertRegex(done.stderr, f"^{re.escape(name)}: error\\[file.form\\]: not a kernel but ")
                    self.assertIn(what, done.stderr)
                    self.assertIn(fix, done.stderr.partition("\n  fix: ")[2])

    def test_a_wrong_text_stays_a_text(self):
        self.write("k.tile", "entry @k() {\n  %a = adf\n  return\n}\n")
        self.assertIn("k.tile:2:8: error[text.unknown_op]", self.call("verify", "k.tile").stderr)


if __name__ == "__main__":
    cli.main()
