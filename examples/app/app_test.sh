#!/usr/bin/env bash
# Both programs run from an empty folder, with nothing beside them.
set -euo pipefail
c=$PWD/$1
cpp=$PWD/$2
mkdir -p "$TEST_TMPDIR/empty"
cd "$TEST_TMPDIR/empty"
export TILEVM_LIBCUDA=libno_such_driver.so.1
for program in "$c" "$cpp"; do
  said=$("$program")
  if [ "$said" != "cpu (VM on this CPU): 1000000 sums, all right" ]; then
    echo "FAILED: $program said: $said"
    exit 1
  fi
done
