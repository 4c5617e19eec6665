#!/usr/bin/env bash
# Installs the Debian packages that are missing, as root or through sudo, and says which.
#   install-packages.sh build|sanitizers|test|explorer|browser|lint|bench|peers|boost|compilers|packages ...
#
# Debian 12, Debian 13 and Ubuntu name some packages differently, so a list below may give alternatives:
#   A|B        A if it is installed, else B if it is; else the first of both that apt has
#   clang-#    the same for the versions of cmake/clang-versions.txt. All packages have one version.
#   A?         A if apt has it
set -euo pipefail

build=(g++ cmake ninja-build pkg-config libxxhash-dev libfmt-dev libssl-dev
  libcli11-dev nlohmann-json3-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libidn2-dev wamerican-insane)
# With build: what the builds with sanitizers need.
sanitizers=(libgtest-dev librapidcheck-dev clang-# clang-format-# libclang-rt-#-dev python3 libleveldb-dev
  libsnappy-dev libsqlite3-dev libcurl4-openssl-dev nginx-light)
test=("${sanitizers[@]}" python3-pytest python3-dev pybind11-dev python3-numpy python3-pip mypy zsh fish
  gzip zstd lz4 man-db groff golang-github-dcso-bloom-cli passwdqc squid curl redis-server python3-redis python3-mpmath
  g++-aarch64-linux-gnu qemu-user doxygen abigail-tools sqlite3 postgresql default-jre-headless minisign)
# DuckDB, whose Parquet files are tested, and clients of Redis are packages of npm. Node's own packages
# bring npm along.
command -v npm >/dev/null || test+=(nodejs npm)
# The page's WebAssembly, and the browser that its tests drive.
explorer=(clang-# lld-# wasi-libc libc++-#-dev-wasm32 libclang-rt-#-dev-wasm32)
command -v npm >/dev/null || explorer+=(nodejs npm)
browser=(chromium chromium-driver python3-selenium)
lint=(clang-tidy-#)
bench=(golang-github-dcso-bloom-cli time)
# What the benchmark compares with, and the rest of Boost for a checkout of Boost.Bloom. The libboost-dev of
# Debian 12 is too old.
peers=(libcereal-dev libsimde-dev libtbb-dev zstd xdelta3 bsdiff python3 python3-numpy python3-bitarray python3-flor libbloom-dev librocksdb-dev libleveldb-dev)
boost=('libboost1.81-dev|libboost-dev')
# With build: every compiler that scripts/compilers.sh tries.
compilers=(python3 {g++-{12..16},clang-{16..22}}'?')
# With build: Debian packages, the bare system in which they are tried, and wheels. JavaCPP's packages of Maven have some
# versions of CPython.
packages=(build-essential debhelper dpkg-dev dh-python python3-dev pybind11-dev libleveldb-dev libsnappy-dev lintian debootstrap
  minisign python3-venv curl qemu-user maven)

wanted=()
for group in "$@"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    sanitizers) wanted+=("${sanitizers[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    explorer) wanted+=("${explorer[@]}") ;;
    browser) wanted+=("${browser[@]}") ;;
    lint) wanted+=("${lint[@]}") ;;
    bench) wanted+=("${bench[@]}") ;;
    peers) wanted+=("${peers[@]}") ;;
    boost) wanted+=("${boost[@]}") ;;
    compilers) wanted+=("${compilers[@]}") ;;
    packages) wanted+=("${packages[@]}") ;;
    *) echo "install-packages.sh: '$group' is no group; give build, sanitizers, test, explorer, browser, lint, bench, peers, boost, compilers or packages" >&2; exit 2 ;;
  esac
done

read -ra clang_versions < <(tail -1 "$(dirname "$0")/../cmake/clang-versions.txt")
if ! command -v apt-get >/dev/null; then
  plain=("${wanted[@]##*|}")
  plain=("${plain[@]%\?}")
  echo "install-packages.sh: this system has no apt, so install what these packages of Debian contain, then build with CMake" \
    "(docs/start/install.md): ${plain[*]//#/${clang_versions[0]}}" >&2
  exit 2
fi
installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
# The exit status is 0 for a name that only occurs in other packages, too.
in_apt() { [[ $(apt-cache show --no-all-versions "$1" 2>/dev/null) ]]; }
# The first name that fulfils a condition, or nothing.
first() {
  local condition=$1 name
  for name in "${@:2}"; do
    ! "$condition" "$name" || { echo "$name"; return; }
  done
}
clang=$(first installed "${clang_versions[@]/#/clang-}")
clang=${clang#clang-}
# Sets `missing` to packages that are to be installed, and `unknown` and `optional` to those that apt does not have.
find_missing() {
  local package alternatives name
  missing=() unknown=() optional=()
  for package in "${wanted[@]}"; do
    [[ $package != *'#'* || $clang ]] || { unknown+=("$package"); continue; }
    name=${package//#/$clang}
    IFS='|' read -ra alternatives <<<"${name%\?}"
    [[ ! $(first installed "${alternatives[@]}") ]] || continue
    name=$(first in_apt "${alternatives[@]}")
    if [[ $name ]]; then
      missing+=("$name")
    elif [[ $package == *'?' ]]; then
      optional+=("$package")
    else
      unknown+=("$package")
    fi
  done
}
find_missing
((${#missing[@]} + ${#unknown[@]} + ${#optional[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "These packages are missing; install them as root: ${missing[*]} ${unknown[*]//#/${clang_versions[0]}}" >&2
    exit 2
  }
  as_root=(sudo)
fi
log=$(mktemp)
progress=$(dirname "$0")/progress.sh
# Debian's way to install a server without starting it as a service: an answer of 101 from this file.
# It answers so to the apt-get below alone, by a variable that apt-get hands on, so that it forbids
# nothing else if this script is killed and cannot remove it; the next run then does. A file of
# somebody else's is left alone. (The test has the file elsewhere.)
policy=${BLOOMSET_POLICY_FILE:-/usr/sbin/policy-rc.d}
ours() { [[ -e $policy ]] && grep -q BLOOMSET_INSTALLS "$policy"; }
trap 'rm -f "$log"; ! ours || "${as_root[@]}" rm -f "$policy"' EXIT
if [[ ! -e $policy ]] || ours; then
  printf '#!/bin/sh\n[ -z "$BLOOMSET_INSTALLS" ] || exit 101\n' >"$log"
  "${as_root[@]}" install -m 755 "$log" "$policy"
fi
# On a terminal, apt's progress is one line that changes.
progress() {
  local words total= size doing
  local -A count=()
  tee "$log" | {
    echo "reading the lists of packages"
    while read -ra words; do
      case ${words[*]} in
        *"newly installed"*) total=$((words[0] + words[2])); continue ;;
        "Need to get "*) size=${words[*]:3:2}; continue ;;
        Get:*) [[ $total ]] || continue; doing=downloading ;;
        Unpacking*) doing=unpacking ;;
        "Setting up"*) doing="setting up" ;;
        *) continue ;;
      esac
      count[$doing]=$((${count[$doing]:-0} + 1))
      echo "$doing ${count[$doing]} of $total packages, $size in all"
    done
  } | "$progress" >&2
}
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive BLOOMSET_INSTALLS=1 apt-get -q "$@" 2>&1 | progress; }
failed() { tail -20 "$log" >&2; echo "$1" >&2; exit 2; }
# A new system has no lists of packages, so names are found afterwards.
apt update || failed "install-packages.sh: apt could not read the lists of packages"
[[ $clang ]] || clang=$(first in_apt "${clang_versions[@]/#/clang-}")
clang=${clang#clang-}
find_missing
((${#unknown[@]} == 0)) || { echo "install-packages.sh: apt has no package for: ${unknown[*]//#/${clang:-${clang_versions[0]}}}" >&2; exit 2; }
((${#missing[@]})) || exit 0
echo "Installing with apt: ${missing[*]}"
apt install -y --no-install-recommends "${missing[@]}" || failed "install-packages.sh: apt could not install them"
