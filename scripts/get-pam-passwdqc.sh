#!/usr/bin/env bash
# Unpacks PAM's module of passwdqc into a folder, without installing it, and prints its path. An installed one would
# change the rules for passwords of the whole system. The package passwdqc has the library that it links.
#   get-pam-passwdqc.sh FOLDER
set -euo pipefail
(($# == 1)) || { echo "get-pam-passwdqc.sh: give a folder" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
find_module() { find "$PWD" -path '*/security/pam_passwdqc.so' -not -path '*/unpacked/*' | head -1; }
if [[ ! $(find_module) ]]; then
  apt-get -q -o APT::Sandbox::User="$(id -un)" download libpam-passwdqc >log 2>&1 || { tail -3 log >&2; exit 1; }
  # A killed run leaves no half-unpacked module.
  rm -rf unpacked module
  dpkg-deb -x libpam-passwdqc_*.deb unpacked
  mv unpacked module
fi
find_module
