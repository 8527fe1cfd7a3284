#!/usr/bin/env bash
# Installs other compilers that make PTX for Blackwell without a GPU, from PyPI: two releases of Triton, and NVIDIA's CuTe DSL, each in
# a folder of its own, because they do not share one:  install.sh DIR
# Prints DIR/blackwell, which tests of the PTX simulator take from the environment (triton-3.6.0, triton-3.9.0, cute, numpy in it):
#   export TILEVM_BLACKWELL=$(third_party/blackwell/install.sh "$HOME/frontends")
# What is there is kept. Any number may be started at once: one installs, the others wait for it.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
# FOLDER:REQUIREMENT; the releases whose programs the tests know.
packages=(numpy:numpy==2.4.6 triton-3.6.0:triton==3.6.0 triton-3.9.0:triton==3.9.0 cute:nvidia-cutlass-dsl==4.8.1)
mkdir -p "$1"
root=$(realpath -m "$1")/blackwell
is_there() { [ "$(cat "$root/installed" 2>/dev/null)" = "${packages[*]}" ]; }
if ! is_there; then
  mkdir -p "$root"
  exec {lock}>"$root/lock"
  flock "$lock"
  if ! is_there; then
    rm -rf "$root/pip" "$root/installed"
    /usr/bin/python3 -m venv "$root/pip" # Debian's Python has no pip of its own
    for package in "${packages[@]}"; do
      folder=$root/${package%%:*}
      rm -rf "$folder.new" "$folder"
      "$root/pip/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --root-user-action=ignore \
        --target "$folder.new" "${package#*:}" >&2
      mv "$folder.new" "$folder"
    done
    rm -rf "$root/pip"
    echo "${packages[*]}" >"$root/installed"
  fi
  exec {lock}>&-
fi
echo "$root"
