#!/usr/bin/env bash
# Packs what a machine with an NVIDIA driver and ptxas needs to run all test files, recorded launches and benchmarks there:
#   tests/gpu/bundle.sh OUT.tar.gz [FOLDER OF RECORDED LAUNCHES]
# and there:
#   tar -xzf OUT.tar.gz -C FOLDER && FOLDER/run.sh [RESULTS FOLDER]
# LLVM is inside of the programs; they need glibc 2.34, zlib and zstd. BAZEL names another bazel to build with.
set -euo pipefail
out=$(realpath -m "${1:?usage: tests/gpu/bundle.sh OUT.tar.gz [RECORDED LAUNCHES]}")
launches=${2:+$(realpath "$2")}
cd "$(dirname "$0")/../.."
read -ra bazel <<<"${BAZEL:-bazel}"
"${bazel[@]}" build --define=llvm=static //tests/gpu:gpu_check //runtime/cuda:launch_overhead //tools/tilec //tools/tilevm //runtime:shared
bin=$("${bazel[@]}" info --define=llvm=static bazel-bin)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for program in tests/gpu/gpu_check runtime/cuda/launch_overhead tools/tilec/tilec; do
  strip -o "$folder/$(basename "$program")" "$bin/$program"
done
runtime/package/copy.sh "$folder/prefix" "$bin/runtime/shared/libtilevm.so" "$bin/tools/tilevm/tilevm"
cp -L "$(ldconfig -p | awk '/libsleef.so.3 /{print $NF; exit}')" "$folder/"
mkdir "$folder/litmus_files"
cp tests/gpu/litmus/*.tile "$folder/litmus_files/"
cp -r tests/ops tests/spec tests/codegen/regressions examples tests/bench/gpu_peers.py tests/bench/gpu_triton.py tests/bench/tilevm_c.py tests/bench/kernels tests/gpu/run.sh "$folder/"
[ -n "$launches" ] && cp -r "$launches" "$folder/launches"
tar -C "$folder" -czf "$out" .
ls -l "$out"
