#!/usr/bin/env bash
# Builds the API reference of the public headers with Doxygen, and fails if Doxygen warns of anything.
#   api-reference.sh [OUTPUT_DIR]     OUTPUT_DIR/html/index.html; build/api unless given
set -euo pipefail
output=${1:-$(dirname "$0")/../build/api}
mkdir -p "$output"
BLOOMSET_API_OUTPUT=$(cd "$output" && pwd)
cd "$(dirname "$0")/.."
BLOOMSET_PYTHON=$(PATH=/usr/bin:$PATH command -v python3)
export BLOOMSET_API_OUTPUT BLOOMSET_PYTHON
said=$(doxygen docs/maintain/api/Doxyfile 2>&1) || { echo "$said" >&2; exit 1; }

# Classes and functions need a comment. Name and type are enough for variables and types in a class,
# functions without arguments, constructors, destructors and operators.
warnings=$(grep . <<<"$said" |
  grep -vE 'Member .*\((variable|typedef|friend)\) of (class|struct) .* is not documented' |
  grep -vE 'Member (operator.*|\w+\(\).*) \(function\) of (class|struct) .* is not documented' |
  grep -vE 'Member (\w+)\(.* \(function\) of (class|struct) (.*::)?\1 is not documented' || true)
[[ -z $warnings ]] || { echo "$warnings" >&2; exit 1; }
echo "$output/html/index.html"
