#!/usr/bin/env bash
# Installs what makes the documentation site, from PyPI into a folder:  install.sh DIR
# One release of each, because their output differs; 60 MB. Prints the path of Python there. What is there is kept. Any number may be
# started at once: one installs, the others wait for it.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
packages="mkdocs==1.6.1 mkdocs-material==9.8.2 mkdocstrings==1.0.8 mkdocstrings-python==2.0.11 griffelib==2.4.1 selenium==4.51.0"
# Of this one only its axe-core is used, not the browser library that it asks for.
alone="axe-playwright-python==0.1.8"
root=$(realpath -m "$1")
is_there() { [ "$(cat "$root/installed" 2>/dev/null)" = "$packages $alone" ]; }
if ! is_there; then
  mkdir -p "$root"
  exec {lock}>"$root/lock"
  flock "$lock"
  if ! is_there; then
    rm -rf "$root/installed" "$root/venv"
    /usr/bin/python3 -m venv "$root/venv"
    # shellcheck disable=SC2086  # A list of words.
    "$root/venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 15 $packages >&2
    "$root/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --retries 1 --timeout 15 $alone >&2
    echo "$packages $alone" >"$root/installed"
  fi
  exec {lock}>&-
fi
echo "$root/venv/bin/python"
