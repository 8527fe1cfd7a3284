#!/usr/bin/env bash
# Whether two runs of ./release give the same bytes, in clones in folders of different names:  tests/install/reproducible.sh
# Both compile, unless Bazel has a disk cache (~/.bazelrc): then this shows that linking and packing repeat, not compiling. Takes as long as two
# releases, so it is no part of ./test.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
for name in first another/second; do
  mkdir -p "$work/$name"
  git clone -q . "$work/$name/clone"
  "$work/$name/clone/release" --out="$work/$name/out" >"$work/$name/log" 2>&1 || { cat "$work/$name/log" >&2; exit 1; }
  (cd "$work/$name/clone" && bazel shutdown)
done
cat "$work/first/out/SHA256SUMS"
diff -r "$work/first/out" "$work/another/second/out" || { echo "FAILED: two runs differ; they are in $work" >&2; exit 1; }
echo "two runs: equal bytes"
rm -rf "$work"
