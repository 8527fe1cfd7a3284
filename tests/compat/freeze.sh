#!/usr/bin/env bash
# Freezes a version of the format: its schema, its operation list, and files that it writes.
#   tests/compat/freeze.sh [--again|--add] VERSION TEXT.tile...
# writes schemas/released/VERSION.{fbs,ops} and tests/compat/VERSION/*.{tile,tbc}. What is released stays as it is:
# --again replaces it and is meant for a version that nobody has got yet; --add adds files to the version that is still
# current, beside those that it has.
set -euo pipefail
cd "$(dirname "$0")/../.."

mode=
case ${1:-} in
  --again | --add)
    mode=$1
    shift
    ;;
esac
if [ $# -lt 2 ] || [[ ! $1 =~ ^[0-9]+\.[0-9]+$ ]]; then
  echo "usage: tests/compat/freeze.sh [--again|--add] VERSION TEXT.tile..." >&2
  exit 2
fi
version=$1
shift
folder=tests/compat/$version
if [ -z "$mode" ] && { [ -e "schemas/released/$version.fbs" ] || [ -e "$folder" ]; }; then
  echo "$version is frozen already" >&2
  exit 1
fi

bazel build //ir/tbc:list_ops //tests/compat:assemble
if [ "$mode" = --add ]; then
  if ! cmp schemas/tbc.fbs "schemas/released/$version.fbs" ||
    ! bazel-bin/ir/tbc/list_ops | cmp - "schemas/released/$version.ops"; then
    echo "the format is no longer that of $version" >&2
    exit 1
  fi
else
  mkdir -p "$folder"
  rm -f "$folder"/*.tbc "$folder"/*.tile
  cp schemas/tbc.fbs "schemas/released/$version.fbs"
  bazel-bin/ir/tbc/list_ops > "schemas/released/$version.ops"
fi
for text in "$@"; do
  name=$(basename "$text" .tile)
  if [ -e "$folder/$name.tbc" ]; then
    echo "$folder/$name.tbc is frozen already" >&2
    exit 1
  fi
  cp "$text" "$folder/$name.tile"
  bazel-bin/tests/compat/assemble "$text" "$folder/$name.tbc"
done
ls -l "$folder"
