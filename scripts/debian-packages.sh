#!/usr/bin/env bash
# Makes the Debian packages of the committed tree in a folder, with nothing from the network.
# 'scripts/install-packages.sh packages' installs the tools.
#   debian-packages.sh FOLDER
#   DEB_BUILD_OPTIONS='nocheck parallel=2' debian-packages.sh FOLDER     as for dpkg-buildpackage
set -euo pipefail
(($# == 1)) || { echo "debian-packages.sh: give a folder" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
git archive --prefix=tree/ HEAD | tar -C "$work" -x
(cd "$work/tree" && dpkg-buildpackage -us -uc) >"$work/tree.log" 2>&1 || { tail -40 "$work/tree.log" >&2; exit 1; }
rm "$work/tree.log"
find "$work" -maxdepth 1 -type f -exec mv -t "$out" {} +
ls "$out"
