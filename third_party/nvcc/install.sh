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
nvcc=$(realpath -m "$1")/nvidia/cu13/bin/nvcc
if [ "$(cat "$1/installed" 2>/dev/null)" != "${packages[*]}" ]; then
  mkdir -p "$1"
  rm -f "$1/installed"
  /usr/bin/python3 -m venv "$1/pip" # Debian's Python has no pip of its own
  "$1/pip/bin/python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --upgrade --target "$1" "${packages[@]}" >&2
  rm -r "$1/pip"
  echo "${packages[*]}" >"$1/installed"
fi
[ -x "$nvcc" ] || { echo "install.sh: the packages hold no nvcc" >&2; exit 1; }
echo "$nvcc"
