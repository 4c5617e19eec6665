#!/usr/bin/env bash
# Unpacks a version of CPython with its headers into a folder, without installing it.
#   get-cpython.sh FOLDER VERSION x86_64|aarch64
# FOLDER/usr/include/pythonVERSION has the headers, and FOLDER/python runs the interpreter with its own libc, for ARM64
# under qemu. Debian has most versions, on a mirror that apt uses. Maven Central has the others.
set -euo pipefail
(($# == 3)) || { echo "get-cpython.sh: give a folder, a version and a CPU" >&2; exit 2; }
version=$2 cpu=$3
jar=
case $version in
  3.9) suite=bullseye ;;
  3.10) suite=bookworm jar=3.10.8-1.5.8 ;;
  3.11) suite=bookworm ;;
  3.12) suite=bookworm jar=3.12.1-1.5.10 ;;
  3.13) suite=trixie ;;
  3.14 | 3.15) suite=forky ;;
  *) echo "get-cpython.sh: no source of CPython $version is known; give 3.9 to 3.15" >&2; exit 2 ;;
esac
case $cpu in
  x86_64) debian=amd64 jar_cpu=linux-x86_64 loader=lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 ;;
  aarch64) debian=arm64 jar_cpu=linux-arm64 loader= ;;
  *) echo "get-cpython.sh: '$cpu' is no CPU; give x86_64 or aarch64" >&2; exit 2 ;;
esac
[[ ! -e $1/python ]] || exit 0
# A killed run leaves no half-unpacked folder.
rm -rf "$1.part"
mkdir -p "$1.part"/{lists,archives}/partial "$1.part"/usr/{bin,lib,lib64}
scripts=$(realpath "$(dirname "$0")")
cd "$1.part"
log=$PWD/log
trap '(($? == 0)) || tail -5 "$log" >&2' EXIT
mirror=$("$scripts/apt-mirror.sh" "$suite/main/binary-$debian/Release" 2>"$log")
if [[ $jar ]]; then
  mvn -B -q dependency:copy -Dartifact="org.bytedeco:cpython:$jar:jar:$jar_cpu" -DoutputDirectory="$PWD" >>"$log" 2>&1
  python3 -m zipfile -e cpython-*.jar unpacked
  cp -r unpacked/org/bytedeco/cpython/"$jar_cpu"/. usr
  chmod +x usr/bin/*
  packages=(libc6 libcrypt1)
else
  packages=("libpython$version-dev" "python$version-minimal" "libpython$version-stdlib")
fi
: >status
echo "deb $mirror $suite main" >sources.list
apt=(apt-get -q -o APT::Architecture=$debian -o APT::Architectures::=$debian -o Dir::Etc::sourcelist="$PWD/sources.list"
  -o Dir::Etc::sourceparts=- -o Dir::State="$PWD" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD"
  -o Dir::State::lists="$PWD/lists" -o Debug::NoLocking=true -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update >>"$log" 2>&1
"${apt[@]}" install -y --download-only --no-install-recommends "${packages[@]}" >>"$log" 2>&1
ln -s usr/{bin,lib,lib64} .  # as in an installed system; packages use both names
for package in archives/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink; done
headers=usr/include/python$version
# Debian's own names the real one.
[[ ! -e usr/include/$cpu-linux-gnu/python$version/pyconfig.h ]] ||
  cp "usr/include/$cpu-linux-gnu/python$version/pyconfig.h" "$headers"
# Older versions include crypt.h, of a library that is not part of glibc any more.
sed -i '/^#define HAVE_CRYPT_H/d' "$headers/pyconfig.h"
[[ -e $headers/Python.h && -e $headers/pyconfig.h ]] || { echo "get-cpython.sh: $headers lacks Python.h" >"$log"; exit 1; }
rm -rf lists archives unpacked ./*.jar ./*.bin status
if [[ $loader ]]; then
  run="\"\$here/$loader\" --library-path \"\$here/usr/lib/$cpu-linux-gnu\""
else
  run="qemu-$cpu -L \"\$here\""
fi
cat >python <<end
#!/bin/sh
here=\$(dirname "\$(realpath "\$0")")
export PYTHONHOME="\$here/usr"
exec $run "\$here/usr/bin/python$version" "\$@"
end
chmod +x python
mv "$PWD" "${PWD%.part}"
