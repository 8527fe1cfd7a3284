#!/usr/bin/env bash
# Unpacks Debian's CPython and NumPy for AArch64, with all libraries that they need, into a folder:  python.sh DIR
# Prints the words that run this Python by qemu-user. A finished folder is kept.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: python.sh DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=third_party/aarch64/archive.sh
. "$here/archive.sh"
root=$(realpath -m "$1")
if [ ! -e "$root/installed" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  arm64_apt "$root/apt" update
  arm64_apt "$root/apt" --yes --no-install-recommends --download-only install python3 python3-numpy
  for package in "$root"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  rm -rf "$root/apt"
  touch "$root/installed"
fi
libraries=$root/usr/lib/aarch64-linux-gnu
echo "qemu-aarch64 -L $root -E LD_LIBRARY_PATH=$libraries/blas:$libraries/lapack $root/usr/bin/python3"
