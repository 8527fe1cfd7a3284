# Packages of Debian for AArch64, without a change to this machine's packages or architectures; sourced by install.sh and python.sh.
#
# shellcheck shell=bash

# arm64_apt DIR ARGUMENT...: apt-get for AArch64. It keeps its state in DIR, and asks Debian's archives alone: others of this machine may not know
# the architecture. Downloaded packages are in the current folder (download) or in DIR/cache/archives (install --download-only).
arm64_apt() {
  local apt=$1
  shift
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,sources}
  touch "$apt/status"
  if [ -f /etc/apt/sources.list.d/debian.sources ]; then
    cp /etc/apt/sources.list.d/debian.sources "$apt/sources"
  else
    cp /etc/apt/sources.list "$apt/sources/debian.list"
  fi
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::status=$apt/status" -o "Dir::State::lists=$apt/lists" \
    -o "Dir::Cache=$apt/cache" -o Dir::Etc::sourcelist=- -o "Dir::Etc::sourceparts=$apt/sources" -o APT::Sandbox::User=root \
    -o Debug::NoLocking=1 "$@" >&2
}
