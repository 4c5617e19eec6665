#!/usr/bin/env bash
# The Debian packages as a user of a bare Debian 12 has them. Lintian finds nothing in them. Each is installed,
# used by its scripts of debian/tests, and removed, and leaves no file. Needs root, for the bare system.
#   debian.sh              makes them in build-packages/ and tries them
#   debian.sh FOLDER       tries those that scripts/debian-packages.sh made in FOLDER
#   debian.sh --twice ...  and makes them once more, and compares the bytes
# BLOOMERY_BARE names the archive of the bare system; it is made if it is missing.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
bare=${BLOOMERY_BARE:-$HOME/.cache/bloomery/bookworm.tar}
((EUID == 0)) || { echo "debian.sh: needs root" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
quietly() { "$@" >"$work/log" 2>&1 || { tail -40 "$work/log" >&2; exit 1; }; }
die() { echo "debian.sh: $*" >&2; exit 1; }

twice=
[[ ${1-} != --twice ]] || { twice=1; shift; }
packages=$(realpath "${1-$source/build-packages}")
if (($# == 0)); then
  rm -rf "$packages"
  quietly "$source/scripts/debian-packages.sh" "$packages"
  say "packages made"
fi
if [[ $twice ]]; then
  # Compiled again, in another folder, time zone and language, and with other permissions. Not without ccache where
  # the first was compiled with it: it adds an option for precompiled headers, which debug information records.
  (umask 077 && CCACHE_RECACHE=1 TZ=Asia/Tokyo LC_ALL=C.UTF-8 quietly "$source/scripts/debian-packages.sh" "$work/again")
  for package in "$packages"/*.deb "$packages"/*.dsc; do
    cmp "$package" "$work/again/${package##*/}" || die "two builds differ"
  done
  say "made again: the same bytes"
fi

# Spelling in binaries: two strings that the linker put side by side, or machine code, read as one word.
lintian --display-info --pedantic --fail-on=error,warning,info,pedantic --suppress-tags spelling-error-in-binary \
  "$packages"/*.changes ||
  die "lintian has remarks"
say "lintian has no remarks"

mirror_of() { apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | awk -v suite="$1" '$2 == suite {print $1; exit}'; }
if [[ ! -f $bare ]]; then
  mkdir -p "$(dirname "$bare")"
  quietly debootstrap --variant=minbase --include=ca-certificates bookworm "$work/new" "$(mirror_of bookworm)"
  tar -C "$work/new" -cf "$bare.part" .
  mv "$bare.part" "$bare"
  say "the bare system made"
fi
mkdir -p "$root"
tar -C "$root" -xf "$bare"
# The machine's way to its packages, and a local one to ours. No server is started as a service.
cp -L /etc/resolv.conf "$root/etc/"
cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
for suite in bookworm bookworm-updates bookworm-security; do
  mirror=$(mirror_of "$suite")
  [[ -z $mirror ]] || echo "deb $mirror $suite main"
done >"$root/etc/apt/sources.list"
echo "deb [trusted=yes] file:/packages ./" >>"$root/etc/apt/sources.list"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
(cd "$root/packages" && dpkg-scanpackages . >Packages 2>/dev/null)
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
git -C "$source" archive --prefix=tree/ HEAD debian/tests tests/consumer | tar -C "$root" -x

# Its processes and mounts end with it.
in_root() {
  unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
    env -i DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
apt() { quietly in_root apt-get -y -q --no-install-recommends "$@"; }
files() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./var/lib/dpkg \
    -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \) -prune -o -print | sort)
}
megabytes() { du -smx --exclude=var/cache --exclude=var/lib/apt "$root" | cut -f1; }
quietly in_root update-ca-certificates
apt update
apt upgrade
say "the bare system: $(megabytes) MB"

# try PACKAGE TESTS TOOLS...: the tools of the tests first, so that the package's own files are seen.
try() {
  local package=$1 tests=$2 test before begin
  shift 2
  (($# == 0)) || apt install "$@"
  files >"$work/before"
  before=$(megabytes)
  begin=${EPOCHREALTIME/./}
  apt install "$package"
  say "$package installed in $(((${EPOCHREALTIME/./} - begin) / 1000)) ms: $(($(megabytes) - before)) MB with what it depends on"
  for test in $tests; do
    in_root sh -c "cd /tree && debian/tests/$test" >"$work/log" 2>&1 || { cat "$work/log" >&2; die "$test failed"; }
  done
  apt purge --auto-remove "$package"
  files >"$work/after"
  diff "$work/before" "$work/after" >"$work/log" || { head -20 "$work/log" >&2; die "$package left these files, or removed them"; }
  say "$package used ($tests) and removed: nothing is left"
}
try bloomery "command-line texts" man-db
try bloomery-module module redis-server
try python3-bloomery python python3
try libbloomery-dev library cmake g++ make pkgconf libleveldb-dev libsnappy-dev
in_root dpkg-query -W -f '${Package}\n' '*bloomery*' 2>/dev/null | grep . && die "packages are left"
say "size, installed size of each package"
for package in "$packages"/*.deb; do
  dpkg-deb --show --showformat '${Installed-Size} kB installed  ${Package}\n' "$package" |
    sed "s/^/$(($(stat -c %s "$package") / 1000)) kB  /"
done
