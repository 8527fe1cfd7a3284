#!/usr/bin/env bash
# Installs the frontends that tests run unmodified programs of, from PyPI: cuTile Python and PyTorch (5 GB, most of it libraries of
# CUDA, which torch loads though no GPU is there), JAX, TVM-FFI, Hugging Face's kernels, what the language server speaks its protocol by,
# and Tilus.  install.sh DIR
# Prints the folder of the packages, which python/python_test.sh takes from the environment:
#   export TILEVM_SITE=$(third_party/frontends/install.sh "$HOME/frontends")
# What is there is kept. Any number may be started at once: one installs, the others wait for it.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
# The first three as in tests/cutile/PINNED.
packages=(cuda-tile==1.7.0 torch==2.15.0 numpy==2.4.6 jax==0.10.2 flatbuffers==25.12.19 pygls==2.1.1 apache-tvm-ffi==0.1.15.post2
  kernels==0.17.2 tilus==0.2.0)
root=$(realpath -m "$1")
venv=$root/venv
is_there() { [ "$(cat "$root/installed" 2>/dev/null)" = "${packages[*]}" ]; }
if ! is_there; then
  mkdir -p "$root"
  exec {lock}>"$root/lock"
  flock "$lock"
  # Where packages were added to the list, they are added to the folder: what uses it meanwhile keeps its packages.
  if ! is_there && [ -s "$root/installed" ] && [[ "${packages[*]}" == "$(cat "$root/installed") "* ]]; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "${packages[@]}" >&2
    echo "${packages[*]}" >"$root/installed"
  fi
  if ! is_there; then
    # Beside the old one, which nobody sees half-replaced, whatever ends this.
    rm -rf "$venv.new"
    /usr/bin/python3 -m venv "$venv.new"
    "$venv.new/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "${packages[@]}" >&2
    grep -rlIF "$venv.new" "$venv.new/bin" "$venv.new/pyvenv.cfg" | xargs -r sed -i "s|$venv.new|$venv|g" # scripts begin with their path
    rm -rf "$root/installed" "$venv"
    mv "$venv.new" "$venv"
    echo "${packages[*]}" >"$root/installed"
  fi
  exec {lock}>&-
fi
"$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
