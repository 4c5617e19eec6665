#!/usr/bin/env bash
# Compiles the library, or only its planners, with the given compiler and flags, and runs
# same_bytes_main.cpp on it. Fails if one of 10,000 plans or one golden file differs.
#   same_bytes.sh plans|kernels BUILD_FOLDER RUNNER COMPILER FLAG...
# `kernels` adds the golden files, and runs the tests that compare kernels, the contract and the golden
# files' test with GoogleTest, whose sources are compiled too.
# RUNNER runs the program: "" on this machine, "qemu-aarch64 -L /usr/aarch64-linux-gnu", and so on. The
# build's own -ffp-contract=off comes after the flags, as in CMakeLists.txt.
set -euo pipefail
what=$1
folder=$2
read -ra runner <<<"$3"
compiler=("${@:4}")
root=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$folder"
mkdir -p "$folder/headers"
# Uses links, since another machine's compiler must not see the other headers of this machine.
for header in xxhash.h fmt; do
  found=$(find /usr/local/include /usr/include -maxdepth 1 -name "$header" | head -1)
  ln -s "$found" "$folder/headers/$header"
done
googletest=/usr/src/googletest/googletest
compile() {
  "${compiler[@]}" -std=c++20 -DXXH_INLINE_ALL -I"$root/include" -I"$root/src" -I"$root" \
    -isystem "$folder/headers" -ffp-contract=off -fno-fast-math "$@"
}
cd "$root/src"
golden=()
if [[ $what == plans ]]; then
  compiler+=(-DBLOOMERY_PLANS_ALONE)
  sources=(plan/*.cpp kinds/*/plan*.cpp core/fold.cpp core/format.cpp)
else
  golden=("$root/tests/golden")
  # The sources of a folder as one, as in CMakeLists.txt. Skips the kernels of another CPU family.
  sources=(registry/registry.cpp)
  for source in kinds/*/kernels/*.cpp; do [[ $source == *avx* ]] || sources+=("$source"); done
  for part in core core/siphash cpu file plan registry kinds/*; do
    one=$folder/$(basename "$part").cpp
    printf '#include "%s"\n' "$part"/*.cpp | grep -v registry/registry.cpp >"$one"
    sources+=("$one")
  done
fi
# A precompiled header of the includes that nearly every source has.
printf '#include <%s>\n' bloomery/any_filter.hpp >"$folder/common.hpp"
compile -x c++-header "$folder/common.hpp" -o "$folder/common.hpp.gch"
i=0
for source in "${sources[@]}" "$root/tests/same_bytes_main.cpp"; do
  compile -include "$folder/common.hpp" -c "$source" -o "$folder/$((i++)).o"
done
compile "$folder"/*.o -o "$folder/same_bytes" -pthread
"${runner[@]}" "$folder/same_bytes" "${golden[@]}"
[[ $what == kernels ]] || exit 0
cd "$root/tests"
tests=(kinds/*/*_kernel_test.cpp kinds/{blocked_bloom/blocked_bloom,ribbon/ribbon}_test.cpp contract_test.cpp
  golden_test.cpp identical_test.cpp)
compile_test() {
  compile -isystem "$googletest/include" -DFMT_HEADER_ONLY \
    -DBLOOMERY_GOLDEN_FOLDER="\"$root/tests/golden\"" "$@"
}
rm "$folder/$((i - 1)).o" "$folder/common.hpp.gch"  # the other program's main
printf '#include <%s>\n' gtest/gtest.h fmt/format.h bloomery/bloomery.hpp >"$folder/common.hpp"
compile_test -x c++-header "$folder/common.hpp" -o "$folder/common.hpp.gch"
for source in "${tests[@]}"; do
  compile_test -include "$folder/common.hpp" -c "$source" -o "$folder/$((i++)).o"
done
for source in gtest-all gtest_main; do
  compile_test -O0 -I"$googletest" -c "$googletest/src/$source.cc" -o "$folder/$((i++)).o"
done
compile "$folder"/*.o -o "$folder/tests" -pthread
# One layout's large batches and few sizes of ribbon are enough for an emulated CPU.
"${runner[@]}" "$folder/tests" --gtest_brief=1 \
  --gtest_filter='-*large_batches_by_region*/free:*large_batches_by_region*/parquet:ribbon.any_rate_*:ribbon.memory_*'
