#!/usr/bin/env bash
# Tries a release as a new user does, on fresh installations of Debian 11, 12 and 13, which stand for machines with glibc 2.31, 2.36 and 2.41:
#   tests/install/clean_roots.sh --release=DIR [--roots=DIR] [--site=DIR] [bullseye|bookworm|trixie]...
# DIR is what ./release wrote. Roots are made by debootstrap and kept in --roots; each run writes to a layer over one, which is thrown away.
# Needs root, the network (packages of Debian and PyPI) and minutes, so it is no part of ./test. With --site=$TILEVM_SITE
# (third_party/frontends/install.sh) an unmodified program of cuTile runs where Python is the version that the folder is for.
# Prints a row for each root: the seconds from `python3 -m venv` to the first error with a line number, at most 60, the processor's seconds in
# them, how many processes wanted this machine then, and what was tried. If they were more than it has processors, the processor's seconds are judged.
set -uo pipefail
limit=60
release='' roots=${XDG_CACHE_HOME:-$HOME/.cache}/tilevm-roots site='' suites=()
for argument in "$@"; do
  case $argument in
    --release=?*) release=$(realpath -- "${argument#--release=}") ;;
    --roots=?*) roots=$(realpath -m -- "${argument#--roots=}") ;;
    --site=?*) site=$(realpath -- "${argument#--site=}") ;;
    bullseye | bookworm | trixie) suites+=("$argument") ;;
    *) echo "usage: clean_roots.sh --release=DIR [--roots=DIR] [--site=DIR] [bullseye|bookworm|trixie]..." >&2 && exit 2 ;;
  esac
done
[ -n "$release" ] || { echo "clean_roots.sh: --release=DIR is missing" >&2; exit 2; }
[ ${#suites[@]} -gt 0 ] || suites=(bullseye bookworm trixie)
[ "$(id -u)" = 0 ] || { echo "clean_roots.sh: needs root, for chroot" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "clean_roots.sh: needs debootstrap (Debian package debootstrap)" >&2; exit 2; }
cd "$(dirname "$0")/../.." || exit
wheel=$(ls "$release"/tilevm-*manylinux*.whl) archive=$(ls "$release"/tilevm-*-linux-*.tar.gz) || exit 1
failed=0

# Processor seconds of all processes that have ended. Not in a subshell, which has counters of its own.
processor_seconds() {
  times >"$layer/times"
  awk -F'[ms ]+' 'NR == 2 {print $1 * 60 + $2 + $3 * 60 + $4}' "$layer/times"
}

# in_root COMMAND: runs it as a new user would; their shell has no settings of this machine's.
in_root() {
  chroot "$root" /usr/bin/env -i HOME=/tmp PATH=/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 ${certificates:+"PIP_CERT=$certificates"} \
    bash -c "cd /trial && $1"
}

# tried NAME PATTERN COMMAND: its output has a line that matches. Errors are wanted of some, so the exit status is not asked.
tried() {
  local said
  said=$(in_root "$3" 2>&1)
  if grep -qE "$2" <<<"$said"; then
    results+=" $1"
  else
    results+=" $1:FAILED"
    failed=1
    printf '%s: %s\n%s\n' "$suite" "$3" "$said" >&2
  fi
}

try_archive() {
  tried "archive" '^c: f32\[8\]  0\.5 1\.5 2\.5 3\.5' "tar xf *.tar.gz && mv tilevm-*/ tilevm && tilevm/bin/tilevm run examples/vector_add.tile arange:f32[8] full:f32[8]=0.5"
  tried "compile" '^\.target sm_90' "tilevm/bin/tilec examples/matmul.tile --sm=90 --emit=ptx -o /dev/stdout"
}

try_wheel() {
  local start end before after
  processor_seconds >"$layer/seconds" && read -r before <"$layer/seconds"
  start=$(date +%s.%N)
  tried "broken" 'broken\.tile:[0-9]+:[0-9]+: error\[vm\.out_of_bounds\]' \
    "python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check *.whl && venv/bin/tilevm run examples/wrong/broken.tile rand:f32[1000]"
  end=$(date +%s.%N)
  processor_seconds >"$layer/seconds" && read -r after <"$layer/seconds"
  processor=$(awk "BEGIN {printf \"%.1f\", $after - $before}")
  seconds=$(awk "BEGIN {printf \"%.1f\", $end - $start}")
  busy=$(cut -d' ' -f1 /proc/loadavg)
  awk "BEGIN {exit !(($busy > $(nproc) ? $processor : $seconds) <= $limit)}" || { failed=1; results+=" :LATE"; }
  tried "vector_add" '^c: f32\[8\]  0\.5 1\.5 2\.5 3\.5' "venv/bin/tilevm run examples/vector_add.tile arange:f32[8] full:f32[8]=0.5"
  tried "histogram" '^bins: i32\[256\]' "venv/bin/tilevm run examples/histogram.tile README.md"
  tried "script" '^done$' "venv/bin/python examples/script/softmax.py && echo done"
  tried "tilec" '^\.target sm_90' "venv/bin/tilec examples/matmul.tile --sm=90 --emit=ptx -o /dev/stdout"
  tried "installed" '^(\S+/_native/\S+ ){4}$' "venv/bin/python -c \"
import os, tilevm
folders = [tilevm.get_include(), tilevm.get_library_dir(), tilevm.get_pkgconfig_dir(), tilevm.get_cmake_dir()]
files = ['tilevm.h', 'libtilevm.so.1', 'tilevm.pc', 'tilevmConfig.cmake']
print(*[p for p in map(os.path.join, folders, files) if os.path.exists(p)], '')\""
  if [ -n "$site" ] && [[ $site == */python$python/* ]]; then
    mkdir "$root/site" && mount --bind "$site" "$root/site" && mounted+=("$root/site")
    tried "cutile" 'neighbours\.py:18:12: error\[vm\.out_of_bounds\]' "PYTHONPATH=/site venv/bin/python -m tilevm.cutile examples/cutile/neighbours.py --wrong"
  else
    results+=" cutile:skipped(no packages for Python $python)"
  fi
}

mkdir -p "$roots"
exec 9>"$roots/lock"
flock --nonblock 9 || { echo "clean_roots.sh: another run makes roots in $roots" >&2; exit 1; }

printf '%-9s %-6s %-7s %-8s %-10s %-6s %s\n' root glibc Python seconds processor load tried
for suite in "${suites[@]}"; do
  base=$roots/$suite
  if [ ! -e "$base.made" ]; then
    # What an interrupted debootstrap left may have /proc mounted inside, which nobody may remove.
    while read -r mounted_at; do umount "$mounted_at" || exit 1; done < <(awk -v base="$base/" 'index($2, base) == 1 {print $2}' /proc/mounts | tac)
    rm -rf --one-file-system "$base"
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$base" >"$base.log" 2>&1 ||
      { echo "$suite: debootstrap failed: $base.log" >&2; failed=1; continue; }
    touch "$base.made"
  fi
  layer=$(mktemp -d) root=$layer/root results='' seconds=- processor=- busy=- mounted=() certificates=
  mkdir "$layer"/{new,work,root}
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$layer/new,workdir=$layer/work" "$root" && mounted+=("$root")
  mount -t proc proc "$root/proc" && mounted+=("$root/proc")
  mkdir "$root/trial"
  cp -r "$wheel" "$archive" README.md examples "$root/trial"
  cp /etc/resolv.conf "$root/etc"
  # This machine's certificates, where it has some of its own.
  [ -z "${PIP_CERT-}" ] || { certificates=/etc/ssl/machine.crt; cp -L "$PIP_CERT" "$root$certificates"; }
  python=$(in_root "python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'")
  glibc=$(in_root "ldd --version" | sed -n '1s/.* //p')
  try_archive
  try_wheel
  printf '%-9s %-6s %-7s %-8s %-10s %-6s%s\n' "$suite" "$glibc" "$python" "$seconds" "$processor" "$busy" "$results"
  for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do umount "${mounted[i]}"; done
  rm -rf "$layer"
done
echo "sizes: $(stat --format='%n %s bytes;' "$wheel" "$archive" | sed 's!.*/!!' | tr '\n' ' ')"
exit $failed
