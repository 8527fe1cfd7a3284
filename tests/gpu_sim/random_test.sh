#!/bin/bash
# Random programs, as PTX for one GPU on the simulator and on the VM: random_test.sh SM.
set -u
export GPU_SIM_SM=$1 TILEVM_LIBCUDA=$PWD/tests/gpu_sim/driver/gpu_sim/libgpu_sim.so
cd "$TEST_TMPDIR" || exit 1  # a program that differs is written here
gpu_check=$OLDPWD/tests/gpu/gpu_check
programs=0 failed=0
# The first of the other steps and of matrix products; with few warps, so that tiles come by way of memory; and what once found a race.
while read -r seeds options; do
  read -ra words <<<"$options"
  out=$("$gpu_check" --ptx --sm="$1" "${words[@]}" --random="$seeds" 2>&1)
  echo "$out" | grep -v REFUSED
  [[ $out =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]] || failed=$((failed + 1))
  programs=$((programs + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
done <<'PROGRAMS'
0,149
1000000,1000059
1000060,1000099 --warps=1
1000100,1000119 --join
932019,932019
1962095,1962095 --warps=1
1962219,1962219 --warps=1
3000399,3000399
3013630,3013630
3016184,3016184
4000000,4000019
5000000,5000019
6000000,6000019
7000000,7000039 --warps=1
PROGRAMS
echo "$programs programs, $failed failed"
[ "$programs" -gt 200 ] && [ "$failed" -eq 0 ]
