#!/usr/bin/env bash
# Builds the documentation site from the pages of the repository:  docs/site/build.sh OUT
#   OUT/html/index.html is the front page; `python3 -m http.server -d OUT/html` shows it, search included.
# Nothing is loaded from other hosts: scripts, styles and fonts are the site's or the reader's. Warnings are errors, and so is a link
# that leads nowhere. Needs python3-venv and, once, PyPI.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: docs/site/build.sh OUT" >&2; exit 2; }
out=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
python=$(docs/site/install.sh "${XDG_CACHE_HOME:-$HOME/.cache}/tilevm-docs")
rm -rf "$out/pages" "$out/html"
"$python" docs/site/assemble.py "$out/pages"
# Material's notice about releases to come is no warning about these pages.
TILEVM_PAGES="$out/pages" TILEVM_HTML="$out/html" NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true \
  "$python" -m mkdocs build --strict --quiet --config-file docs/site/mkdocs.yml
"$python" docs/site/check_html.py "$out/html"
echo "$out/html/index.html"
