#!/usr/bin/env bash
# See export_test.py. Without a corpus there is nothing to export.
set -euo pipefail
if [ -z "${TILEVM_CORPUS:-}" ]; then
  echo "SKIPPED: exports of real modules: TILEVM_CORPUS is not set"
  exit 0
fi
exec python3 "$1" "$2" "$TILEVM_CORPUS" "${@:3}"
