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
# Out of bounds, races in shared memory, barriers that not all reach: a sample of everything that has its own code.
run_sanitizer() {
  local tool files
  files=$(printf '%s\n' regressions/product*.tile spec/*atomic*.tile spec/*shared*.tile ops/{mmaf,mmai,mmaf_scaled,reduce,scan,permute,cat,extract,make_gather_scatter_view,atomic_rmw_tko,atomic_red_view_tko,print_tko,assert,alloca,load_view_tko,store_view_tko}.tile | sort -u)
  for tool in memcheck racecheck synccheck; do
    xargs -P "$(nproc)" -n 1 timeout 200 compute-sanitizer --tool $tool --error-exitcode 9 ./gpu_check <<<"$files" >"$results/$tool.txt" 2>&1
    awk -v tool=$tool '/^DONE/ { ran++ } /ERROR SUMMARY|RACECHECK SUMMARY/ { seen++; if ($0 ~ /SUMMARY: 0 /) clean++ }
      END { print tool ": " ran + 0 " files ran, " clean + 0 " of " seen + 0 " without a report" }' "$results/$tool.txt"
    grep -q "SUMMARY: [1-9]" "$results/$tool.txt" && echo "FAIL $tool: it reports something" >>"$results/$tool.txt"
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
