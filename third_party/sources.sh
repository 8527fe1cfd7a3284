# Sources of Debian's packages, without a change to this machine's list of archives; sourced by third_party/*/install.sh.
#
# shellcheck shell=bash

# sources_apt DIR SUITES COMMAND ARGUMENT...: runs a command of apt that knows archives of sources alone and keeps its lists in DIR. SUITES
# are those of the machine if empty; else a suite of Debian, such as sid, whose newer packages have other versions.
sources_apt() {
  local apt=$1 suites=$2 from=/etc/apt/sources.list.d/debian.sources
  shift 2
  mkdir -p "$apt/lists/partial" "$apt/sources"
  if [ -n "$suites" ]; then
    # The first archive of the machine's list, which is Debian's main one.
    if [ -f "$from" ]; then
      sed -e '/./,/^$/!d' -e '/^$/q' -e 's/^Types:.*/Types: deb-src/' -e "s/^Suites:.*/Suites: $suites/" "$from" >"$apt/sources/source.sources"
    else
      sed -n 's/^deb \(\S*\) .*/\1/p' /etc/apt/sources.list | sed -n "1s!.*!deb-src & $suites main!p" >"$apt/sources/source.list"
    fi
  elif [ -f "$from" ]; then
    sed 's/^Types:.*/Types: deb-src/' "$from" >"$apt/sources/source.sources"
  else
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/sources/source.list"
  fi
  "$1" -qq -o Dir::Etc::sourcelist=- -o "Dir::Etc::sourceparts=$apt/sources" -o "Dir::State::lists=$apt/lists" -o APT::Sandbox::User=root "${@:2}" >&2
}

# installed_source DIR PACKAGE SOURCE: unpacks the sources that an installed package was built from into DIR, and prints their folder.
installed_source() {
  local version
  version=$(dpkg-query -W -f='${source:Version}' "$2")
  (cd "$1" && sources_apt "$1/apt" "" apt-get update && sources_apt "$1/apt" "" apt-get source "$3=$version") || return
  echo "$1/$3"-*/
}
