#!/usr/bin/env bash
# Unpacks Valkey's server from Debian or its backports into a folder, without installing it, and prints
# the program's path. Uses a mirror that apt already uses. redis-server has the libraries that the
# program links.
#   get-valkey.sh FOLDER
set -euo pipefail
(($# == 1)) || { echo "get-valkey.sh: give a folder" >&2; exit 2; }
scripts=$(realpath "$(dirname "$0")")
mkdir -p "$1"
cd "$1"
program=$PWD/usr/bin/valkey-server
if [[ ! -x $program ]]; then
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$("$scripts/apt-mirror.sh" "$suite-backports/InRelease")
  mkdir -p lists/partial
  # Debian 12 has it in the backports, Debian 13 in the release.
  printf 'deb %s %s main\n' "$mirror" "$suite" "$mirror" "$suite-backports" >sources.list
  apt=(apt-get -q -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User="$(id -un)")
  "${apt[@]}" update >log 2>&1 && "${apt[@]}" download valkey-server valkey-tools >>log 2>&1 ||
    { tail -3 log >&2; exit 1; }
  # A killed run leaves no half-unpacked program.
  rm -rf unpacked usr
  for package in *.deb; do dpkg-deb -x "$package" unpacked; done
  mv unpacked/usr .
fi
"$program" --version >&2
echo "$program"
