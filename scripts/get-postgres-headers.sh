#!/usr/bin/env bash
# Unpacks the headers of PostgreSQL's server into a folder, without installing them, and prints their
# folder. The package itself depends on the whole of clang and LLVM.
#   get-postgres-headers.sh FOLDER
# CMake looks into build/postgres-headers.
set -euo pipefail
(($# == 1)) || { echo "get-postgres-headers.sh: give a folder" >&2; exit 2; }
# Of the server that is installed, or else of the one that apt would install.
version=$({ ls /usr/lib/postgresql 2>/dev/null || apt-cache depends postgresql | grep -oP 'postgresql-\K[0-9]+$'; } | sort -n | tail -1)
[[ $version ]] || { echo "get-postgres-headers.sh: PostgreSQL is not installed, and apt has none" >&2; exit 1; }
package=postgresql-server-dev-$version
installed=/usr/include/postgresql/$version/server
if [[ -e $installed/postgres.h ]]; then
  echo "$installed"
  exit
fi
mkdir -p "$1"
cd "$1"
headers=$PWD$installed
if [[ ! -e $headers/postgres.h ]]; then
  apt-get -q -o APT::Sandbox::User="$(id -un)" download "$package" >log 2>&1 || { tail -3 log >&2; exit 1; }
  # A killed run leaves no half-unpacked headers.
  rm -rf unpacked usr
  dpkg-deb -x "$package"_*.deb unpacked
  mv unpacked/usr .
fi
echo "$headers"
