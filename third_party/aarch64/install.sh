#!/usr/bin/env bash
# Unpacks the libraries of Debian that tilevm is built from, for AArch64, into a folder:  install.sh DIR
# The machine's own packages and its list of architectures stay as they are. Prints the folder, which has include/ and lib/. What is there
# is kept. The compiler is Debian's g++-aarch64-linux-gnu.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
packages=(libabsl-dev libabsl20220623 libflatbuffers-dev libsleef-dev libsleef3 libpng-dev zlib1g-dev libzstd-dev)
root=$(realpath -m "$1")
if [ "$(cat "$root/installed" 2>/dev/null)" != "${packages[*]}" ]; then
  apt=$root/apt
  rm -rf "$apt" "${root:?}"/{usr,installed}
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,packages}
  : >"$apt/status"
  options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State=$apt/state" -o "Dir::State::status=$apt/status"
    -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  apt-get -qq "${options[@]}" update >&2
  (cd "$apt/packages" && apt-get -qq "${options[@]}" download "${packages[@]}") >&2
  for package in "$apt"/packages/*.deb; do dpkg-deb -x "$package" "$root"; done
  ln -sfn usr/include "$root/include"
  ln -sfn usr/lib/aarch64-linux-gnu "$root/lib"
  rm -rf "$apt"
  echo "${packages[*]}" >"$root/installed"
fi
echo "$root"
