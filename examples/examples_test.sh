#!/usr/bin/env bash
# See examples_test.py. Debian's Python, because that is the one with Debian's NumPy.
exec /usr/bin/python3 "$@"
