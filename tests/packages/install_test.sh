#!/usr/bin/env bash
# Installs a build and uses it like a new user: through find_package and through pkg-config.
#   install_test.sh BUILD_DIR CXX
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=$1 cxx=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/usr" >/dev/null
expected=$'maybe\nno'

consumer() {
  cmake -G Ninja -S "$here/consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/usr" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_DISABLE_FIND_PACKAGE_{fmt,OpenSSL,ZLIB}="$1" >/dev/null
  cmake --build "$work/cmake" >/dev/null
}
# The core needs none of the components' libraries.
consumer TRUE
[[ $("$work/cmake/consumer") == "$expected" && ! -e $work/cmake/dialects_consumer ]] ||
  { echo "find_package, core alone: wrong answers" >&2; exit 1; }
consumer FALSE
[[ $("$work/cmake/dialects_consumer") == "$expected" ]] ||
  { echo "find_package, dialects: wrong answers" >&2; exit 1; }
if [[ -f $work/usr/include/bloomset/leveldb_filter_policy.hpp ]]; then
  [[ $("$work/cmake/leveldb_consumer") == "$expected" ]] ||
    { echo "find_package, LevelDB: wrong answers" >&2; exit 1; }
fi
[[ $("$work/cmake/keys_consumer") == "$expected" ]] ||
  { echo "find_package, keys: wrong answers" >&2; exit 1; }
example() {
  [[ $(cd "$work" && "cmake/examples/$1" "${@:3}") == "$2" ]] || { echo "examples/cpp/$1: wrong output" >&2; exit 1; }
}
seq 1000 >"$work/members.txt"
seq 1001 2000 >"$work/non-members.txt"
example two_lists $'1000 of 1000 members found\n6 of 1000 non-members pass as members: 0.60%, where 1% was requested' members.txt non-members.txt
example table_filters $'10000 lookups found 5334 keys\n61327 reads without filters, 5912 with them'
example which_table 'table by table           0 probes   21210 reads   21 found
a filter per table   21210 probes     222 reads   21 found
one index               41 probes      21 reads   21 found'
example url_deduplicator '10001 URLs, 2500 pages, 1 refused'
[[ $(cd "$work" && cmake/plain_consumer) == "$expected" ]] ||
  { echo "without exceptions and run-time type information: wrong answers" >&2; exit 1; }

pc=$(dirname "$(find "$work/usr" -name bloomset.pc)")
# Bloomset itself is linked statically, also without --static.
# shellcheck disable=SC2046  # the flags are words
"$cxx" -std=c++20 -c "$here/consumer/main.cpp" -o "$work/main.o" $(PKG_CONFIG_PATH=$pc pkg-config --cflags bloomset)
for static in "" --static; do
  # shellcheck disable=SC2046,SC2086  # the flags are words
  "$cxx" "$work/main.o" -o "$work/consumer" $(PKG_CONFIG_PATH=$pc pkg-config $static --libs bloomset)
  [[ $("$work/consumer") == "$expected" ]] || { echo "pkg-config $static: wrong answers" >&2; exit 1; }
done

c_pc() { PKG_CONFIG_PATH=$pc pkg-config "$@" bloomset-c; }
# shellcheck disable=SC2046
cc -std=c11 "$here/consumer/main.c" -o "$work/c_shared" $(c_pc --cflags --libs)
lib=$(c_pc --variable=libdir)
[[ $(LD_LIBRARY_PATH=$lib "$work/c_shared") == "$expected" ]] || { echo "C: wrong answers" >&2; exit 1; }
# The name of the shared library tells which versions are compatible, and so does CMake's package:
# versions with the same minor number.
version=$(c_pc --modversion)
minor=${version%.*}
readelf -d "$lib/libbloomset-c.so" | grep -F "[libbloomset-c.so.$minor]" >/dev/null ||
  { echo "libbloomset-c.so is not named by $minor" >&2; exit 1; }
cat >"$work/version.cmake" <<'END'
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" PACKAGE_FIND_VERSION ${asked})
set(PACKAGE_FIND_VERSION_MAJOR ${CMAKE_MATCH_1})
set(PACKAGE_FIND_VERSION_MINOR ${CMAKE_MATCH_2})
include(${file})
if(NOT PACKAGE_VERSION_COMPATIBLE STREQUAL compatible)
  message(FATAL_ERROR "CMake's package answers '${PACKAGE_VERSION_COMPATIBLE}' to who asks for ${asked}")
endif()
END
package=$(find "$work/usr" -name bloomsetConfigVersion.cmake)
other=${version%%.*}.$((${minor#*.} ? ${minor#*.} - 1 : 1))
cmake -Dfile="$package" -Dasked="$minor" -Dcompatible=TRUE -P "$work/version.cmake"
cmake -Dfile="$package" -Dasked="$other" -Dcompatible=FALSE -P "$work/version.cmake"
rm "$lib"/libbloomset-c.so*
# shellcheck disable=SC2046
cc -std=c11 "$here/consumer/main.c" -o "$work/c_static" $(c_pc --cflags --libs --static)
[[ $("$work/c_static") == "$expected" ]] || { echo "C, static: wrong answers" >&2; exit 1; }

[[ -x $work/usr/bin/bloomset ]] || { echo "the command line is not installed" >&2; exit 1; }
if [[ -f $build/explorer/index.html ]]; then
  page=$("$work/usr/bin/bloomset" explore --print)
  [[ $page == "$work/usr/"* ]] && cmp -s "$page" "$build/explorer/index.html" ||
    { echo "the explorer page is not installed where the command line looks" >&2; exit 1; }
fi
echo "installed, found and used from C++ and C"
