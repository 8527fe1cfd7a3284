#!/bin/bash
# Test files of operations and of codegen's mistakes, as PTX for one GPU on the simulator: files_test.sh SM [OPTIONS OF gpu_check…].
set -u
export GPU_SIM_SM=$1 TILEVM_LIBCUDA=$PWD/tests/gpu_sim/driver/gpu_sim/libgpu_sim.so
# Files with a call that breaks a promise (inbounds): what is read or written behind an allocation is an error here. And Bessel functions of
# any order, of which CUDA's device library is further from the result than their files allow.
left_out=" atomic_red_view_tko load_view_tko store_view_tko  jn yn "
ran=0 failed=0
for file in tests/ops/*.tile tests/codegen/regressions/*.tile; do
  name=$(basename "$file" .tile)
  case "$left_out" in *" $name "*) continue ;; esac
  ran=$((ran + 1))
  if ! out=$(tests/gpu/gpu_check --ptx --sm="$1" "${@:2}" "$file" 2>&1); then
    failed=$((failed + 1))
    echo "$out"
  fi
done
echo "$ran files, $failed failed"
[ "$ran" -gt 100 ] && [ "$failed" -eq 0 ]
