#!/usr/bin/env bash
# Builds the wheel, installs it into an environment of its own, and runs the tests there:  python_test.sh [TILEC]
# With TILEC, only those that need the compiler. The cases are in the XML file that Bazel asks for.
set -euo pipefail
if [ "${1-}" = --skip=a-sanitizer ]; then
  echo "SKIPPED: built with a sanitizer"
  exit 0
fi
work=$TEST_TMPDIR
root=$PWD
runtime/package/copy.sh "$work/prefix" runtime/shared/libtilevm.so runtime/forms/shared/libtilevm_forms.so tools/tilevm/tilevm
wheel=$(/usr/bin/python3 python/build_wheel.py --prefix="$work/prefix" --out="$work")
/usr/bin/python3 tests/install/symbol_versions.py "$wheel"
if /usr/bin/python3 tests/install/symbol_versions.py --glibc=2.5 "$wheel" >/dev/null; then
  echo "FAILED: symbol_versions.py finds no symbol newer than glibc 2.5" >&2
  exit 1
fi

# NumPy, pytest and mypy are those of the system; cuTile and torch, and their NumPy, come from TILEVM_SITE, if that is set.
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
if [ -n "${TILEVM_SITE-}" ]; then
  echo "import sys; sys.path.insert(1, '$TILEVM_SITE')" >"$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/frontends.pth"
fi
"$work/venv/bin/pip" install --quiet --no-index --no-deps --disable-pip-version-check "$wheel"

options=()
if [ $# -gt 0 ]; then
  TILEVM_TILEC=$(realpath "$1")
  export TILEVM_TILEC
  options=(-k "compile or test_commands")
fi
if [ -x tests/device/embed_image ]; then # a GPU that a driver for tests plays
  tests/device/embed_image examples/vector_add.tile "$work/vector_add.tbc" sm_90a
  export TILEVM_FAKE_CUDA=$root/runtime/cuda/libfake_cuda.so TILEVM_FAKE_MODULE=$work/vector_add.tbc
fi
cd "$work" # so that the package is the installed one
export TILEVM_EXAMPLES=$root/examples HOME=$work
status=0
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir="$root/python/tests" --junitxml="$work/results.xml" \
  "${options[@]}" "$root/python/tests" || status=$?
if [ -n "${XML_OUTPUT_FILE-}" ]; then cp "$work/results.xml" "$XML_OUTPUT_FILE"; fi
exit "$status"
