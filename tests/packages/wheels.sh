#!/usr/bin/env bash
# Runs each wheel of a folder with the interpreter for which it was made, that of ARM64 under qemu. All must make the
# same bytes.
#   wheels.sh FOLDER
set -euo pipefail
(($# == 1)) || { echo "wheels.sh: give a folder" >&2; exit 2; }
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first=
for wheel in "$1"/*.whl; do
  [[ $wheel =~ -cp3([0-9]+)-cp3[0-9]+-.*_(x86_64|aarch64)\.whl$ ]] || { echo "wheels.sh: no wheel: $wheel" >&2; exit 1; }
  version=3.${BASH_REMATCH[1]} cpu=${BASH_REMATCH[2]}
  python=$here/../../build-wheels/$version-$cpu
  "$here/../../scripts/get-cpython.sh" "$python" "$version" "$cpu"
  rm -rf "$work/site"
  python3 -m zipfile -e "$wheel" "$work/site"
  answer=$(cd "$work" && PYTHONPATH=$work/site PYTHONDONTWRITEBYTECODE=1 "$python/python" "$here/wheel.py" "$version" "$cpu")
  first=${first:-$answer}
  [[ $answer == "$first" ]] || { echo "wheels.sh: $wheel: $answer instead of $first" >&2; exit 1; }
  echo "$version $cpu: $answer"
done
