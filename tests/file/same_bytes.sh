#!/usr/bin/env bash
# Compiles the library, or only its planners, with the given compiler and flags, and runs
# same_bytes_main.cpp on it. Fails if one of 10,000 plans or one golden file differs.
#   same_bytes.sh plans|kernels BUILD_FOLDER RUNNER COMPILER FLAG...
# `kernels` adds the golden files, and runs the tests that compare kernels and the golden files' test with
# GoogleTest, whose sources are compiled too.
# RUNNER runs the program: "" on this machine, "qemu-aarch64 -L /usr/aarch64-linux-gnu", and so on. The
# build's own -ffp-contract=off comes after the flags, as in CMakeLists.txt.
set -euo pipefail
what=$1
folder=$2
read -ra runner <<<"$3"
compiler=("${@:4}")
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$folder"
mkdir -p "$folder/headers"
# Uses links, since another machine's compiler must not see the other headers of this machine.
for header in xxhash.h fmt; do
  found=$(find /usr/local/include /usr/include -maxdepth 1 -name "$header" | head -1)
  ln -s "$found" "$folder/headers/$header"
done
compile() {
  "${compiler[@]}" -std=c++20 -DXXH_INLINE_ALL -I"$root/include" -I"$root/src" -I"$root" \
    -isystem "$folder/headers" -ffp-contract=off -fno-fast-math "$@"
}
objects=()
# unit COMPILE SOURCE...: compiles sources as one, as CMakeLists.txt does with those of a folder.
unit() {
  local name=$folder/${#objects[@]}
  printf '#include "%s"\n' "${@:2}" >"$name.cpp"
  "$1" -c "$name.cpp" -o "$name.o"
  objects+=("$name.o")
}
# run PROGRAM ARGUMENT...
run() {
  compile "${objects[@]}" -o "$folder/$1" -pthread
  "${runner[@]}" "$folder/$1" "${@:2}"
}
cd "$root"
if [[ $what == plans ]]; then
  compiler+=(-DBLOOMSET_PLANS_ALONE)
  unit compile src/plan/*.cpp src/core/{fold,format,pattern}.cpp
  for plan in src/kinds/*/plan.cpp; do unit compile "${plan%.cpp}"*.cpp; done
  unit compile tests/file/same_bytes_main.cpp
  run same_bytes
  exit
fi

# The includes that nearly every source has, precompiled.
headers=$folder/common.hpp
echo "#include <bloomset/any_filter.hpp>" >"$headers"
compile -x c++-header "$headers" -o "$headers.gch"
compile_library() { compile -include "$headers" "$@"; }
for kernels in src/kinds/*/kernels/{scalar,neon}.cpp; do unit compile_library "$kernels"; done
for part in src/{core,cpu,file,plan,registry} src/kinds/*; do unit compile_library "$part"/*.cpp; done
unit compile_library tests/file/same_bytes_main.cpp
run same_bytes tests/golden
unset 'objects[-1]'  # the program's main

googletest=/usr/src/googletest/googletest
compile_tests() {
  compile -isystem "$googletest/include" -DFMT_HEADER_ONLY -DBLOOMSET_GOLDEN_FOLDER='"tests/golden"' "$@"
}
compile_googletest() { compile -O0 -I"$googletest/include" -I"$googletest" "$@"; }
unit compile_tests tests/kinds/*/*_kernel_test.cpp \
  tests/kinds/{blocked_bloom/blocked_bloom,ribbon/ribbon,retrieval/retrieval}_test.cpp tests/file/golden_test.cpp tests/laws/identical_test.cpp
unit compile_googletest src/gtest-all.cc src/gtest_main.cc
# One layout's large batches and few sizes of ribbon and retrieval are enough for an emulated CPU.
left_out='*large_batches_by_region*/free:*large_batches_by_region*/parquet:ribbon.any_rate_*:ribbon.memory_*'
left_out+=':retrieval.*_million_*:retrieval.overhead_*:retrieval.thousands_*:retrieval.other_*'
run tests --gtest_brief=1 --gtest_filter="-$left_out"
