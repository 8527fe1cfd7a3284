#!/usr/bin/env bash
# Installs the runtime into an empty folder, moves it, and builds examples/app with it by cc and pkg-config, and by CMake
# (examples/tile_cpp, too, where nvcc compiles CUDA Tile C++);
# builds a frontend, examples/builder, with the installed builder, and runs what it writes.
set -uo pipefail
if [ $# -gt 0 ]; then
  echo "SKIPPED: built $*"
  exit 0
fi
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
work=$TEST_TMPDIR
root=$PWD

runtime/package/copy.sh "$work/first" runtime/shared/libtilevm.so tools/tilevm/tilevm ir/libtilevm-ir.a || fail "copy.sh"
# It may be moved, and its name may hold a space.
prefix="$work/in stalled"
mv "$work/first" "$prefix"
lib=$prefix/lib/libtilevm.so

for file in include/tilevm.h include/tilevm.hpp include/tilevm_tvm_ffi.h lib/libtilevm.so lib/libtilevm.so.1 lib/pkgconfig/tilevm.pc \
  lib/cmake/tilevm/tilevmConfig.cmake lib/cmake/tilevm/tilevmConfigVersion.cmake bin/tilevm \
  lib/libtilevm-ir.a lib/pkgconfig/tilevm-ir.pc include/tilevm-ir/ir/builder.h include/tilevm-ir/ir/tbc/writer.h \
  share/tilevm/tbc.fbs share/tilevm/FORMAT.md share/tilevm/text.md share/tilevm/operations.md share/tilevm/operations.json \
  share/man/man1/tilevm.1 share/bash-completion/completions/tilevm share/zsh/site-functions/_tilevm; do
  [ -s "$prefix/$file" ] || fail "no $file"
done

# Only the C interface is exported, all of it.
declared=$(grep -o 'tilevm_[a-z0-9_]*(' runtime/tilevm.h | grep -v '_fn(' | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$lib" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort -u)
called=$(comm -13 <(echo "$declared") <(echo "$exported"))
[ -z "$called" ] || fail "exported, but not of tilevm.h: $called"
# The header's comments name functions, too: all of them exist.
missing=$(comm -23 <(echo "$declared") <(echo "$exported"))
[ -z "$missing" ] || fail "not exported: $missing"
[ "$(echo "$exported" | wc -l)" -gt 50 ] || fail "exports only: $exported"

# What it needs lies beside it, but for the C and C++ libraries. No driver, no LLVM, no Python.
readelf -d "$lib" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | while read -r needed; do
  case $needed in
    libc.so.*|libm.so.*|libstdc++.so.*|libgcc_s.so.*|ld-linux-*|libpthread.so.*|libdl.so.*) ;;
    libabsl_*|libsleef.*) [ -f "$prefix/lib/tilevm/$needed" ] || echo "$needed" ;;
    *) echo "$needed" ;;
  esac
done > "$work/foreign"
[ -s "$work/foreign" ] && fail "needs $(cat "$work/foreign")"
elsewhere=$(ldd "$lib" | awk '$2 == "=>" {print}' | grep -E 'libabsl|libsleef' | grep -v "$prefix/lib/" || true)
[ -z "$elsewhere" ] || fail "found elsewhere: $elsewhere"
size=$(stat -Lc %s "$lib")
[ "$size" -le 5000000 ] || fail "libtilevm.so has $size bytes, more than 5000000"

# The command of the installation.
mkdir "$work/app"
cp -L examples/app/* "$work/app"
rm -f "$work/app/BUILD.bazel"
cd "$work/app" || exit 1
export TILEVM_LIBCUDA=libno_such_driver.so.1
"$prefix/bin/tilevm" as "$root/examples/vector_add.tile" -o vector_add.tbc || fail "tilevm as"
runs() {
  said=$(LD_LIBRARY_PATH="${2-}" "$1" 2>&1)
  [ "$said" = "cpu (VM on this CPU): 1000000 sums, all right" ] || fail "$1 said: $said"
}

# What frontends in other languages read: the table, and the schema, by which a file's fields are found.
python3 - "$prefix/share/tilevm/operations.json" <<'END' || fail "operations.json"
import json, sys
table = json.load(open(sys.argv[1]))
sys.exit("addf" not in {op["mnemonic"] for op in table["ops"]})
END
if flatc --version >/dev/null 2>&1; then
  mkdir "$work/decoded"
  { flatc --json --strict-json --raw-binary -o "$work/decoded" "$prefix/share/tilevm/tbc.fbs" -- vector_add.tbc &&
    grep -q '"version_minor"' "$work/decoded/vector_add.json"; } || fail "tbc.fbs does not describe a .tbc"
else
  echo "SKIPPED: flatc is not installed"
fi
bash -n "$prefix/share/bash-completion/completions/tilevm" || fail "bash completion"
if zsh --version >/dev/null 2>&1; then
  zsh -n "$prefix/share/zsh/site-functions/_tilevm" || fail "zsh completion"
fi
if man --version >/dev/null 2>&1; then
  warned=$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$prefix/share/man/man1/tilevm.1" 2>&1 >/dev/null)
  [ -z "$warned" ] || fail "manual: $warned"
fi

# A frontend.
if pkg-config --version >/dev/null 2>&1; then
  mkdir "$work/frontend"
  cp -L "$root/examples/builder/matmul.cc" "$work/frontend"
  flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs tilevm-ir) || fail "no tilevm-ir"
  eval "g++ -std=c++20 -Wall '$work/frontend/matmul.cc' -o '$work/frontend/matmul' $flags" || fail "the frontend does not build"
  "$work/frontend/matmul" "$work/frontend/matmul.tbc" || fail "the frontend"
  "$prefix/bin/tilevm" run "$work/frontend/matmul.tbc" "ones:f32[100,50]" "ones:f32[50,70]" --expect "full:f32[100,70]=50" ||
    fail "what the frontend wrote"
fi

# cc and pkg-config.
if pkg-config --version >/dev/null 2>&1; then
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
  pkg-config --atleast-version=0.1 tilevm || fail "pkg-config's version"
  flags=$(pkg-config --cflags --libs tilevm)
  { eval "gcc -std=c11 -Wall -Werror app.c embed.S '-DKERNEL_TBC=\"vector_add.tbc\"' -o app $flags" && runs ./app "$prefix/lib"; } ||
    fail "app.c"
  { eval "g++ -std=c++17 -Wall -Werror app.cc embed.S '-DKERNEL_TBC=\"vector_add.tbc\"' -o app_cc $flags" && runs ./app_cc "$prefix/lib"; } ||
    fail "app.cc"
else
  echo "SKIPPED: pkg-config is not installed"
fi

# CMake.
if cmake --version >/dev/null 2>&1; then
  { cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" && cmake --build build; } >cmake.log 2>&1 || fail "cmake: $(cat cmake.log)"
  runs build/app
  runs build/app_cc
  mkdir frontend
  cp -L "$root/examples/builder/matmul.cc" frontend
  cat > frontend/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(frontend CXX)
find_package(tilevm REQUIRED COMPONENTS ir)
add_executable(matmul matmul.cc)
target_link_libraries(matmul tilevm::ir)
END
  { cmake -S frontend -B frontend/build -DCMAKE_PREFIX_PATH="$prefix" && cmake --build frontend/build &&
    frontend/build/matmul frontend/matmul.tbc && "$prefix/bin/tilevm" verify frontend/matmul.tbc; } >cmake.log 2>&1 ||
    fail "cmake, frontend: $(cat cmake.log)"
  # A kernel in CUDA Tile C++, where its compiler is.
  if [ -n "${TILEVM_NVCC:-}" ] && grep -q -- --enable-tile <<<"$("$TILEVM_NVCC" --help)"; then
    cp -rL "$root/examples/tile_cpp" "$work/tile_cpp"
    { cmake -S "$work/tile_cpp" -B tile_cpp -DCMAKE_PREFIX_PATH="$prefix" && cmake --build tile_cpp; } >cmake.log 2>&1 ||
      fail "cmake: $(cat cmake.log)"
    said=$(tile_cpp/saxpy)
    [ "$said" = "cpu (VM on this CPU): 1000000 elements, all right" ] || fail "saxpy said: $said"
  else
    echo "SKIPPED: examples/tile_cpp: TILEVM_NVCC names no nvcc that compiles CUDA Tile C++"
  fi
  mkdir wrong
  cat > wrong/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(p C)
find_package(tilevm 0.2)
message("FOUND=${tilevm_FOUND}")
END
  said=$(cmake -S wrong -B wrong/build -DCMAKE_PREFIX_PATH="$prefix" 2>&1)
  grep -q 'FOUND=0' <<<"$said" || fail "CMake takes another version: $said"
else
  echo "SKIPPED: cmake is not installed"
fi
exit $failed
