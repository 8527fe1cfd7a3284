#!/bin/bash
# Random programs, as PTX for some GPUs on the simulator and on the VM, with all cores:
#   random.sh FIRST LAST [--sm=80,90] [--jobs=N] [--out=FOLDER] [OPTIONS OF gpu_check…]
# Seeds from 1000000 on are single products, from 3000000, 4000000, 5000000 and 6000000 on loops of several products, from 7000000 on loops that
# carry large tiles (with --warps=1 they are done in slices), from 8000000 on products with block scales, from 9000000 on anything
# with repeated addresses, from 12000000 on with rows that were widened, from 13000000 on with large tiles
# that are divided by maxima of their rows or columns (with --warps=1 they exceed the registers), from 14000000 on loops of products whose factors
# are widened, from 15000000 on recurrences, from 16000000 on loops whose products
# share what stays, others anything (tests/fuzz/random_program.h).
# Prints a line for each program that fails, the seeds of all that do, and `N programs, N failed, N refused`; a program counts once for each
# GPU. Programs that fail are written to FOLDER (the current one if none is given). Exit code 1 if one failed.
# Runs what bazel built or, in a bundle (bundle.sh), what lies beside it.
set -u
usage() {
  sed -n '2,12s/^# //p' "$0" >&2
  exit 2
}
[[ $# -ge 2 && $1 =~ ^[0-9]+$ && $2 =~ ^[0-9]+$ ]] || usage
first=$1 last=$2
shift 2
targets=80,90 jobs=$(nproc) out=${TEST_TMPDIR:-$PWD} options=()
for argument in "$@"; do
  case "$argument" in
    --sm=*) targets=${argument#*=} ;;
    --jobs=*) jobs=${argument#*=} ;;
    --out=*) out=${argument#*=} ;;
    --*) options+=("$argument") ;;
    *) usage ;;
  esac
done
here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$here/gpu_check" ]; then
  export GPU_CHECK=$here/gpu_check TILEVM_LIBCUDA=$here/libgpu_sim.so LD_LIBRARY_PATH=$here/lib
else
  bin=$here/../../bazel-bin/tests
  [ -z "${TEST_TMPDIR:-}" ] || bin=$PWD/tests
  export GPU_CHECK=$bin/gpu/gpu_check TILEVM_LIBCUDA=$bin/gpu_sim/driver/gpu_sim/libgpu_sim.so
fi
[ -x "$GPU_CHECK" ] || { echo "random.sh: no $GPU_CHECK: bazel build //tests/gpu:gpu_check //tests/gpu_sim/driver:gpu_sim" >&2 && exit 2; }
mkdir -p "$out" && cd "$out" || exit 2

# A few seeds each in a process: SM FIRST LAST OPTIONS…. One that ends otherwise than with an answer is asked for each seed alone.
check() {
  local sm=$1 from=$2 to=$3 text code
  text=$(GPU_SIM_SM=$sm timeout $((60 * (to - from + 1))) "$GPU_CHECK" --ptx --sm="$sm" "${@:4}" --random="$from,$to" 2>&1)
  code=$?
  if [ $code -eq 0 ] || [ $code -eq 3 ]; then
    awk -v sm="sm_$sm: " '{ print sm $0 }' <<<"$text"
  elif [ "$from" -lt "$to" ]; then
    for ((seed = from; seed <= to; ++seed)); do check "$sm" "$seed" "$seed" "${@:4}"; done
  else
    echo "sm_$sm: FAIL random $from: exit code $code: $(echo "$text" | grep -v '^ *$' | tail -3 | tr '\n' ' ' | cut -c1-400)"
    echo "sm_$sm: DONE random $from,$from: 0 passed, 1 failed, 0 skipped, 0 refused"
  fi
}
export -f check
for ((from = first; from <= last; from += 10)); do
  to=$((from + 9 < last ? from + 9 : last))
  for sm in ${targets//,/ }; do echo "$sm $from $to ${options[*]-}"; done
done | xargs -P "$jobs" -I{} bash -c 'check {}' | awk '
  / FAIL /         { print; seeds[$1] = seeds[$1] " " $4 + 0; next }
  / DONE /         { passed += $5; failed += $7; refused += $11; next }
  / REFUSED /      { said = $1; next }
  said == $1 && /  step / { said = ""; next }
                   { print }
  END {
    for (sm in seeds) print sm " failed:" seeds[sm]
    print passed + failed + refused " programs, " failed " failed, " refused " refused"
    exit failed > 0 || passed == 0
  }'
