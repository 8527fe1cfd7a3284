#!/usr/bin/env bash
# Copies a built tilevm to where it is used from:  copy.sh PREFIX FILE...
# FILES, known by their names: libtilevm.so and tilevm, and as wanted tilec, libtilec.so, tilec-worker, libtilevm_forms.so.
# Works from the root of the repository (headers) and is what ./install runs; the result may be moved as a whole.
#
#   include/tilevm.h tilevm.hpp          bin/tilevm [tilec]
#   lib/libtilevm.so -> libtilevm.so.1   lib/pkgconfig/tilevm.pc   lib/cmake/tilevm/   [lib/libtilec.so.1]
#   [include/tilevm_forms.h              lib/libtilevm_forms.so -> libtilevm_forms.so.1]
#   lib/tilevm/                          libraries that these need and a machine may lack [tilec-worker, which libtilec starts]
set -euo pipefail
prefix=$1
shift
version=$(sed -n 's/.*kRelease\[\] = "\(.*\)".*/\1/p' ir/release.h)
[ -n "$version" ] || { echo "copy.sh: no release in ir/release.h" >&2; exit 1; }

mkdir -p "$prefix"/{bin,include,lib/pkgconfig,lib/cmake/tilevm,lib/tilevm}
install -m 644 runtime/tilevm.h runtime/tilevm.hpp "$prefix/include"
for file in "$@"; do
  name=$(basename "$file")
  case $name in
    tilevm | tilec)
      install -s -m 755 "$file" "$prefix/bin"
      continue
      ;;
    tilec-worker)
      install -s -m 755 "$file" "$prefix/lib/tilevm"
      continue
      ;;
    libtilevm.so | libtilec.so) ;;
    libtilevm_forms.so) install -m 644 runtime/forms/tilevm_forms.h "$prefix/include" ;;
    *)
      echo "copy.sh: what is $file?" >&2
      exit 1
      ;;
  esac
  install -m 755 "$file" "$prefix/lib/$name.1"
  strip --strip-unneeded "$prefix/lib/$name.1"
  [ "$name" = libtilec.so ] || ln -sfn "$name.1" "$prefix/lib/$name"
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
ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  while read -r needed; do
    case $(basename "$needed") in
      libabsl_*|libsleef.*|libpng*|libz.*|libzstd.*) install -m 644 "$needed" "$prefix/lib/tilevm" ;;
      libLLVM*)
        echo "copy.sh: tilec is linked with $needed, which is not copied: build with --define=llvm=static" >&2
        exit 1
        ;;
    esac
  done
