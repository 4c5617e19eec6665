#!/usr/bin/env bash
# Makes the packages for other languages, with the WebAssembly modules of this tree:
#   language-packages.sh OUT
# OUT gets bloomset-VERSION.tgz for npm, bloomset-go-VERSION.tar.gz with the Go module, bloomset-VERSION.jar, which Maven makes, and
# bloomset-VERSION.crate for cargo. Without cargo, which Debian 12 has only in an older version, the crate is left out with a line.
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
if command -v cargo >/dev/null; then
  (cd rust && cargo package --quiet --locked --no-verify --allow-dirty >&2)
  cp "rust/target/package/bloomset-$version.crate" "$out"
else
  echo "language-packages.sh: cargo is not installed, so there is no crate for Rust" >&2
fi
