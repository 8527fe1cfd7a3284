# Debian packages, by purpose, and a function that installs those that are missing.
# Sourced by ./quickstart and ./test; the one place where packages are listed.
#
# shellcheck shell=bash disable=SC2034  # The lists are for the scripts that source it.

# To build the VM and its tools.
packages_vm="bazel-bootstrap g++ libabsl-dev flatbuffers-compiler libflatbuffers-dev libsleef-dev libpng-dev zlib1g-dev"

# To build and run the tests.
packages_test="libgtest-dev libgmock-dev libbenchmark-dev libmpfr-dev git python3 python3-numpy"

# To build the Python package, and to test it.
packages_python="python3-dev"
packages_python_test="python3-venv python3-pytest python3-yaml mypy neovim"

# To check the style of the sources.
packages_style="shellcheck clang-format-14 codespell"

# To look for mistakes in what a change touches; continuous integration only.
packages_tidy="clang-tidy-14"

# To build tilec: LLVM with the NVPTX target (Debian 12 has it in its security archive).
packages_codegen="llvm-22-dev libzstd-dev"

# To build what ./release publishes: a linker, a virtual environment for tools of PyPI, sources of Debian's packages.
packages_release="lld python3-venv dpkg-dev unzip"

# To build for AArch64 on x86-64, and to run what was built.
packages_aarch64="g++-aarch64-linux-gnu qemu-user"

# For --config=fuzz only; the other sanitizers come with g++.
packages_fuzz="clang-22 libclang-rt-22-dev"

# install_packages NAME...: installs what is missing; touches nothing if all are present.
install_packages() {
  local name missing=()
  for name in "$@"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
      missing+=("$name")
    fi
  done
  [ ${#missing[@]} -eq 0 ] && return 0

  echo "Installing: ${missing[*]}"
  if ! command -v apt-get >/dev/null; then
    echo "error: this script installs packages with apt-get, which is not here." >&2
    echo "Install what the packages above give in your system's own way, then build with bazel." >&2
    return 1
  fi
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "error: installing needs root, and there is no sudo. Run as root:" >&2
      echo "  apt-get update && apt-get install ${missing[*]}" >&2
      return 1
    fi
    sudo=(sudo)
  fi
  local log
  log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update &&
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
             apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "error: apt-get failed (all of its output: $log)." >&2
    echo "Check the network and the package sources, then run this script again." >&2
    return 1
  fi
  rm -f "$log"
}
