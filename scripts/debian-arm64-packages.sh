#!/usr/bin/env bash
# Makes the Debian packages of the committed tree for ARM64, and tries them under qemu.
#   debian-arm64-packages.sh FOLDER
# They are cross-compiled in a bare Debian 12, which stays in build-arm64-debian/, where a second run finds it. This needs
# root and debootstrap. BLOOMSET_BARE names an archive of such a system (tests/packages/install.py).
set -euo pipefail
(($# == 1)) || { echo "debian-arm64-packages.sh: give a folder" >&2; exit 2; }
((EUID == 0)) || { echo "debian-arm64-packages.sh: needs root, for chroot and debootstrap" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")/.."
root=$PWD/build-arm64-debian
log=$out/arm64.log
trap '(($? == 0)) || tail -40 "$log" >&2' EXIT
# Runs commands of Bash in the bare system. Their processes and mounts end with them.
run() {
  unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" bash -euc "$1"' "$root" \
    'apt() { apt-get -y -q --no-install-recommends "$@"; }; export DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 HOME=/root
     export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
     cd /; '"$1" </dev/null >>"$log" 2>&1
}
: >"$log"
if [[ ! -e $root/prepared ]]; then
  rm -rf --one-file-system "$root"
  mkdir "$root"
  archive=${BLOOMSET_BARE:-$HOME/.cache/bloomset/bookworm.tar}
  if [[ -e $archive ]]; then
    tar -C "$root" -xf "$archive"
  else
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' | awk '$1 == "bookworm" {print $2; exit}')
    debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$mirror" >>"$log" 2>&1
  fi
  cp /etc/resolv.conf "$root/etc"
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) main' | sort -u | grep -E ' bookworm(-security|-updates)? ' \
    >"$root/etc/apt/sources.list"
  run 'dpkg --add-architecture arm64; apt update; apt upgrade; apt install crossbuild-essential-arm64 qemu-user'
  touch "$root/prepared"
fi
rm -rf "$root/build"
mkdir "$root/build"
git archive --prefix=tree/ HEAD | tar -C "$root/build" -x
export DEB_BUILD_OPTIONS=nocheck DEB_BUILD_PROFILES='cross nocheck'
run "apt update; apt build-dep --host-architecture arm64 ./build/tree
  export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(git log -1 --format=%ct)}
  cd build/tree; dpkg-buildpackage -us -uc -B -aarm64"
# The packages' own tests, with wrappers that run the programs under qemu.
run 'cd build; mkdir -p try/bin; export LD_LIBRARY_PATH=/build/try/usr/lib/aarch64-linux-gnu PATH=/build/try/bin:$PATH
  for each in *_arm64.deb; do dpkg-deb -x "$each" try; done
  printf "#!/bin/sh\nexec qemu-aarch64 /build/try/usr/bin/bloomset \"\$@\"\n" >try/bin/bloomset
  chmod +x try/bin/bloomset
  tree/debian/tests/command-line
  apt download python3.11-minimal:arm64 && dpkg-deb -x python3.11-minimal_*.deb try
  PYTHONHOME=/usr PYTHONPATH=/build/try/usr/lib/python3/dist-packages qemu-aarch64 try/usr/bin/python3.11 tree/debian/tests/python'
find "$root/build" -maxdepth 1 -name 'bloomset_*_arm64.*' -o -maxdepth 1 -name '*bloomset*_arm64.deb' | xargs mv -t "$out"
rm -rf "$root/build" "$log"
ls "$out"
