#!/usr/bin/env bash
# Compiles Bloomset with other compilers, where warnings are errors, and prints one line for each.
#   compilers.sh                   every g++-NN and clang++-NN that is installed
#   compilers.sh g++-14 clang++-22
#   compilers.sh --headers ...     only the examples of headers, in a minute
# 'scripts/install-packages.sh build compilers' installs all that apt has. Each compiler makes the library and the
# command line, which a short test runs. It also compiles the examples of all headers as C++20, C++23 and C++26.
# Builds stay in build-compilers/.
set -euo pipefail
cd "$(dirname "$0")/.."
headers_only=
if [[ ${1-} == --headers ]]; then headers_only=1; shift; fi
compilers=("$@")
(($#)) || mapfile -t compilers < <(compgen -c | grep -xE '(g|clang)\+\+-[0-9]+' | sort -uV)
((${#compilers[@]})) || { echo "compilers.sh: there is no g++-NN or clang++-NN" >&2; exit 2; }
root=$PWD/build-compilers
mkdir -p "$root"
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
includes=(-I. -Iinclude -Idialects/include -Ikeys/include -Iintegrations/c/include)
python3 tests/source/header_examples.py "$root/examples.cpp" "$PWD"/{include/bloomset,dialects/include,keys/include,integrations/c/include}

failed=0
for compiler in "${compilers[@]}"; do
  build=$root/$compiler
  log=$build.log
  : >"$log"
  said=()
  try() {
    local name=$1
    shift
    if "$@" >>"$log" 2>&1; then said+=("$name"); else said+=("$name FAILED") failed=1; fi
  }
  if [[ ! $headers_only ]]; then
    try configuration cmake -G Ninja -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
      -DBLOOMSET_WERROR=ON -DBLOOMSET_EXPLORER=OFF
    try library cmake --build "$build" --target bloomset
    try "command line" cmake --build "$build" --target bloomset_program
    try test env PATH="$build:$PATH" debian/tests/command-line
  fi
  for standard in 20 23 26; do
    if ! "$compiler" -std=c++$standard -x c++ -E /dev/null >/dev/null 2>&1; then
      said+=("no C++$standard")
      continue
    fi
    try "C++$standard" "$compiler" -std=c++$standard -fsyntax-only "${warnings[@]}" "${includes[@]}" "$root/examples.cpp"
  done
  printf '%-12s %s\n' "$compiler" "$(IFS=,; echo "${said[*]}" | sed 's/,/, /g')"
done
((!failed)) || { echo "compilers.sh: $root/COMPILER.log has the messages" >&2; exit 1; }
