# How programs are linked for machines with an older glibc; sourced by ./install and ./release.
#
# shellcheck shell=bash disable=SC2034  # The version is for the scripts that source it.

# The glibc of RHEL 8; Debian 11, Ubuntu 20.04 and Amazon Linux 2023 have newer ones.
portable_glibc=2.28

# portable_link_options: prints the options for g++, words without spaces.
portable_link_options() {
  local folder
  folder=$(third_party/glibc/install.sh "${XDG_CACHE_HOME:-$HOME/.cache}/tilevm-glibc") || return
  case $folder in
    *' '*) echo "error: third_party/glibc makes its folder in XDG_CACHE_HOME, whose name must have no space: $folder" >&2 && return 1 ;;
  esac
  echo "-B$folder -fuse-ld=lld"
}
