#!/usr/bin/env bash
# Makes the wheel of the Python package for another system than Linux:  wheel.sh PLATFORM DIR
# PLATFORM is macos-arm64 or windows-x86_64. The wheel has the VM, and no compiler for GPUs. Prints its path; ./release calls this.
# Objects stay in the user's cache, so that a second run compiles what has changed.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: wheel.sh PLATFORM DIR" >&2; exit 2; }
platform=$1
out=$(realpath -m "$2")
cd "$(dirname "$0")/../.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}
case $platform in
  macos-arm64) target=aarch64-macos.11.0 python=macos ;;
  windows-x86_64) target=x86_64-windows-gnu python=windows ;;
  *) echo "wheel.sh: only macos-arm64 and windows-x86_64 are known, not $platform" >&2 && exit 2 ;;
esac
case $cache in
  *' '*) echo "wheel.sh: folders are made in XDG_CACHE_HOME, whose name must have no space: $cache" >&2 && exit 1 ;;
esac
tools=$(third_party/zig/install.sh "$cache/tilevm-zig")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
mkdir -p "$prefix"/{include,share/tilevm} "$work/info/sboms"
third_party/zig/build.py --platform="$platform" --tools="$tools" --work="$cache/tilevm-zig-objects" --out="$prefix" >&2
install -m 644 runtime/tilevm.h runtime/tilevm.hpp runtime/tilevm_tvm_ffi.h runtime/forms/tilevm_forms.h "$prefix/include"
bazel build -c opt --noshow_progress //tools/tilevm >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
"$(bazel info -c opt bazel-bin 2>/dev/null)/tools/tilevm/tilevm" ops --json >"$prefix/share/tilevm/operations.json"
python3 third_party/zig/sbom.py --tools="$tools" --platform="$platform" --out="$work/info/sboms/tilevm.cdx.json" --licenses="$work/info/licenses"
CC="$tools/zig cc -target $target" LDFLAGS="-L$tools/python/$python" /usr/bin/python3 python/build_wheel.py --platform="$platform" \
  --python-include="$tools/python/$python" --prefix="$prefix" --out="$work/out" --info="$work/info" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
wheel=$(echo "$work"/out/*.whl)
python3 tests/install/cross_wheel.py "$wheel" >&2
mkdir -p "$out"
cp "$wheel" "$out"
cp "$work/info/sboms/tilevm.cdx.json" "$out/$(basename "${wheel%%-cp39*}")-$platform.cdx.json"
echo "$out/$(basename "$wheel")"
