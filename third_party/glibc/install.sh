#!/usr/bin/env bash
# Makes a folder of link inputs with which g++ links for machines with glibc 2.28 or newer:  install.sh DIR [aarch64 LIBRARIES]
#   bazel build --linkopt=-B"$(third_party/glibc/install.sh "$HOME/glibc")" --linkopt=-fuse-ld=lld //tools/tilevm
# GNU ld 2.40 leaves an empty relocation in such programs, which they do not start with; lld and gold do not.
# g++ looks for start files and libraries in the folder after -B first. Objects are compiled with this system's headers all the same. The
# folder holds:
#   libc.so.6 libm.so.6 …      every symbol of glibc 2.28 with its versions, no code: the linker binds to what the old glibc has
#   libc.so libpthread.so …    linker scripts: what moved into libc later is found in the library where glibc 2.28 has it
#   Scrt1.o, libc_nonshared.a  of that glibc: its __libc_start_main does not run constructors by itself
#   libgcc_s.so.1              the same for the library that unwinds the stack, of gcc 8
#   libtilevm_compat.a         functions that newer headers and libraries use and glibc 2.28 lacks (compat.c)
#   libstdc++.a, libz.a, …     this system's without the shared ones, which need its glibc
#   libabsl_*.a                Debian's, with the objects that shared libraries can't hold compiled again as position-independent code
#   ld.lld                     the linker, which a cross compiler looks for under a name of its own
# The symbol tables and start files come from ziglang of PyPI, Abseil's sources from Debian. Prints the path of the folder.
# With `aarch64` it is for Debian's cross compiler, and LIBRARIES holds Debian's archives for that machine (third_party/aarch64).
# What is there is kept. Any number may be started at once: one makes it, the others wait for it.
set -euo pipefail
[ $# -eq 1 ] || [ $# -eq 3 ] || { echo "usage: install.sh DIR [aarch64 LIBRARIES]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=third_party/glibc/options.sh
. "$here/options.sh"
# shellcheck source=third_party/sources.sh
. "$here/../sources.sh"
# shellcheck source=third_party/zig/options.sh
. "$here/../zig/options.sh"
glibc=${portable_glibc:?}
# Those that a program alone can hold: thread-local variables by a model for programs, stderr without a table of addresses.
abseil_objects="base/internal/sysinfo:base strings/cord:cord strings/internal/cordz_functions:cordz_functions
  container/internal/raw_hash_set:raw_hash_set strings/internal/str_format/parser:str_format_internal"
root=$(realpath -m "$1")
machine=${2-$(uname -m)}
system=${3-/usr/lib/$machine-linux-gnu}
# The dynamic linker, the version of the oldest symbols, and the beginning of the names of Debian's compiler and binutils.
case $machine in
  x86_64) loader=ld-linux-x86-64.so.2 oldest=2_2_5 ;;
  aarch64) loader=ld-linux-aarch64.so.1 oldest=2_17 ;;
  *) echo "install.sh: only x86_64 and aarch64 have been tried, not $machine" >&2; exit 1 ;;
esac
tools=''
[ "$machine" = "$(uname -m)" ] || tools=$machine-linux-gnu-

# Variables with several names. A program that uses one has a copy of it, which must be the library's by every name: glibc sets __environ, and
# programs read environ. zig's tables give each name a place of its own.
aliases="environ:__environ environ:_environ daylight:__daylight timezone:__timezone tzname:__tzname signgam:__signgam
  program_invocation_name:__progname_full program_invocation_short_name:__progname"
with_aliases() { # STUBS NAME.so.N DIR
  # A reference by which programs export that they know today's stdio; not of this library, so weak and in a section that may be relocated.
  # Variables are aligned as well as any of the library is, which moves 16 bytes of tzname at once.
  # shellcheck disable=SC2016
  local pair edits=(-e '/^\.data$/,$s/^\.balign 8$/.balign 32/' -e 's/^\.rodata$/.section .data.rel.ro,"aw"/'
    -e 's/^\.globl _IO_stdin_used$/.weak _IO_stdin_used/')
  for pair in $aliases; do
    edits+=(-e "s/^\\(${pair#*:}_2_[0-9_]*\\): \\.fill .*/.set \\1, ${pair%:*}_$oldest/")
  done
  sed "${edits[@]}" "$1/${2%%.*}.s" >"$root/work/${2%%.*}.s"
  "${tools}gcc" -shared -nostdlib -Wl,-soname,"lib$2" -Wl,--version-script="$1/all.map" -Wl,--build-id=none "$root/work/${2%%.*}.s" -o "$3/lib$2"
}

make_stubs() { # DIR
  local zig=$root/work/zig stubs start
  /usr/bin/python3 -m venv "$root/work/venv"
  "$root/work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "${zig_package:?}" >&2
  # It makes them when it links a program for that glibc, and leaves them in its cache.
  echo 'int main(void) { return 0; }' >"$root/work/main.c"
  ZIG_GLOBAL_CACHE_DIR=$zig ZIG_LOCAL_CACHE_DIR=$zig "$root/work/venv/bin/python" -m ziglang cc -target "$machine-linux-gnu.$glibc" \
    "$root/work/main.c" -o "$root/work/main"
  stubs=$(dirname "$(find "$zig" -name libc.so.6)")
  for name in pthread.so.0 dl.so.2 rt.so.1; do cp "$stubs/lib$name" "$1"; done
  for name in c.so.6 m.so.6; do with_aliases "$stubs" "$name" "$1"; done
  cp "$stubs/libld.so.2" "$1/$loader"
  start=$(find "$zig" -name crt1.o)
  cp "$start" "$1/Scrt1.o"
  cp "$start" "$1/crt1.o"
  # Named by content, not by where they were made.
  mkdir "$root/work/nonshared"
  (cd "$root/work/nonshared" && "${tools}ar" x "$(find "$zig" -name libc_nonshared.a)" 2>/dev/null && "${tools}ar" rcsD "$1/libc_nonshared.a" ./*.o)
  "${tools}gcc" -std=c11 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -c "$here/compat.c" -o "$root/work/compat.o"
  "${tools}ar" rcsD "$1/libtilevm_compat.a" "$root/work/compat.o"
  # -lc, which the compiler adds, finds all of them; a library that nothing is taken from is not needed in the end.
  # Full paths, because gold looks for the names of a script in this folder only if -L names it.
  echo "GROUP ( $2/libc.so.6 $2/libtilevm_compat.a $2/libc_nonshared.a AS_NEEDED ( $2/libpthread.so.0 $2/libdl.so.2 $2/librt.so.1 $2/libm.so.6" \
    "$2/$loader ) )" \
    >"$1/libc.so"
  for name in m.so.6 pthread.so.0 dl.so.2 rt.so.1; do echo "INPUT ( AS_NEEDED ( $2/lib$name ) )" >"$1/lib${name%%.*}.so"; done
}

# This system's needs a newer glibc, which linkers complain about.
make_libgcc_stub() { # DIR
  "${tools}nm" -D --defined-only "$("${tools}gcc" -print-file-name=libgcc_s.so.1)" | sed -n 's/.* [TW] \(.*\)@@\(GCC_[0-9.]*\)$/\1 \2/p' | sort >"$root/work/gcc.symbols"
  awk '{split($2, v, /[_.]/)} v[2] <= 8 {
    printf ".globl s%d\n.type s%d, @function\ns%d: .symver s%d, %s@@@%s\n", NR, NR, NR, NR, $1, $2
  }' "$root/work/gcc.symbols" >"$root/work/gcc.s"
  awk '{print $2 " {};"}' "$root/work/gcc.symbols" | sort -u >"$root/work/gcc.map"
  "${tools}gcc" -shared -nostdlib -Wl,-soname,libgcc_s.so.1 -Wl,--version-script="$root/work/gcc.map" -Wl,--build-id=none "$root/work/gcc.s" -o "$1/libgcc_s.so.1"
  echo "GROUP ( $2/libgcc_s.so.1 -lgcc )" >"$1/libgcc_s.so"
}

make_libraries() { # DIR
  cp "$("${tools}g++" -print-file-name=libstdc++.a)" "$1"
  cp "$system"/lib{absl_*,z,zstd}.a "$1"
  local source object
  source=$(installed_source "$root/work" libabsl-dev abseil)
  for object in $abseil_objects; do
    local file=${object%:*} name
    name=$(basename "$file").cc.o
    # Flags of Debian's build, and -fPIC.
    "${tools}g++" -std=gnu++17 -O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map="$source"= -c "$source/absl/$file.cc" \
      -o "$root/work/$name"
    "${tools}ar" t "$1/libabsl_${object#*:}.a" | grep -qx "$name" || { echo "install.sh: Debian's libabsl_${object#*:}.a has no $name" >&2; exit 1; }
    "${tools}ar" rD "$1/libabsl_${object#*:}.a" "$root/work/$name"
  done
}

stamp="$(dpkg-query -W libabsl-dev g++ ${tools:+"g++-${tools%-}"} 2>/dev/null | tr '\t\n' ' ')$(cat "$here"/{install,options}.sh "$here"/../{sources,zig/options}.sh "$here/compat.c" | sha256sum)"
is_there() { [ "$(cat "$root/installed" 2>/dev/null)" = "$stamp" ]; }
if ! is_there; then
  mkdir -p "$root"
  exec {lock}>"$root/lock"
  flock "$lock"
  if ! is_there; then
    rm -rf "${root:?}"/{work,new,installed,lib}
    mkdir "$root/work" "$root/new"
    make_stubs "$root/new" "$root/lib"
    make_libgcc_stub "$root/new" "$root/lib"
    make_libraries "$root/new"
    ln -s "$(command -v ld.lld)" "$root/new/ld.lld"
    mv "$root/new" "$root/lib"
    rm -rf "$root/work"
    echo "$stamp" >"$root/installed"
  fi
  exec {lock}>&-
fi
echo "$root/lib"
