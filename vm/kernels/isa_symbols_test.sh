#!/bin/sh
# No symbol of a kernel archive may be visible outside of its instruction set's namespace: the linker would keep one
# copy for all, maybe one that the CPU can't run. See isa.h.
failed=0
count=0
for archive in "$@"; do
  case "$archive" in
    *.pic.a) continue ;;
    *.a) ;;
    *) continue ;;
  esac
  isa=$(expr "$archive" : '.*_\([a-z0-9]*\)\.a$')
  # Capital letters, u, v and w are symbols that other objects see.
  if ! symbols=$(nm --defined-only -C "$archive"); then
    echo "nm cannot read $archive"
    exit 1
  fi
  # __odr_asan is the address sanitizer's.
  symbols=$(printf '%s\n' "$symbols" | grep -E '^[0-9a-f]+ [A-Zuvw] ' | grep -v ' __odr_asan\.')
  count=$((count + $(printf '%s\n' "$symbols" | grep -c "tile::vm::$isa::")))
  if escaped=$(printf '%s\n' "$symbols" | grep -v "tile::vm::$isa::"); then
    echo "$archive defines outside of tile::vm::$isa:"
    echo "$escaped"
    failed=1
  fi
done
if [ "$count" -eq 0 ]; then
  echo "no symbols found; archives: $*"
  failed=1
fi
exit $failed
