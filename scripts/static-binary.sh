#!/usr/bin/env bash
# Makes the command line as one static file for Linux, with musl.
#   static-binary.sh OUT [x86_64|aarch64]
# The compiler is zig's clang, from the Python package ziglang. Libraries are compiled from the sources of Debian's
# packages, on the mirrors that apt uses. Everything stays in build-static/, where a second run finds it.
set -euo pipefail
out=$(realpath -m "${1:?give the name of the file to make}")
cd "$(dirname "$0")/.."
cpu=${2:-x86_64}
case $cpu in
  x86_64 | aarch64) ;;
  *) echo "static-binary.sh: '$cpu' is no CPU; give x86_64 or aarch64" >&2; exit 2 ;;
esac
work=$PWD/build-static
made=$work/$cpu
mkdir -p "$work/sources" "$made/bin"
log=$made/log
trap '(($? == 0)) || { tail -30 "$log"; echo "static-binary.sh: the rest is in $log"; } >&2' EXIT
: >"$log"

if [[ ! -x $work/zig/bin/python ]]; then
  echo "== zig"
  python3 -m venv "$work/new" && "$work/new/bin/pip" install 'ziglang==0.17.*' >>"$log" 2>&1 && mv "$work/new" "$work/zig"
fi
zig=$(echo "$work"/zig/lib/python*/site-packages/ziglang/zig)
for tool in cc c++; do
  printf '#!/bin/sh\nexec "%s" %s -target %s-linux-musl "$@"\n' "$zig" $tool "$cpu" >"$made/bin/$tool"
done
for tool in ar ranlib; do
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" $tool >"$made/bin/$tool"
done
chmod +x "$made"/bin/*
export CC=$made/bin/cc CXX=$made/bin/c++ AR=$made/bin/ar RANLIB=$made/bin/ranlib CFLAGS=-O2
cat >"$made/toolchain.cmake" <<end
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $cpu)
set(CMAKE_AR $AR CACHE FILEPATH "")
set(CMAKE_RANLIB $RANLIB CACHE FILEPATH "")
set(CMAKE_FIND_ROOT_PATH $made)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} $made/lib/pkgconfig)
end

packages=(openssl libidn2 zlib libzstd xz-utils bzip2 xxhash fmtlib cli11 nlohmann-json3)
if [[ ! -e $work/sources/all ]]; then
  echo "== sources of ${packages[*]}"
  mkdir -p "$work/apt/partial"
  # Debian's security mirror lacks tarballs that its index names.
  apt-get indextargets --format 'deb-src $(REPO_URI) $(CODENAME) main' 'Created-By: Packages' | sort -u |
    grep -v security >"$work/sources.list"
  apt=(apt-get -q -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/apt"
    -o "APT::Sandbox::User=$(id -un)")
  (cd "$work/sources" && "${apt[@]}" update && "${apt[@]}" source --tar-only "${packages[@]}" && touch all) >>"$log" 2>&1
fi

# library PACKAGE COMMAND...: runs the command in a fresh copy of the source, unless it was done before.
library() {
  [[ -e $made/$1.done ]] && return
  echo "== $1"
  rm -rf "$made/source" && mkdir "$made/source"
  tar xf "$work/sources/$1"_*.orig.tar.?z* -C "$made/source" --strip-components 1
  (cd "$made/source" && "${@:2}") >>"$log" 2>&1 && touch "$made/$1.done"
}
with_cmake() {
  cmake -G Ninja -S "$1" -B "$made/source/made" -DCMAKE_TOOLCHAIN_FILE="$made/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$made" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF "${@:2}"
  cmake --build "$made/source/made"
  cmake --install "$made/source/made"
}
# Only digests and Ed25519 are used.
digests() {
  ./Configure "linux-$cpu" --prefix="$made" --libdir=lib no-shared no-module no-tests no-sock no-cms no-dh no-dsa
  make "-j$(nproc)" build_generated libcrypto.a libcrypto.pc
  mkdir -p "$made/lib/pkgconfig" "$made/include"
  cp libcrypto.a "$made/lib" && cp libcrypto.pc "$made/lib/pkgconfig" && cp -r include/openssl "$made/include"
}
idn2() {
  ./configure --host="$cpu-linux-musl" --prefix="$made" --disable-shared --disable-nls --disable-doc \
    --with-included-libunistring
  for part in gl unistring lib; do make "-j$(nproc)" -C $part; done
  make -C lib install && make install-pkgconfigDATA
}
zlib() {
  CHOST=$cpu-linux-musl ./configure --static --prefix="$made"
  make install
}
xz() {
  ./configure --host="$cpu-linux-musl" --prefix="$made" --disable-shared --disable-threads --disable-nls --disable-doc \
    --disable-xz --disable-xzdec --disable-lzmadec --disable-lzmainfo --disable-scripts
  make "-j$(nproc)" install
}
bzip2() {
  make CC="$CC" AR="$AR" RANLIB="$RANLIB" libbz2.a
  cp libbz2.a "$made/lib" && cp bzlib.h "$made/include"
}
library openssl digests
library libidn2 idn2
library zlib zlib
library libzstd with_cmake build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF
library xz-utils xz
library bzip2 bzip2
library xxhash with_cmake cmake_unofficial -DXXHASH_BUILD_XXHSUM=OFF
library fmtlib with_cmake . -DFMT_TEST=OFF -DFMT_DOC=OFF
library cli11 with_cmake . -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DCLI11_BUILD_DOCS=OFF
library nlohmann-json3 with_cmake . -DJSON_BuildTests=OFF

echo "== command line"
(cmake -G Ninja -B "$made/build" -DCMAKE_TOOLCHAIN_FILE="$made/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DBLOOMSET_C=OFF -DBLOOMSET_MODULE=OFF -DBLOOMSET_EXPLORER=OFF -DBLOOMSET_EXAMPLES=OFF -DBLOOMSET_SQLITE=OFF -DBLOOMSET_POSTGRES=OFF -DBLOOMSET_DUCKDB=OFF \
  -DCMAKE_EXE_LINKER_FLAGS="-static -s"
cmake --build "$made/build" --target bloomset_program) >>"$log" 2>&1
mkdir -p "$(dirname "$out")"
cp "$made/build/bloomset" "$out"
ls -l "$out"
