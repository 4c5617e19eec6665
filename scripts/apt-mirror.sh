#!/usr/bin/env bash
# Prints the first of the mirrors that apt uses that has a file, which is named from dists/ on.
#   apt-mirror.sh trixie/InRelease
set -euo pipefail
(($# == 1)) || { echo "apt-mirror.sh: give a file below dists/" >&2; exit 2; }
for uri in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u); do
  if curl -sfIL -m 20 -o /dev/null "${uri%/}/dists/$1"; then
    echo "${uri%/}"
    exit
  fi
done
echo "apt-mirror.sh: none of apt's mirrors has dists/$1" >&2
exit 1
