#!/usr/bin/env bash
# Unpacks the libraries of Debian that tilevm is built from, for AArch64, into a folder:  install.sh DIR
# The machine's own packages and its list of architectures stay as they are. Prints the folder, which holds:
#   include lib     headers and libraries, LLVM's and CPython's among them
#   llvm            the repository @llvm of Bazel, for --override_repository
#   admin           which package has which file, for `dpkg --admindir`
# A finished folder is kept. The compiler is Debian's g++-aarch64-linux-gnu.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
packages=(libabsl-dev libflatbuffers-dev libsleef-dev libsleef3 libpng-dev zlib1g-dev libzstd-dev llvm-22-dev libpython3.11-dev)
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=third_party/aarch64/archive.sh
. "$here/archive.sh"
root=$(realpath -m "$1")
stamp="${packages[*]} $(cat "$here/install.sh" "$here/../llvm/llvm.BUILD" | sha256sum)"

unpack() { # PACKAGE.deb
  local list
  list=$root/admin/info/$(dpkg-deb -f "$1" Package)
  [ "$(dpkg-deb -f "$1" Multi-Arch)" != same ] || list+=:arm64
  dpkg-deb -x "$1" "$root"
  { dpkg-deb -f "$1" | sed '/^Package:/a Status: install ok installed'; echo; } >>"$root/admin/status"
  # As dpkg has it: "/." for the root, no slash after folders.
  dpkg-deb --fsys-tarfile "$1" | tar t | sed -e 's!^\./$!/.!' -e 's!^\./!/!' -e 's!/$!!' >"$list.list"
}

if [ "$(cat "$root/installed" 2>/dev/null)" != "$stamp" ]; then
  mkdir -p "$root"
  rm -rf "${root:?}"/{usr,lib,include,llvm,admin,apt,installed}
  mkdir -p "$root/admin/info" "$root/admin/updates" "$root/llvm"
  printf 'amd64\narm64\n' >"$root/admin/arch"
  echo 1 >"$root/admin/info/format"
  mkdir -p "$root/apt/packages"
  arm64_apt "$root/apt" update
  (cd "$root/apt/packages" && arm64_apt "$root/apt" download "${packages[@]}")
  for package in "$root"/apt/packages/*.deb; do unpack "$package"; done
  ln -s usr/include "$root/include"
  ln -s usr/lib/aarch64-linux-gnu "$root/lib"
  echo 'workspace(name = "llvm")' >"$root/llvm/WORKSPACE"
  sed "s,/usr/lib/llvm-22,$root&,g" "$here/../llvm/llvm.BUILD" >"$root/llvm/BUILD.bazel"
  ln -s ../usr/lib/llvm-22/include "$root/llvm/include"
  rm -rf "$root/apt"
  echo "$stamp" >"$root/installed"
fi
echo "$root"
