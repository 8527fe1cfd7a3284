# Clang of zig, which has the headers and libraries of other systems; sourced by install.sh, ./release and third_party/glibc.
#
# shellcheck shell=bash disable=SC2034  # The version is for the scripts that source it.
zig_package=ziglang==0.15.2
