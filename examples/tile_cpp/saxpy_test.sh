#!/usr/bin/env bash
# The program runs from an empty folder, with nothing beside it, and says what it lacks for a GPU.
set -euo pipefail
case $1 in
  --skip=*)
    echo "SKIPPED: CUDA Tile C++: ${1#--skip=}"
    exit 0
    ;;
esac
program=$PWD/$1
mkdir -p "$TEST_TMPDIR/empty"
cd "$TEST_TMPDIR/empty"
export TILEVM_LIBCUDA=libno_such_driver.so.1
for device in auto cpu; do
  said=$("$program" "$device")
  if [ "$said" != "cpu (VM on this CPU): 1000000 elements, all right" ]; then
    echo "FAILED: $program $device said: $said"
    exit 1
  fi
done
if said=$("$program" cuda 2>&1) || [[ $said != *"there is no CUDA driver here"* ]]; then
  echo "FAILED: $program cuda said: $said"
  exit 1
fi
