# How programs for AArch64 are built on x86-64; sourced by ./install and ./release from the root of the repository.
#
# `./release --arch=aarch64` was run to its end, and try.sh with its wheel, by qemu-user. No machine with such a processor has run it, and no GPU.
#
# shellcheck shell=bash disable=SC2034  # The arrays are for the scripts that source it.

# use_aarch64: what follows is for AArch64. Sets
#   cross_options       the options of Bazel
#   cross_libraries     the folder of install.sh
#   cross_link_options  the options of the compiler for links, as portable_link_options prints them
# and exports for scripts that compile, or run what was built:  CC  CPPFLAGS  EMULATOR
use_aarch64() {
  local cache=${XDG_CACHE_HOME:-$HOME/.cache} folder
  cross_libraries=$(third_party/aarch64/install.sh "$cache/tilevm-aarch64") || return
  folder=$(third_party/glibc/install.sh "$cache/tilevm-glibc-aarch64" aarch64 "$cross_libraries/lib") || return
  case $folder$cross_libraries in
    *' '*) echo "error: folders are made in XDG_CACHE_HOME, whose name must have no space: $cache" >&2 && return 1 ;;
  esac
  cross_link_options="-B$folder -fuse-ld=lld -B$cross_libraries/lib"
  cross_options=(--crosstool_top=//third_party/aarch64:toolchain --cpu=aarch64 --host_crosstool_top=@bazel_tools//tools/cpp:toolchain
    --platform_suffix=aarch64 --override_repository=llvm="$cross_libraries/llvm"
    --copt=-isystem"$cross_libraries/include/aarch64-linux-gnu" --copt=-isystem"$cross_libraries/include")
  export CC="aarch64-linux-gnu-gcc" CPPFLAGS="-isystem$cross_libraries/include"
  export EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$cross_libraries/lib"
}
