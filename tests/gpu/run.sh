#!/usr/bin/env bash
# Runs a bundle (bundle.sh) on this machine's GPU: every file in a process of its own, then the benchmarks.
#
#   run.sh [RESULTS FOLDER [PART…]]     parts: files launches random older examples litmus overhead sanitizer peers
#
# Without parts all of them but `sanitizer`, which needs compute-sanitizer. The full output goes to the results folder, a summary to standard
# output. Exit status 1 if anything was not as expected.
cd "$(dirname "$0")" || exit 1
results=${1:-results}
parts=("${@:2}")
[ ${#parts[@]} -gt 0 ] || parts=(files launches random older examples litmus overhead peers)
mkdir -p "$results"
export LD_LIBRARY_PATH=$PWD:${LD_LIBRARY_PATH:-}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
one() {
  timeout 100 ./gpu_check "$@" 2>&1
  local status=$?
  [ $status -le 3 ] || echo "FAIL $*: ended with status $status"
}
export -f one
# checked NAME WORDS OPTION…: gpu_check for so many words of standard input at a time, as many beside each other as there are cores.
checked() {
  local name=$1 words=$2
  shift 2
  xargs -P "$(nproc)" -n "$words" bash -c "one $* \"\$@\"" _ >"$results/$name.txt"
  awk -v part="$name" '/^DONE/ { sub(/^DONE[^:]*:/, ""); gsub(",", ""); for (i = 1; i < NF; i += 2) n[$(i + 1)] += $i }
    END { print part ": " n["passed"] " passed, " n["failed"] " failed, " n["skipped"] " skipped, " n["refused"] " refused" }' "$results/$name.txt"
}
# seeds FIRST COUNT EACH
seeds() { seq "$1" "$3" $(($1 + $2 - 1)) | awk -v each="$3" '{ print "--random=" $1 "," $1 + each - 1 }'; }
wrong=0
run_files() {
  find ops spec regressions -name '*.tile' | sort | checked files 1
  # The same for one warp a block: other layouts, and slices of smaller tiles.
  find ops spec regressions -name '*.tile' | sort | checked files_1warp 1 --warps=1
  # Blocks of small grids joined, too.
  find spec regressions -name '*.tile' | sort | checked files_joined 1 --join
}
run_launches() {
  [ -d launches ] && find launches -name '*.json' | sort | checked launches 4
}
# 1000 random programs, 500 of them with one warp, too; RANDOM_FIRST=N begins at another seed. 300 of matrix products.
run_random() {
  local first=${RANDOM_FIRST:-0}
  { seeds "$first" 1000 25; seeds $((first + 1000000)) 300 10; } | checked random 1
  seeds "$first" 500 5 | checked random_1warp 1 --warps=1
}
# What is made for older GPUs, compiled by the driver for this one.
run_older() {
  local sm
  for sm in 75 80 89; do find ops spec regressions -name '*.tile' | sort | checked "files_sm$sm" 1 --sm=$sm --ptx; done
  [ -d launches ] && find launches -name '*.json' | sort | checked launches_sm80 4 --sm=80 --ptx
  { seeds "${RANDOM_FIRST:-0}" 200 10; seeds $((${RANDOM_FIRST:-0} + 1000000)) 100 5; } | checked random_sm80 1 --sm=80 --ptx
}
run_examples() {
  local example
  mkdir -p "$results/images"
  for example in examples/*.tile; do
    ./tilec "$example" --sm=90 -o "$results/images/$(basename "$example" .tile).tbc" 2>/dev/null || echo "FAIL $example: does not compile"
  done >"$results/examples.txt"
  python3 examples/examples_test.py prefix/bin/tilevm --on="--device=cuda --images $results/images" examples/*.tile >>"$results/examples.txt" 2>&1
  rm -r "$results/images"
  grep -v " cases, " "$results/examples.txt" | sed "s/^/FAIL /" | sed "s/^FAIL FAIL /FAIL /" >"$results/examples_wrong.txt"
  echo "examples: $(grep -c " cases, " "$results/examples.txt") ran, $(wc -l <"$results/examples_wrong.txt") lines of what is wrong"
}
run_litmus() {
  timeout 200 ./gpu_check litmus --rounds="${LITMUS_ROUNDS:-32}" --tests=64 --launches=2 litmus_files/*.tile >"$results/litmus.txt" 2>&1
  [ $? -le 3 ] || echo "FAIL litmus: it did not end" >>"$results/litmus.txt"
  awk '/forbidden of/ { n[$1]++ } END { print "litmus: " n["OK"] + 0 " forms as promised, " n["WEAK"] + 0 " weaker ones" }' "$results/litmus.txt"
}
run_overhead() {
  ./tilec examples/vector_add.tile --sm=90 -o "$results/vector_add.tbc" 2>/dev/null && ./launch_overhead "$results/vector_add.tbc"
  rm -f "$results/vector_add.tbc"
}
# arrives FILE: whether a kernel of it has warp groups that take turns.
arrives() {
  local kernel
  sed -n 's/^entry @\([A-Za-z0-9_]*\).*/\1/p' "$1" | while read -r kernel; do
    ./tilec "$1" --sm=90 --kernel="$kernel" --emit=ptx --descriptors -o - 2>/dev/null </dev/null
  done | grep "[^m]bar\.arrive" >/dev/null
}
# sanitized TOOL WORD: gpu_check for one file under compute-sanitizer, which itself now and then crashes before it has begun, and leaves
# the program that it was to watch waiting.
sanitized() {
  local attempt pid output
  output=$(mktemp)
  for attempt in 1 2 3 4 5; do
    timeout 100 compute-sanitizer --tool "$1" --error-exitcode 9 ./gpu_check "$2" >"$output" 2>&1 &
    pid=$!
    wait $pid
    kill -9 -- -$pid
    grep -q DONE "$output" && break
  done 2>/dev/null
  if grep -q "SUMMARY: 0 " "$output"; then
    echo "CLEAN $2"
  # It does not follow bar.arrive: it reports races behind it that a full barrier forbids, in a kernel of ten lines, too.
  elif [ "$1" = racecheck ] && arrives "$2"; then
    echo "ARRIVE $2"
  else
    cat "$output"
    echo "FAIL $1 $2: after $attempt attempts: $(grep SUMMARY "$output")"
  fi
  rm "$output"
}
export -f arrives sanitized
# Out of bounds, races in shared memory, barriers that not all reach: every file, and every SANITIZER_STEP-th recorded launch.
run_sanitizer() {
  local tool files
  files=$(find ops spec regressions -name '*.tile' | sort)
  [ ! -d launches ] || files+=$'\n'$(find launches -name '*.json' | sort | awk -v step="${SANITIZER_STEP:-8}" 'NR % step == 0')
  for tool in memcheck racecheck synccheck; do
    xargs -P "$(nproc)" -n 1 bash -c 'sanitized "$@"' _ $tool <<<"$files" >"$results/$tool.txt"
    echo "$tool: $(grep -c ^CLEAN "$results/$tool.txt") of $(wc -l <<<"$files") without a report, $(grep -c ^ARRIVE "$results/$tool.txt") with bar.arrive"
  done
}
run_peers() {
  python3 gpu_peers.py --tilec ./tilec --library prefix/lib/libtilevm.so.1 --examples examples 2>"$results/peers.log" || wrong=1
}
for part in "${parts[@]}"; do
  declare -F "run_$part" >/dev/null || { echo "run.sh: no part $part" >&2; exit 2; }
  [ "$part" = peers ] || "run_$part"
done
grep -h "^FAIL" "$results"/*.txt | cut -c1-200 && wrong=1
[[ " ${parts[*]} " != *" peers "* ]] || run_peers
[ $wrong -eq 0 ]
