#!/usr/bin/env bash
# Runs a bundle (bundle.sh) on this machine's GPU: every file in a process of its own, then the benchmarks. The full output
# goes to the results folder, a summary to standard output. Exit status 1 if anything was not as expected.
cd "$(dirname "$0")" || exit 1
results=${1:-results}
mkdir -p "$results"
export LD_LIBRARY_PATH=$PWD:${LD_LIBRARY_PATH:-}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
one() {
  timeout 100 ./gpu_check "$@" 2>&1
  local status=$?
  [ $status -le 3 ] || echo "FAIL $*: ended with status $status"
}
export -f one
find ops source -name '*.tile' | sort | xargs -P "$(nproc)" -n 1 bash -c 'one "$@"' _ >"$results/files.txt"
# The same for one warp a block: other layouts, and slices of smaller tiles.
find ops source -name '*.tile' | sort | xargs -P "$(nproc)" -n 1 bash -c 'one --warps=1 "$@"' _ >"$results/files_1warp.txt"
[ -d launches ] && find launches -name '*.json' | sort | xargs -P "$(nproc)" -n 4 bash -c 'one "$@"' _ >"$results/launches.txt"
# 1000 random programs, 500 of them with one warp, too; RANDOM_FIRST=N begins at another seed. 300 of matrix products.
first=${RANDOM_FIRST:-0}
{
  seq "$first" 25 $((first + 999)) | awk '{ print "--random=" $1 "," $1 + 24 }'
  seq $((first + 1000000)) 10 $((first + 1000299)) | awk '{ print "--random=" $1 "," $1 + 9 }'
} |
  xargs -P "$(nproc)" -n 1 bash -c 'one "$@"' _ >"$results/random.txt"
seq "$first" 5 $((first + 499)) | awk '{ print "--random=" $1 "," $1 + 4 }' |
  xargs -P "$(nproc)" -n 1 bash -c 'one --warps=1 "$@"' _ >"$results/random_1warp.txt"
for part in files files_1warp launches random random_1warp; do
  [ -f "$results/$part.txt" ] || continue
  awk -v part=$part '/^DONE/ { sub(/^DONE[^:]*:/, ""); gsub(",", ""); for (i = 1; i < NF; i += 2) n[$(i + 1)] += $i }
    END { print part ": " n["passed"] " passed, " n["failed"] " failed, " n["skipped"] " skipped, " n["refused"] " refused" }' "$results/$part.txt"
done
mkdir -p "$results/images"
for example in examples/*.tile; do
  ./tilec "$example" --sm=90 -o "$results/images/$(basename "$example" .tile).tbc" 2>/dev/null || echo "FAIL $example: does not compile"
done >"$results/examples.txt"
python3 examples/examples_test.py prefix/bin/tilevm --on="--device=cuda --images $results/images" examples/*.tile >>"$results/examples.txt" 2>&1
grep -v " cases, " "$results/examples.txt" | sed "s/^/FAIL /" | sed "s/^FAIL FAIL /FAIL /" >"$results/examples_wrong.txt"
echo "examples: $(grep -c " cases, " "$results/examples.txt") ran, $(wc -l <"$results/examples_wrong.txt") lines of what is wrong"
timeout 100 ./gpu_check litmus --rounds=${LITMUS_ROUNDS:-32} --tests=64 --launches=2 litmus_files/*.tile >"$results/litmus.txt" 2>&1
[ $? -le 3 ] || echo "FAIL litmus: it did not end" >>"$results/litmus.txt"
awk '/forbidden of/ { n[$1]++ } END { print "litmus: " n["OK"] + 0 " forms as promised, " n["WEAK"] + 0 " weaker ones" }' "$results/litmus.txt"
./tilec examples/vector_add.tile --sm=90 -o "$results/vector_add.tbc" 2>/dev/null && ./launch_overhead "$results/vector_add.tbc"
grep -h "^FAIL" "$results"/*.txt | cut -c1-200
failed=$?
python3 gpu_peers.py --tilec ./tilec --library prefix/lib/libtilevm.so.1 --examples examples 2>"$results/peers.log"
[ $failed -ne 0 ]
