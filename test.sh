#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test: unit, contract, property, rate, golden,
# hostile, crash, command line, documentation and installation. Then runs the library's suites and
# the fuzz targets under the address and undefined-behaviour sanitizers, and the tests of threads
# under the thread sanitizer.
#   ./test.sh            everything
#   ./test.sh --lint     everything, and clang-tidy over the sources (slow)
#   FUZZ_SECONDS=600 ./test.sh     fuzzes each target for that long (default 1)
set -euo pipefail
cd "$(dirname "$0")"

scripts/install-packages.sh build sanitizers
log=$(mktemp)
more=$(mktemp)
trap 'wait; rm -f "$log" "$more"' EXIT
quietly() { "$@" >"$log" 2>&1 || { tail -60 "$log"; exit 1; }; }
# The others are needed later, so they are installed while the first builds run.
prepare() {
  scripts/install-packages.sh test explorer browser
  scripts/get-postgres-headers.sh build/postgres-headers >/dev/null || echo "PostgreSQL's extension is left out"
  scripts/get-duckdb-headers.sh build/duckdb-headers >/dev/null || echo "DuckDB's extension is left out"
  cmake --preset test >/dev/null
}
prepare >"$more" 2>&1 &
preparing=$!
say() { printf '\n== %s\n' "$*"; }

say "format"
# Another version breaks lines differently.
if command -v clang-format-19 >/dev/null; then
  git ls-files -z '*.hpp' '*.cpp' '*.inl' | xargs -0 clang-format-19 --dry-run -Werror
  echo "clang-format-19 changes nothing"
else
  echo "SKIPPED: clang-format-19 is not installed"
fi

say "build (clang, address and undefined-behaviour sanitizers)"
quietly cmake --preset sanitize
quietly nice cmake --build build-sanitize  # the packages first
echo "build-sanitize/"

say "build (clang, thread sanitizer)"
quietly cmake --preset tsan
quietly cmake --build build-tsan --target bloomset_thread_tests
echo "build-tsan/"

wait "$preparing" || { tail -60 "$more"; exit 1; }
cat "$more"
say "build (g++, Release, warnings are errors)"
quietly cmake --build build
echo "build/bloomset"

if [[ ${1-} == --lint ]]; then
  say "clang-tidy"
  scripts/install-packages.sh lint
  tidy=$(sed -n 's/^BLOOMSET_CLANG:FILEPATH=\(.*\)clang++/\1clang-tidy/p' build-sanitize/CMakeCache.txt)
  # It reads each source by itself, without the precompiled headers of a build.
  quietly cmake --preset sanitize -B build-lint -DCMAKE_UNITY_BUILD=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  git ls-files -z 'src/*.cpp' 'dialects/*.cpp' 'keys/*.cpp' 'teach/*.cpp' 'cli/*.cpp' 'integrations/redis/*.cpp' | xargs -0 -n 4 -P "$(nproc)" "$tidy" --quiet -p build-lint
fi

export FUZZ_SECONDS=${FUZZ_SECONDS:-1}
run_tests() {
  # Two more tests than cores at a time, since tests of servers and programs often wait.
  ctest --test-dir "$1" --output-on-failure --parallel "$(($(nproc) + 2))" "${@:2}" >"$log" 2>&1 || {
    grep -vE '^ *Start +[0-9]+: | Passed +[0-9.]+ sec$' "$log" | tail -300
    exit 1
  }
  tail -4 "$log"
  # Prints the tests that were left out, of pytest and GoogleTest, and the reason.
  sed -n '/^SKIPPED/p; /: Skipped$/{N;s/\(.*\)\n/SKIPPED \1: /p}' "$1/Testing/Temporary/LastTest.log" | sort -u
}

say "tests under the thread sanitizer"
run_tests build-tsan -R thread_tests --no-tests=error

say "tests and fuzz targets under the address and undefined-behaviour sanitizers"
run_tests build-sanitize

say "tests, with the module on Valkey"
# The tests of the module ran on Redis under the sanitizers.
if valkey=$(scripts/get-valkey.sh build/valkey 2>"$log"); then
  export BLOOMSET_SERVER=$valkey
else
  echo "on Redis: Valkey could not be fetched"
fi
cat "$log"
run_tests build
