#!/usr/bin/env bash
# Installs NVIDIA's nvcc with support for CUDA Tile C++ from PyPI into a folder:  install.sh DIR
# Compiler, headers, disassembler and assembler of tile code, 430 MB; no GPU and no CUDA toolkit is needed. Prints the path of
# nvcc; tests and examples take it from the environment:
#   export TILEVM_NVCC=$(third_party/nvcc/install.sh "$HOME/nvcc")
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
# All of one release: the compiler reads headers of its own.
release=13.5.37
packages=()
for name in nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-tileiras; do packages+=("$name==$release"); done
python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --upgrade --target "$1" "${packages[@]}" >&2
nvcc=$(realpath "$1")/nvidia/cu13/bin/nvcc
[ -x "$nvcc" ] || { echo "install.sh: the packages hold no nvcc" >&2; exit 1; }
echo "$nvcc"
