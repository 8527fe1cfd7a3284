#!/usr/bin/env bash
# The package's tests with its extension under AddressSanitizer:  asan_test.sh PYTHON [PYTEST ARGUMENT]...
# PYTHON has the wheel, pytest and whatever else tests need installed. The package is used where it is, but for the extension and the handler
# for JAX, which are compiled here. Leaks are not looked for: the interpreter keeps memory, and tests/test_leaks.py does that.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: asan_test.sh PYTHON [PYTEST ARGUMENT]..." >&2; exit 2; }
python=$1
shift
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$(cd / && "$python" -c 'import os, tilevm; print(os.path.dirname(tilevm.__file__))')
cp -rs "$package" "$work/tilevm"
rm "$work/tilevm/_tilevm.abi3.so" "$work/tilevm/_jax_ffi.so"
cc -std=c11 -O1 -g -fsanitize=address -fno-omit-frame-pointer -fPIC -shared -Wno-missing-field-initializers \
  "-I$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')" "-I$package/_native/include" "-iquote$here/.." "$here"/ext/*.c "$here"/ext/*/*.c \
  "-L$package/_native/lib" -l:libtilevm.so.1 -l:libtilevm_forms.so.1 "-Wl,-rpath,$package/_native/lib" -o "$work/tilevm/_tilevm.abi3.so"
cc -std=c11 -D_GNU_SOURCE -O1 -g -fsanitize=address -fno-omit-frame-pointer -fPIC -fvisibility=hidden -shared -Wno-missing-field-initializers \
  "-I$package/_native/include" "$here"/jax_ffi/*.c "-L$package/_native/lib" -l:libtilevm.so.1 "-Wl,-rpath,$package/_native/lib" -pthread \
  -o "$work/tilevm/_jax_ffi.so"
export PYTHONPATH=$work LD_PRELOAD ASAN_OPTIONS=detect_leaks=0:log_path=$work/asan TILEVM_EXAMPLES=${TILEVM_EXAMPLES:-$here/../examples}
LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libstdc++.so)" # torch throws, and asan looks for that at once
status=0
(cd "$work" && "$python" -m pytest -q -p no:cacheprovider --rootdir="$here/tests" "$@" "$here/tests") || status=$?
# Of child processes, too.
if compgen -G "$work/asan.*" >/dev/null; then
  cat "$work"/asan.*
  exit 1
fi
exit "$status"
