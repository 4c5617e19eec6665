#!/usr/bin/env bash
# Makes the packages for other languages, with the WebAssembly modules of this tree:
#   language-packages.sh OUT
# OUT gets bloomset-VERSION.tgz for npm, bloomset-go-VERSION.tar.gz with the Go module, and bloomset-VERSION.jar, which Maven makes.
# 'scripts/install-packages.sh build explorer packages' installs the tools.
set -euo pipefail
(($# == 1)) || { echo "language-packages.sh: give the folder for the packages" >&2; exit 2; }
for tool in npm mvn; do
  command -v "$tool" >/dev/null || { echo "language-packages.sh: $tool is not installed" >&2; exit 2; }
done
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(bloomset VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
umask 022
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DBLOOMSET_WASM=ON -DBLOOMSET_CLI=OFF -DBLOOMSET_MODULE=OFF -DBLOOMSET_DIALECTS=OFF \
  -DBLOOMSET_KEYS=OFF -DBLOOMSET_DUCKDB=OFF -DBLOOMSET_POSTGRES=OFF -DBLOOMSET_SQLITE=OFF >"$build/log" 2>&1 || { tail -20 "$build/log" >&2; exit 1; }
cmake --build "$build" --target bloomset_packages >"$build/log" 2>&1 || { tail -20 "$build/log" >&2; exit 1; }
cd "$build/languages"
# The archives record modes and times.
find . -type d -exec chmod 755 {} + -o -exec chmod 644 {} +
npm pack --silent --ignore-scripts --pack-destination "$out" ./javascript >&2
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -c --transform "s|^go|bloomset-go-$version|" go |
  gzip -9n >"$out/bloomset-go-$version.tar.gz"
(cd java && mvn --batch-mode --quiet package -DskipTests "-Dproject.build.outputTimestamp=$SOURCE_DATE_EPOCH" >&2)
cp "java/target/bloomset-$version.jar" "$out"
