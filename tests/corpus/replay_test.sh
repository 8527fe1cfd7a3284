#!/usr/bin/env bash
# See replay_test.py. Without recorded launches there is nothing to compare with.
set -euo pipefail
if [ -z "${TILEVM_CORPUS:-}" ]; then
  echo "SKIPPED: recorded launches: TILEVM_CORPUS is not set"
  exit 0
fi
exec python3 "$1" "$2" "$3" "$TILEVM_CORPUS" "${@:4}"
