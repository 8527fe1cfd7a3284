#!/usr/bin/env bash
# Runs what was built for AArch64 by qemu-user:  try.sh PREFIX [WHEEL]
# PREFIX is what ./install --arch=aarch64 made, with or without tilec. Tries the commands, and with a WHEEL the package in Debian's CPython for
# AArch64. Prints a line for each trial. Emulation is slow and knows no GPU: times say nothing.
set -euo pipefail
[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: try.sh PREFIX [WHEEL]" >&2; exit 2; }
prefix=$(realpath "$1")
wheel=${2:+$(realpath "$2")}
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
emulator=(qemu-aarch64 -L /usr/aarch64-linux-gnu)

# tried NAME PATTERN COMMAND...: a line of its output matches. Errors are wanted of some, so the exit status is not asked.
tried() {
  local name=$1 pattern=$2 said
  shift 2
  said=$("$@" 2>&1) || true
  grep -qE "$pattern" <<<"$said" || { printf 'try.sh: %s: FAILED: %s\n%s\n' "$name" "$*" "$said"; exit 1; }
  echo "$name: $(grep -m1 -E "$pattern" <<<"$said")"
}

tried run '^c: f32\[8\]  0\.5 1\.5 2\.5 3\.5' "${emulator[@]}" "$prefix/bin/tilevm" run examples/vector_add.tile 'arange:f32[8]' 'full:f32[8]=0.5'
tried error 'broken\.tile:[0-9]+:[0-9]+: error\[vm\.out_of_bounds\]' "${emulator[@]}" "$prefix/bin/tilevm" run examples/wrong/broken.tile 'rand:f32[1000]'
tried products '^min 64, max 64' "${emulator[@]}" "$prefix/bin/tilevm" run examples/matmul.tile 'ones:f32[32,64]' 'ones:f32[64,32]'
if [ -x "$prefix/bin/tilec" ]; then
  tried tilec '^\.target sm_90' "${emulator[@]}" "$prefix/bin/tilec" examples/matmul.tile --sm=90 --emit=ptx -o /dev/stdout
else
  echo "tilec: not built"
fi
[ -n "$wheel" ] || exit 0

read -ra python <<<"$(third_party/aarch64/python.sh "${XDG_CACHE_HOME:-$HOME/.cache}/tilevm-aarch64-python")"
/usr/bin/python3 -m zipfile -e "$wheel" "$work/site"
export PYTHONPATH=$work/site
tried module '^aarch64 ' "${python[@]}" -c 'import platform, tilevm; print(platform.machine(), tilevm.__version__)'
# Sums of shares, which differ from 1 by rounding.
tried script '^\[ *((1\.0*|0\.99999[0-9]*) *){3}\]' "${python[@]}" examples/script/softmax.py
