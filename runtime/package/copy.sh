#!/usr/bin/env bash
# Copies a built tilevm to where it is used from:  copy.sh PREFIX LIBTILEVM.SO TILEVM [TILEC LIBTILEC.SO]
# Works from the root of the repository (headers) and is what ./install runs; the result may be moved as a whole.
#
#   include/tilevm.h tilevm.hpp          bin/tilevm [tilec]
#   lib/libtilevm.so -> libtilevm.so.1   lib/pkgconfig/tilevm.pc   lib/cmake/tilevm/   [lib/libtilec.so.1]
#   lib/tilevm/                          libraries that these need and a machine may lack
set -euo pipefail
prefix=$1 library=$2 tilevm=$3 tilec=${4:-} libtilec=${5:-}
version=$(sed -n 's/.*kRelease\[\] = "\(.*\)".*/\1/p' ir/release.h)
[ -n "$version" ] || { echo "copy.sh: no release in ir/release.h" >&2; exit 1; }

mkdir -p "$prefix"/{bin,include,lib/pkgconfig,lib/cmake/tilevm,lib/tilevm}
install -m 644 runtime/tilevm.h runtime/tilevm.hpp "$prefix/include"
copy_library() {
  install -m 755 "$1" "$prefix/lib/$2"
  strip --strip-unneeded "$prefix/lib/$2"
}
copy_library "$library" libtilevm.so.1
ln -sfn libtilevm.so.1 "$prefix/lib/libtilevm.so"
[ -z "$libtilec" ] || copy_library "$libtilec" libtilec.so.1
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
ldd "$library" "$tilevm" ${tilec:+"$tilec"} ${libtilec:+"$libtilec"} | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  while read -r needed; do
    case $(basename "$needed") in
      libabsl_*|libsleef.*|libpng*|libz.*|libzstd.*) install -m 644 "$needed" "$prefix/lib/tilevm" ;;
      libLLVM*)
        echo "copy.sh: tilec is linked with $needed, which is not copied: build with --define=llvm=static" >&2
        exit 1
        ;;
    esac
  done
