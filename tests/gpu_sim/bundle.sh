#!/bin/bash
# Packs what another machine needs to run random programs on the simulator: tests/gpu_sim/bundle.sh OUT.tar.gz, and there
#   tar -xzf OUT.tar.gz -C FOLDER && FOLDER/random.sh FIRST LAST --sm=80,90 --jobs=32
# LLVM is inside of the program, and all other libraries but those of glibc (2.34 or newer) lie beside it. BAZEL names another bazel to build with.
set -euo pipefail
out=$(realpath -m "${1:?usage: tests/gpu_sim/bundle.sh OUT.tar.gz}")
cd "$(dirname "$0")/../.."
read -ra bazel <<<"${BAZEL:-bazel}"
"${bazel[@]}" build --define=llvm=static //tests/gpu:gpu_check //tests/gpu_sim/driver:gpu_sim
bin=$("${bazel[@]}" info --define=llvm=static bazel-bin)/tests
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/lib"
strip -o "$folder/gpu_check" "$bin/gpu/gpu_check"
strip -o "$folder/libgpu_sim.so" "$bin/gpu_sim/driver/gpu_sim/libgpu_sim.so"
chmod 755 "$folder/gpu_check"
cp tests/gpu_sim/random.sh "$folder/"
ldd "$bin/gpu/gpu_check" "$bin/gpu_sim/driver/gpu_sim/libgpu_sim.so" |
  awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
  xargs -I{} cp -L {} "$folder/lib/"
tar -C "$folder" -czf "$out" .
ls -l "$out"
