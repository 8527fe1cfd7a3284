#!/usr/bin/env bash
# Compiles programs for Blackwell with another compiler and runs them on the PTX simulator:  foreign_test.sh COMPILER [--faults]
# COMPILER is a folder of TILEVM_BLACKWELL (third_party/blackwell/install.sh): triton-3.6.0, triton-3.9.0, cute. With --faults the programs are
# broken, and each fault has to be found.
set -euo pipefail
compiler=$1
if [ -z "${TILEVM_BLACKWELL:-}" ] || [ ! -d "$TILEVM_BLACKWELL/$compiler" ]; then
  echo "SKIPPED: $compiler: TILEVM_BLACKWELL names no folder with it (third_party/blackwell/install.sh)"
  exit 0
fi
root=$PWD
here=$root/tests/gpu_sim/foreign
folder=$TEST_TMPDIR/$compiler
mkdir -p "$folder"
export HOME=$TEST_TMPDIR TRITON_CACHE_DIR=$TEST_TMPDIR/cache
packages=$TILEVM_BLACKWELL/$compiler
case $compiler in
  cute) script=compile_cute.py packages=$packages:$packages/nvidia_cutlass_dsl/dsl_packages ;;
  *) script=compile_triton.py ;;
esac
names=()
[ "${2:-}" = --faults ] && mapfile -t names < <(PYTHONPATH=$here:$TILEVM_BLACKWELL/numpy python3 "$here/faults.py" --programs)
PYTHONPATH=$here:$packages:$TILEVM_BLACKWELL/numpy python3 "$here/$script" "$folder" "${names[@]}"
test=foreign_test.py
[ "${2:-}" = --faults ] && test=faults.py
PYTHONPATH=$here:$TILEVM_BLACKWELL/numpy python3 "$here/$test" --library="$root/tests/gpu_sim/driver/gpu_sim/libgpu_sim.so" --folder="$folder" \
  ${XML_OUTPUT_FILE:+--xml="$XML_OUTPUT_FILE"}
