#!/usr/bin/env bash
# Builds targets for AArch64 on x86-64, and runs the command by qemu-user:  build.sh [BAZEL OPTION]... [TARGET]...
#   third_party/aarch64/build.sh --jobs=1 //tools/tilevm //runtime:shared
# Needs Debian's g++-aarch64-linux-gnu, qemu-user and the network. Ends with the first error that the VM finds for AArch64. It is not part of
# ./test and of ./release. Of its steps these were run: install.sh, a program with its Abseil and SLEEF by the compiler and by qemu, and the
# compilation of some objects of //tools/tilevm. The whole build, its run, tilec, a wheel and older glibcs were not.
set -euo pipefail
cd "$(dirname "$0")/../.."
targets=("$@")
[ $# -gt 0 ] || targets=(//tools/tilevm)
command -v aarch64-linux-gnu-g++ >/dev/null || { echo "build.sh: apt-get install g++-aarch64-linux-gnu qemu-user" >&2; exit 1; }
libraries=$(third_party/aarch64/install.sh "${XDG_CACHE_HOME:-$HOME/.cache}/tilevm-aarch64")
bazel build --noshow_progress --crosstool_top=//third_party/aarch64:toolchain --cpu=aarch64 \
  --host_crosstool_top=@bazel_tools//tools/cpp:toolchain --platform_suffix=aarch64 --copt="-isystem$libraries/include/aarch64-linux-gnu" --copt="-isystem$libraries/include" \
  --linkopt="-L$libraries/lib" --linkopt="-Wl,-rpath-link,$libraries/lib" "${targets[@]}"
built=$(bazel info --crosstool_top=//third_party/aarch64:toolchain --cpu=aarch64 --platform_suffix=aarch64 bazel-bin)
program=$built/tools/tilevm/tilevm
[ -x "$program" ] || exit 0
echo "built: $(file -b "$program" | cut -d, -f1-2)"
said=$(qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$libraries/lib" "$program" run examples/wrong/broken.tile \
  'rand:f32[1000]' 2>&1) && { echo "build.sh: the wrong kernel ran: $said" >&2; exit 1; }
echo "$said"
grep -q 'broken\.tile:[0-9]*:[0-9]*: error\[vm\.out_of_bounds\]' <<<"$said"
