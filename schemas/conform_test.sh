#!/usr/bin/env bash
# The schema is compatible with every released one, and the checks that say so notice damage.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
failed=0

compatible() {  # RELEASED CURRENT
  flatc --conform "$1" "$2" && python3 conform.py "$1" "$2"
}

for released in released/*.fbs; do
  if compatible "$released" tbc.fbs; then
    echo "ok: tbc.fbs extends $released"
  else
    echo "FAILED: tbc.fbs can't read files of $released"
    failed=1
  fi
done

# Each line damages a copy; one of the checks must say so.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
while IFS= read -r damage; do
  sed "$damage" tbc.fbs > "$copy/damaged.fbs"
  if cmp -s tbc.fbs "$copy/damaged.fbs"; then
    echo "FAILED: nothing matches $damage"
    failed=1
  elif compatible tbc.fbs "$copy/damaged.fbs" > "$copy/log" 2>&1; then
    echo "FAILED: not noticed: $damage"
    failed=1
  else
    echo "ok: noticed: $damage"
  fi
done << 'END'
s/struct Group { name:ushort; count:ushort; }/struct Group { name:ushort; count:ushort; more:uint; }/
s/name:ushort; kind:AttrKind; reserved:ubyte; count:uint;/name:ushort; kind:AttrKind; count:uint;/
s/^  producer:string;//
s/^  divisor:ulong = 1;/  divisor:ulong = 2;/
s/^  registers:uint; /  regs:uint; /
s/enum ImageKind : ubyte { Cubin, Ptx }/enum ImageKind : ubyte { Cubin }/
s/Cubin, Ptx/Ptx, Cubin/
s/file_identifier "TBC0"/file_identifier "TBC1"/
s/^  num_operands:ushort;/  num_operands:uint;/
END

# What may be added.
sed 's/^  images:\[Image\];/  images:[Image];\n  added:uint;/' tbc.fbs > "$copy/extended.fbs"
if compatible tbc.fbs "$copy/extended.fbs"; then
  echo "ok: a field at the end of a table is allowed"
else
  echo "FAILED: a field at the end of a table must be allowed"
  failed=1
fi
exit $failed
