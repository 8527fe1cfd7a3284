#!/usr/bin/env bash
# Copies a built tilevm to where it is used from:  copy.sh PREFIX LIBTILEVM.SO TILEVM [TILEC]
# Works from the root of the repository (headers) and is what ./install runs; the result may be moved as a whole.
#
#   include/tilevm.h tilevm.hpp          bin/tilevm [tilec]
#   lib/libtilevm.so -> libtilevm.so.1   lib/pkgconfig/tilevm.pc   lib/cmake/tilevm/
#   lib/tilevm/                          libraries that these need and a machine may lack
set -euo pipefail
prefix=$1 library=$2 tilevm=$3 tilec=${4:-}
version=$(sed -n 's/.*kRelease\[\] = "\(.*\)".*/\1/p' ir/release.h)
[ -n "$version" ] || { echo "copy.sh: no release in ir/release.h" >&2; exit 1; }

mkdir -p "$prefix"/{bin,include,lib/pkgconfig,lib/cmake/tilevm,lib/tilevm}
install -m 644 runtime/tilevm.h runtime/tilevm.hpp "$prefix/include"
install -m 755 "$library" "$prefix/lib/libtilevm.so.1"
strip --strip-unneeded "$prefix/lib/libtilevm.so.1"
ln -sfn libtilevm.so.1 "$prefix/lib/libtilevm.so"
for tool in "$tilevm" ${tilec:+"$tilec"}; do
  install -s -m 755 "$tool" "$prefix/bin"
done
for file in tilevm.pc.in tilevmConfigVersion.cmake.in; do
  case $file in
    *.pc.in) to=lib/pkgconfig ;;
    *) to=lib/cmake/tilevm ;;
  esac
  sed "s/@VERSION@/$version/" "runtime/package/$file" > "$prefix/$to/${file%.in}"
done
install -m 644 runtime/package/tilevmConfig.cmake "$prefix/lib/cmake/tilevm"

# All but what every system with the C++ library has, and LLVM, which tilec is linked with for an installation.
rm -f "$prefix"/lib/tilevm/*.so*
ldd "$prefix/lib/libtilevm.so.1" "$tilevm" ${tilec:+"$tilec"} | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  while read -r needed; do
    case $(basename "$needed") in
      libabsl_*|libsleef.*|libpng*|libz.*|libzstd.*) install -m 644 "$needed" "$prefix/lib/tilevm" ;;
    esac
  done
