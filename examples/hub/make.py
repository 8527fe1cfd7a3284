"""Writes a repository for Hugging Face's `kernels` library, with softmax as a function of TVM-FFI.

    python examples/hub/make.py OUT                             # for CPUs
    python examples/hub/make.py OUT --backend=cpu --backend=cu130 --sm=80,90        # and with machine code for GPUs

OUT then has a folder for each backend, which kernels.get_local_kernel(OUT) loads and `hf upload` publishes:

    build/tvm-ffi01-cpu-x86_64-linux/__init__.py            what a user imports
    build/tvm-ffi01-cpu-x86_64-linux/_softmax_tilevm.so     the functions, with the kernel in them
    build/tvm-ffi01-cpu-x86_64-linux/libtilevm.so.1         what launches it; nothing of tilevm need be installed
    build/tvm-ffi01-cpu-x86_64-linux/metadata.json
    build/tvm-ffi01-cpu-x86_64-linux/softmax_tilevm/        the same names, for older versions of `kernels`

It needs tilevm, apache-tvm-ffi and a C compiler. Only those who load it need torch or another library of tensors.
"""
import argparse
import base64
import hashlib
import json
import pathlib
import platform
import shutil

import tilevm
import tilevm.tvm_ffi
import tvm_ffi

HERE = pathlib.Path(__file__).resolve().parent
NAME, VERSION, LICENSE = "softmax-tilevm", 1, "Apache-2.0"


def digest_of(path):
    return base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode()


def metadata(folder, backend, targets):
    """What `kernels` asks of a variant: an id that is unique, and sums of all files."""
    files = {str(path.relative_to(folder)): digest_of(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    kind = {"type": "cpu"} if backend == "cpu" else {"type": "cuda", "archs": [f"{sm[:-1]}.{sm[-1]}" for sm in targets]}
    unique = hashlib.sha256("".join(files.values()).encode()).hexdigest()[:7]
    return {"name": NAME, "id": f"_{NAME.replace('-', '_')}_{kind['type']}_{unique}", "version": VERSION, "license": LICENSE, "python-depends": [],
            "backend": kind, "digest": {"algorithm": "sha256", "files": files}}


def write_variant(out, backend, module, targets):
    major, minor = tvm_ffi.__version__.split(".")[:2]
    folder = out / "build" / f"tvm-ffi{major}{minor}-{backend}-{platform.machine()}-linux"
    if folder.exists():
        shutil.rmtree(folder)
    older = folder / NAME.replace("-", "_")
    older.mkdir(parents=True)
    tilevm.tvm_ffi.build(module, folder / f"_{NAME.replace('-', '_')}.so", runtime=True)
    shutil.copy(HERE / "softmax_tilevm.py", folder / "__init__.py")
    shutil.copy(HERE / "older.py", older / "__init__.py")
    (folder / "metadata.json").write_text(json.dumps(metadata(folder, backend, targets), indent=2) + "\n", encoding="utf-8")
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--backend", action="append", help="cpu, cu126, cu130, …; default: cpu")
    parser.add_argument("--sm", default="", help="GPUs to compile for: 80,90")
    arguments = parser.parse_args()
    backends, targets = arguments.backend or ["cpu"], [sm for sm in arguments.sm.split(",") if sm]
    if any(backend != "cpu" for backend in backends) and not targets:
        parser.error("a backend of CUDA needs machine code: --sm=80,90")
    module = tilevm.load(HERE.parent / "softmax.tile")
    if targets:
        module = module.compile(targets)
    for backend in backends:
        print(write_variant(arguments.out, backend, module, targets))
    shutil.copy(HERE / "CARD.md", arguments.out / "README.md")


if __name__ == "__main__":
    main()
