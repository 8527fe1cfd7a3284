#!/usr/bin/env bash
# Installs NVIDIA's nvcc with support for CUDA Tile C++ from PyPI into a folder:  install.sh DIR
# Compiler, headers, disassembler and assembler of tile code, disassembler of machine code, 450 MB; no GPU and no CUDA toolkit is needed. Prints the path of
# nvcc; tests and examples take it from the environment:
#   export TILEVM_NVCC=$(third_party/nvcc/install.sh "$HOME/nvcc")
# What is there is kept. Any number may be started at once: one installs, the others wait for it.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
# All of one release: the compiler reads headers of its own.
release=13.5.37
packages=()
for name in nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-tileiras nvidia-cuda-nvdisasm; do packages+=("$name==$release"); done
root=$(realpath -m "$1")
nvcc=$root/nvidia/cu13/bin/nvcc
is_there() { [ "$(cat "$root/installed" 2>/dev/null)" = "${packages[*]}" ]; }
if ! is_there; then
  mkdir -p "$root"
  exec {lock}>"$root/lock"
  flock "$lock"
  if ! is_there; then
    # Beside the old one, which nobody sees half-replaced, whatever ends this.
    rm -rf "$root/pip" "$root/new"
    /usr/bin/python3 -m venv "$root/pip" # Debian's Python has no pip of its own
    "$root/pip/bin/python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target "$root/new" "${packages[@]}" >&2
    rm -rf "$root/pip" "$root/installed" "$root/nvidia"
    mv "$root/new/nvidia" "$root/nvidia"
    rm -r "$root/new"
    echo "${packages[*]}" >"$root/installed"
  fi
  exec {lock}>&-
fi
[ -x "$nvcc" ] || { echo "install.sh: the packages hold no nvcc" >&2; exit 1; }
echo "$nvcc"
