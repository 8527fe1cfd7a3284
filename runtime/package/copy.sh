#!/usr/bin/env bash
# Copies a built tilevm to where it is used from:  copy.sh PREFIX FILE...
# FILES, known by their names: libtilevm.so and tilevm, and as wanted tilec, libtilec.so, tilec-worker, libtilevm_forms.so,
# libtilevm-ir.a.
# Works from the root of the repository (headers) and is what ./install runs; the result may be moved as a whole.
# For another machine CC is the cross compiler, LDFLAGS say where it finds libraries, and EMULATOR is the command that runs programs.
#
#   include/tilevm.h tilevm.hpp tilevm_tvm_ffi.h   bin/tilevm [tilec]
#   lib/libtilevm.so -> libtilevm.so.1   lib/pkgconfig/tilevm.pc   lib/cmake/tilevm/   [lib/libtilec.so.1]
#   [include/tilevm_forms.h              lib/libtilevm_forms.so -> libtilevm_forms.so.1]
#   lib/tilevm/                          libraries that these need and a machine may lack [tilec-worker, which libtilec starts]
#   share/tilevm/                        for frontends: tbc.fbs, FORMAT.md, text.md, operations.md, operations.json
#   share/man, share/bash-completion, share/zsh
#   [include/tilevm-ir/                  the C++ builder: lib/libtilevm-ir.a lib/pkgconfig/tilevm-ir.pc]
set -euo pipefail
prefix=$1
shift
version=$(sed -n 's/.*kRelease\[\] = "\(.*\)".*/\1/p' ir/release.h)
[ -n "$version" ] || { echo "copy.sh: no release in ir/release.h" >&2; exit 1; }
builder_headers="ir/arena.h ir/attr.h ir/builder.h ir/diagnostic.h ir/element.h ir/elements.def ir/enums.def ir/fields.def
  ir/formats.def ir/interface.h ir/module.h ir/op_info.h ir/ops.def ir/ops.h ir/type.h ir/verify/verify.h ir/tbc/image.h
  ir/tbc/reader.h
  ir/tbc/sha256.h ir/tbc/version.h ir/tbc/writer.h ir/text/parser.h ir/text/printer.h"

# The compiler knows the binutils and the libraries of the machine that it compiles for.
compiler=${CC:-cc}
strip=$("$compiler" -print-prog-name=strip)
read -ra emulator <<<"${EMULATOR-}"
read -ra link_options <<<"${LDFLAGS-}"

# needed_libraries FILE...: prints the paths of the shared libraries of Debian that these need, and those that they need in turn.
needed_libraries() {
  local file name path found=''
  local -a todo=("$@")
  while [ ${#todo[@]} -gt 0 ]; do
    file=${todo[0]}
    todo=("${todo[@]:1}")
    while read -r name; do
      case $name in
        libabsl_*|libsleef.*|libpng*|libz.*|libzstd.*|libLLVM*) ;;
        *) continue ;;
      esac
      [[ " $found " != *" $name "* ]] || continue
      found+=" $name"
      # The compiler answers with the name alone where it finds no file.
      path=$("$compiler" "${link_options[@]}" -print-file-name="$name")
      [ -f "$path" ] || { echo "copy.sh: $file needs $name, which is not here" >&2; return 1; }
      echo "$path"
      todo+=("$path")
    done < <(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  done
}

mkdir -p "$prefix"/{bin,include,lib/pkgconfig,lib/cmake/tilevm,lib/tilevm}
install -m 644 runtime/tilevm.h runtime/tilevm.hpp runtime/tilevm_tvm_ffi.h "$prefix/include"
tools=()
builder=
for file in "$@"; do
  name=$(basename "$file")
  case $name in
    tilevm | tilec)
      install -s --strip-program="$strip" -m 755 "$file" "$prefix/bin"
      tools+=("$file")
      continue
      ;;
    libtilevm-ir.a)
      builder=$file
      continue
      ;;
    tilec-worker)
      install -s --strip-program="$strip" -m 755 "$file" "$prefix/lib/tilevm"
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
  "$strip" --strip-unneeded "$prefix/lib/$name.1"
  [ "$name" = libtilec.so ] || ln -sfn "$name.1" "$prefix/lib/$name"
done
for tool in "${tools[@]}"; do
  name=$(basename "$tool")
  man=$prefix/share/man/man1 bash=$prefix/share/bash-completion/completions zsh=$prefix/share/zsh/site-functions
  mkdir -p "$man" "$bash" "$zsh"
  "${emulator[@]}" "$tool" manual > "$man/$name.1"
  "${emulator[@]}" "$tool" completion bash > "$bash/$name"
  "${emulator[@]}" "$tool" completion zsh > "$zsh/_$name"
done

# What a frontend needs to know.
share=$prefix/share/tilevm
mkdir -p "$share"
install -m 644 schemas/tbc.fbs schemas/FORMAT.md docs/text.md docs/operations.md "$share"
"${emulator[@]}" "$prefix/bin/tilevm" ops --json > "$share/operations.json"
if [ -n "$builder" ]; then
  headers=$prefix/include/tilevm-ir
  rm -rf "$headers"
  # The headers that its interface consists of; the rest of ir/ is nobody else's business.
  for file in $builder_headers; do
    mkdir -p "$headers/$(dirname "$file")"
    install -m 644 "$file" "$headers/$file"
  done
  install -m 644 "$builder" "$prefix/lib/libtilevm-ir.a"
fi
for file in tilevm.pc.in ${builder:+tilevm-ir.pc.in} tilevmConfigVersion.cmake.in; do
  case $file in
    *.pc.in) to=lib/pkgconfig ;;
    *) to=lib/cmake/tilevm ;;
  esac
  sed "s/@VERSION@/$version/" "runtime/package/$file" > "$prefix/$to/${file%.in}"
done
install -m 644 runtime/package/tilevmConfig.cmake "$prefix/lib/cmake/tilevm"

# All but what every system with the C++ library has, and LLVM, which tilec is linked with for an installation.
rm -f "$prefix"/lib/tilevm/*.so*
programs=()
while IFS= read -r -d '' file; do programs+=("$file"); done < \
  <(find "$prefix/bin" "$prefix/lib" -type f \( -name '*.so.1' -o -perm -u+x \) -print0 | sort -z)
needed=$(needed_libraries "${programs[@]}")
for file in $needed; do
  case $(basename "$file") in
    libLLVM*)
      echo "copy.sh: tilec is linked with $file, which is not copied: build with --define=llvm=static" >&2
      exit 1
      ;;
  esac
  install -m 644 "$file" "$prefix/lib/tilevm"
done
