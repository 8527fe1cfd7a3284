#!/usr/bin/env bash
# Runs libraries of a wheel for Windows in Wine:  try_windows.sh WHEEL
# The program of examples/app is compiled by zig against the wheel's header and import library, and launches a kernel on the VM. A kernel that reads
# outside of its array ends with the error of the VM. Python for Windows is not here, so the package is not imported.
# Needs Debian's wine and wine64, a built ./tilevm (TILEVM names another), and zig (install.sh). Prints a line for each trial.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: try_windows.sh WHEEL" >&2; exit 2; }
wheel=$(realpath "$1")
cd "$(dirname "$0")/../.."
tilevm=$(realpath "${TILEVM:-./tilevm}")
zig=$(third_party/zig/install.sh "${XDG_CACHE_HOME:-$HOME/.cache}/tilevm-zig")/zig
work=$(mktemp -d)
trap 'WINEPREFIX=$work/wine wineserver -k || true; rm -rf "$work"' EXIT
export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
wine wineboot --init >/dev/null 2>&1

/usr/bin/python3 -m zipfile -e "$wheel" "$work/site"
mkdir "$work/run"
cp "$work"/site/tilevm/*.dll "$work/run"
# ELF's note about stacks is for Linux.
sed '/note.GNU-stack/d' examples/app/embed.S >"$work/embed.S"
compile() { # OUT KERNEL.tile
  # A name of its own: zig keeps objects by the text of embed.S, not by the file that it includes.
  local kernel=$1.tbc
  "$tilevm" as -g "$2" -o "$kernel"
  "$zig" cc -target x86_64-windows-gnu -std=c11 -O2 -Wall -I"$work/site/tilevm/_native/include" -DKERNEL_TBC="\"$kernel\"" \
    examples/app/app.c "$work/embed.S" "$work/site/tilevm/_native/lib/tilevm.lib" -o "$1"
}

tried() { # NAME PATTERN PROGRAM
  local said
  said=$(cd "$work/run" && wine "$3" 2>&1 | tr -d '\r') || true
  grep -qE "$2" <<<"$said" || { printf 'try_windows.sh: %s: FAILED: %s\n' "$1" "$said"; exit 1; }
  echo "$1: $(grep -m1 -E "$2" <<<"$said")"
}

compile "$work/run/app.exe" examples/vector_add.tile
tried run '^cpu \(VM on this CPU\): 1000000 sums, all right$' app.exe
for isa in v2 v3 v4; do
  export TILEVM_ISA=$isa
  tried "instructions of $isa" 'sums, all right$' app.exe
done
unset TILEVM_ISA
# It reads the element after the last one.
cat >"$work/run/wrong.tile" <<'END'
entry @vector_add(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i64>) interface {
  in a: f32[%n] at %a
  in b: f32[%n] at %b
  out c: f32[%n] at %c
  grid 1
} {
  %at = offset %a, %n
  %x, %t = load_ptr_tko weak %at
  store_ptr_tko weak %c, %x
  return
}
END
compile "$work/run/wrong.exe" "$work/run/wrong.tile"
tried error 'at index 1000000 of .a. ' wrong.exe
