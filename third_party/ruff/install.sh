#!/usr/bin/env bash
# Installs what tests/repo/linters.py checks Python with from PyPI into a folder:  install.sh DIR
# ruff finds mistakes, vermin what the oldest Python lacks. One release of each, because each has rules of its own; 13 MB.
# Prints the path of ruff, which vermin lies beside:
#   export TILEVM_RUFF=$(third_party/ruff/install.sh "$HOME/ruff")
# What is there is kept. Any number may be started at once: one installs, the others wait for it.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
packages=(ruff==0.17.6 vermin==1.9.2)
root=$(realpath -m "$1")
is_there() { [ "$(cat "$root/installed" 2>/dev/null)" = "${packages[*]}" ]; }
if ! is_there; then
  mkdir -p "$root"
  exec {lock}>"$root/lock"
  flock "$lock"
  if ! is_there; then
    rm -rf "$root/installed" "$root/venv"
    /usr/bin/python3 -m venv "$root/venv"
    "$root/venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 15 "${packages[@]}" >&2
    echo "${packages[*]}" >"$root/installed"
  fi
  exec {lock}>&-
fi
echo "$root/venv/bin/ruff"
