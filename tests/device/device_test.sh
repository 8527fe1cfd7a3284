#!/usr/bin/env bash
# tilevm run, bench and replay with --device.
#
# shellcheck disable=SC2016  # Messages put names in backquotes.
set -uo pipefail
tilevm=tools/tilevm/tilevm
tile=examples/vector_add.tile
work=$TEST_TMPDIR
failed=0

# expect STATUS PATTERN COMMAND…: exit status and what is printed.
expect() {
  local status=$1 pattern=$2
  shift 2
  local said
  said=$("$@" 2>&1)
  local got=$?
  if [ $got -ne "$status" ] || ! grep -qF -- "$pattern" <<<"$said"; then
    echo "FAILED: $*"
    echo "  status $got (expected $status), expected: $pattern"
    echo "  said: $said"
    failed=1
  fi
}

tests/device/embed_image $tile "$work/k.tbc" sm_90a || failed=1
tests/device/embed_image $tile "$work/old.tbc" sm_75 || failed=1
mkdir -p "$work/images"
cp "$work/k.tbc" "$work/images/vector_add.tbc"
inputs=('arange:f32[100]' 'arange:f32[100]')
sum='min 0, max 198, mean 99'

# Without a driver.
export TILEVM_LIBCUDA=libno_such_driver.so.1
expect 5 'error[cuda.no_library]: there is no CUDA driver here' $tilevm run --device=cuda "$work/k.tbc" "${inputs[@]}"
expect 0 'note: running on the VM: there is no CUDA driver here' $tilevm run --device=auto "$work/k.tbc" "${inputs[@]}"
expect 0 "$sum" $tilevm run --device=auto "$work/k.tbc" "${inputs[@]}"
expect 0 "$sum" $tilevm run "$work/k.tbc" "${inputs[@]}"

# With one.
export TILEVM_LIBCUDA=$PWD/runtime/cuda/libfake_cuda.so
expect 0 "$sum" $tilevm run --device=cuda "$work/k.tbc" "${inputs[@]}"
expect 0 "$sum" $tilevm run --device=cuda:0 "$work/k.tbc" "${inputs[@]}"
expect 0 '1 blocks in 0.250 ms' $tilevm run --device=cuda --time "$work/k.tbc" "${inputs[@]}"
expect 0 '"result":"ok"' $tilevm run --device=cuda --json "$work/k.tbc" "${inputs[@]}"
expect 5 'error[cuda.no_such_device]: there is no GPU 1' $tilevm run --device=cuda:1 "$work/k.tbc" "${inputs[@]}"
expect 0 'median 0.25 ms' $tilevm bench --seconds 0.01 --device=cuda "$work/k.tbc" "${inputs[@]}"
expect 2 'expected cpu, cuda, cuda:N or auto' $tilevm run --device=gpu "$work/k.tbc"
expect 2 '--check is done by the VM' $tilevm run --device=cuda --check=full "$work/k.tbc"

# Machine code that is not there, does not fit, or lies elsewhere.
expect 5 'error[run.no_image]: the file has no machine code' $tilevm run --device=cuda $tile "${inputs[@]}"
expect 5 'sm_75 `vector_add` does not run on this GPU' $tilevm run --device=cuda "$work/old.tbc" "${inputs[@]}"
expect 0 'note: running on the VM: no machine code of kernel `vector_add` fits this GPU' $tilevm run --device=auto "$work/old.tbc" "${inputs[@]}"
expect 0 "$sum" $tilevm run --device=cuda --images "$work/k.tbc" $tile "${inputs[@]}"
expect 0 "$sum" $tilevm run --device=cuda --images "$work/images" $tile "${inputs[@]}"
expect 1 'none.tbc' $tilevm run --device=cuda --images "$work/none.tbc" $tile "${inputs[@]}"

# Machine code that is made here, by a compiler that answers with a file.
export TILEVM_LIBTILEC=$PWD/runtime/jit/libfake_tilec.so TILEVM_CACHE=$work/cache FAKE_TILEC_OUTPUT=$work/k.tbc
expect 0 "$sum" $tilevm run --device=cuda --compile $tile "${inputs[@]}"
FAKE_TILEC_FAIL='70 never asked' expect 0 "$sum" $tilevm run --device=cuda --compile $tile "${inputs[@]}"
FAKE_TILEC_FAIL='70 never asked' expect 0 "$sum" $tilevm run --compile $tile "${inputs[@]}"
expect 0 'c: all 100 elements agree' $tilevm diff --device=cuda --compile $tile "${inputs[@]}"
TILEVM_CACHE=$work/k.tbc/below expect 0 'note: compiled code is not kept:' \
  $tilevm run --device=cuda --compile $tile "${inputs[@]}"
rm -r "$work/cache"
FAKE_TILEC_FAIL='1 k.tile:3:4: error[codegen.unsupported]: no' expect 1 'k.tile:3:4: error[codegen.unsupported]: no' \
  $tilevm run --device=cuda --compile $tile "${inputs[@]}"
FAKE_TILEC_FAIL='70 error[codegen.internal]: no' expect 70 'error[codegen.internal]: no' \
  $tilevm run --device=cuda --compile $tile "${inputs[@]}"
TILEVM_LIBTILEC=libno_such.so expect 5 'error[jit.no_compiler]: there is no compiler here (libno_such.so)' \
  $tilevm run --device=cuda --compile $tile "${inputs[@]}"

# A kernel that the hardware stops.
FAKE_CUDA_FAULT=700 expect 4 'error[cuda.illegal_address]: a kernel failed on the GPU (`vector_add`)' \
  $tilevm run --device=cuda "$work/k.tbc" "${inputs[@]}"
FAKE_CUDA_FAULT=700 expect 4 '"result":"trapped","reports":[{"severity":"error","code":"cuda.illegal_address"' \
  $tilevm run --json --device=cuda "$work/k.tbc" "${inputs[@]}"

# Two engines.
expect 0 'c: all 100 elements agree' $tilevm diff --device=cuda "$work/k.tbc" "${inputs[@]}"
sed 's/addf %x, %y/subf %x, %y/' $tile > "$work/sub.tile"
expect 3 'c: 99 of 100 elements differ, first at [1]: 2, expected 0' \
  $tilevm diff --device=cuda "$work/sub.tile" "${inputs[@]}" --with "$work/k.tbc"
expect 3 'note: the first operation that differs is not known: error[run.no_image]' \
  $tilevm diff --device=cuda "$work/sub.tile" "${inputs[@]}" --with "$work/k.tbc"
expect 5 'error[run.no_image]' $tilevm diff --device=cuda $tile "${inputs[@]}"
FAKE_CUDA_FAULT=700 expect 4 'note: that was' $tilevm diff --device=cuda "$work/k.tbc" "${inputs[@]}"

# A launch that was recorded on the VM, on the GPU.
expect 0 '' $tilevm run --record "$work/launch" "$work/k.tbc" "${inputs[@]}"
cp "$work/k.tbc" "$work/launch.tbc"
expect 0 'launch: equal' $tilevm replay --device=cuda "$work/launch.json"
expect 0 'launch: equal' $tilevm replay "$work/launch.json"
exit $failed
