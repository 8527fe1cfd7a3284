#!/usr/bin/env bash
# Installs the frontends that tests run unmodified programs of, from PyPI: cuTile Python and PyTorch (5 GB, most of it libraries of
# CUDA, which torch loads though no GPU is there).  install.sh DIR
# Prints the folder of the packages, which python/python_test.sh takes from the environment:
#   export TILEVM_SITE=$(third_party/frontends/install.sh "$HOME/frontends")
# What is there is kept.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
# As in tests/cutile/PINNED.
packages=(cuda-tile==1.7.0 torch==2.15.0 numpy==2.4.6)
if [ "$(cat "$1/installed" 2>/dev/null)" != "${packages[*]}" ]; then
  rm -rf "$1/venv" "$1/installed"
  /usr/bin/python3 -m venv "$1/venv"
  "$1/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "${packages[@]}" >&2
  echo "${packages[*]}" >"$1/installed"
fi
"$1/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
