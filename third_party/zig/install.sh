#!/usr/bin/env bash
# Makes a folder with what third_party/zig/build.py cross-compiles with and from:  install.sh DIR
# The compiler is zig's clang, a package of PyPI; sources are Debian's. Prints the folder, which holds:
#   zig                 runs the compiler, e.g. `zig c++ -target aarch64-macos`
#   abseil flatbuffers  sources of the versions that the machine has installed
#   sleef               sources of 3.9.0, and generated headers; f64 results are those of 3.5.1 but for erf (README.md)
#   python/SYSTEM       headers of CPython for its stable ABI; for Windows the import library, too
# A finished folder is kept.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install.sh DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=third_party/sources.sh
. "$here/../sources.sh"
# shellcheck source=third_party/zig/options.sh
. "$here/options.sh"
root=$(realpath -m "$1")
# Debian's archives of sources lack the file of its stable releases' version, 3.5.1.
sleef_version=3.9.0 sleef_suite=sid
stamp="$(dpkg-query -W libabsl-dev libflatbuffers-dev libpython3-dev | tr '\t\n' ' ')$(cat "$here"/{install,options}.sh "$here/../sources.sh" | sha256sum)"

# Names of the functions for one instruction set, and the header.
sleef() { # DIR
  local work=$root/work/sleef libm name
  mkdir -p "$work" "$1/generated"
  (cd "$work" && sources_apt "$work/apt" "$sleef_suite" apt-get update && sources_apt "$work/apt" "$sleef_suite" apt-get source --tar-only sleef)
  [ -f "$work/sleef_$sleef_version.orig.tar.gz" ] || {
    echo "install.sh: Debian's $sleef_suite has another SLEEF than $sleef_version: $(ls "$work"). Compare its results, then name it here." >&2
    return 1
  }
  tar xzf "$work/sleef_$sleef_version.orig.tar.gz" --strip-components=1 -C "$1"
  # It is linked into a library that exports none of it.
  sed -i 's/visibility("default")/visibility("hidden")/' "$1/src/common/misc.h"
  libm=$1/src/libm
  cc -O1 -w -o "$work/mkrename" "$libm/mkrename.c"
  touch "$1/generated/sleef-config.h"
  # NAME WIDTH(f64) WIDTH(f32) TYPE(f64) TYPE(f32) INT INT2 MACRO SUFFIX, as its CMakeLists.txt has them.
  sed -e '/^#cmakedefine/d' -e '/^#define SLEEF_VERSION_/d' "$libm/sleeflibm_header.h.org.in" >"$1/generated/sleef.h"
  # NAME WIDTH(f64) WIDTH(f32) SUFFIX TYPE(f64) TYPE(f32) INT MACRO INT2, as its CMakeLists.txt has them.
  while read -r name width width32 suffix double float int macro int2; do
    "$work/mkrename" cinz_ "$width" "$width32" "$double" "$float" "$int" "$int2" "$macro" "$suffix" >>"$1/generated/sleef.h"
    "$work/mkrename" cinz_ "$width" "$width32" "$suffix" >"$1/generated/rename$name.h"
  done <<'END'
purec_scalar 1 1 purec double float int32_t __STDC__ int32_t
sse4 2 4 sse4 __m128d __m128 __m128i __SSE2__ __m128i
avx 4 8 avx __m256d __m256 __m128i __AVX__ struct { __m128i x, y; }
avx512fnofma 8 16 avx512fnofma __m512d __m512 __m256i __AVX512F__ __m512i
END
  cat "$libm/sleeflibm_footer.h.org" >>"$1/generated/sleef.h"
}

# Windows has a pyconfig.h of its own, and every function of the stable ABI in python3.dll.
python_windows() { # DIR
  local work=$root/work/python
  mkdir -p "$work"
  (cd "$work" && sources_apt "$work/apt" "" apt-get update && sources_apt "$work/apt" "" apt-get source --tar-only python3.11)
  tar xzf "$work"/python3.11_*.orig.tar.gz --strip-components=1 -C "$work" --wildcards '*/Include' '*/PC/pyconfig.h' '*/PC/python3dll.c'
  cp -r "$work/Include" "$1/windows"
  cp "$work/PC/pyconfig.h" "$1/windows"
  {
    printf 'LIBRARY python3.dll\nEXPORTS\n'
    sed -n -E 's/^EXPORT_FUNC\((\w+)\).*/  \1/p; s/^EXPORT_DATA\((\w+)\).*/  \1 DATA/p' "$work/PC/python3dll.c"
  } >"$work/python3.def"
  "$root/zig" dlltool -m i386:x86-64 -d "$work/python3.def" -l "$1/windows/python3.lib"
}

# The stable ABI asks pyconfig.h for the sizes of C's types. On macOS they are those of Linux.
python_headers() { # DIR
  local include
  include=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
  mkdir -p "$1"
  cp -r "$include" "$1/macos"
  echo '#include <pyconfig.h>' | cc -dM -E "-I$include" - |
    sed -n -E '/^#define (SIZEOF_(DOUBLE|FLOAT|INT|LONG|LONG_LONG|SHORT|SIZE_T|VOID_P|WCHAR_T|PID_T|TIME_T|OFF_T|_BOOL)|HAVE_(STDINT|SYS_TIME|SYS_TYPES|UNISTD|WCHAR)_H) /p' | sort >"$1/macos/pyconfig.h"
  [ -s "$1/macos/pyconfig.h" ] || { echo "install.sh: $include/pyconfig.h has no sizes" >&2; return 1; }
}

if [ "$(cat "$root/installed" 2>/dev/null)" != "$stamp" ]; then
  rm -rf "${root:?}"/{work,venv,zig,abseil,flatbuffers,sleef,python,installed}
  mkdir -p "$root/work"
  /usr/bin/python3 -m venv "$root/venv"
  "$root/venv/bin/python" -m pip install --quiet --disable-pip-version-check "${zig_package:?}" >&2
  cat >"$root/zig" <<END
#!/bin/sh
exec env ZIG_GLOBAL_CACHE_DIR="$root/cache" ZIG_LOCAL_CACHE_DIR="$root/cache" "$root/venv/bin/python" -m ziglang "\$@"
END
  chmod +x "$root/zig"
  mv "$(installed_source "$root/work" libabsl-dev abseil)" "$root/abseil"
  # Headers of CoreFoundation are Apple's. Without them the local time zone is that of TZ and /etc/localtime, as elsewhere.
  sed -i 's/^#if defined(__APPLE__)$/#if 0/' "$root/abseil/absl/time/internal/cctz/src/time_zone_lookup.cc"
  mv "$(installed_source "$root/work" libflatbuffers-dev flatbuffers)" "$root/flatbuffers"
  sleef "$root/sleef"
  python_headers "$root/python"
  python_windows "$root/python"
  rm -rf "$root/work"
  echo "$stamp" >"$root/installed"
fi
echo "$root"
