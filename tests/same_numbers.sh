#!/usr/bin/env bash
# Compiles the planners by themselves as told and prints a hash of the 10,000 plans of plan_table.hpp for
# each kind. Fails if one differs from what is pinned there.
#   same_numbers.sh BUILD_FOLDER RUNNER COMPILER FLAG...
# RUNNER runs the program: "" on this machine, "qemu-aarch64 -L /usr/aarch64-linux-gnu", and so on. The
# build's own -ffp-contract=off comes after the flags, as in CMakeLists.txt.
set -euo pipefail
folder=$1
read -ra runner <<<"$2"
compiler=("${@:3}")
root=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$folder"
mkdir -p "$folder/headers"
# By links, since another machine's compiler must not see the other headers of this one.
for header in fmt tl xxhash.h; do
  found=$(find /usr/local/include /usr/include -maxdepth 1 -name "$header" | head -1)
  ln -s "$found" "$folder/headers/$header"
done
compile() {
  "${compiler[@]}" -std=c++20 -DFMT_HEADER_ONLY -DXXH_INLINE_ALL -I"$root/include" -I"$root/src" -I"$root" \
    -isystem "$folder/headers" -ffp-contract=off -fno-fast-math "$@"
}
i=0
for source in "$root"/src/plan/*.cpp "$root/tests/plan_table_main.cpp"; do
  compile -c "$source" -o "$folder/$((i++)).o"
done
# WebAssembly here has no exceptions; nothing in a plan throws.
if [[ " ${compiler[*]} " == *wasm32* ]]; then link=(-Wl,--unresolved-symbols=ignore-all); else link=(); fi
compile "${link[@]}" "$folder"/*.o -o "$folder/plan_table"
"${runner[@]}" "$folder/plan_table"
