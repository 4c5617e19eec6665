#!/usr/bin/env bash
# Installs the Debian packages that are missing, as root or through sudo, and says which.
#   install-packages.sh build|sanitizers|test|explorer|browser|lint|bench|peers|boost|packages ...
set -euo pipefail

build=(g++ cmake ninja-build pkg-config libxxhash-dev libfmt-dev libssl-dev
  libcli11-dev nlohmann-json3-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libidn2-dev wamerican-insane)
# With build: what the builds with sanitizers need.
sanitizers=(libgtest-dev librapidcheck-dev clang-19 clang-format-19 libclang-rt-19-dev python3 libleveldb-dev
  libsnappy-dev libsqlite3-dev)
test=("${sanitizers[@]}" python3-pytest python3-dev pybind11-dev python3-numpy python3-pip mypy zsh fish
  gzip zstd lz4 man-db groff golang-github-dcso-bloom-cli squid curl redis-server python3-redis python3-mpmath
  g++-aarch64-linux-gnu qemu-user doxygen abigail-tools sqlite3 postgresql-15 openjdk-17-jre-headless)
# DuckDB, whose Parquet files are tested, and clients of Redis are packages of npm. Node's own packages
# bring npm along.
command -v npm >/dev/null || test+=(nodejs npm)
# The page's WebAssembly, and the browser that its tests drive.
explorer=(clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libclang-rt-19-dev-wasm32)
command -v npm >/dev/null || explorer+=(nodejs npm)
browser=(chromium chromium-driver python3-selenium)
lint=(clang-tidy-19)
bench=(golang-github-dcso-bloom-cli time)
# What the benchmark compares with, and the rest of Boost for a checkout of Boost.Bloom.
peers=(python3 python3-numpy python3-bitarray python3-flor libbloom-dev librocksdb-dev libleveldb-dev)
boost=(libboost1.81-dev)
# With build: Debian packages, and the bare system in which they are tried.
packages=(build-essential debhelper dpkg-dev dh-python python3-dev pybind11-dev libleveldb-dev libsnappy-dev lintian debootstrap)

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
    packages) wanted+=("${packages[@]}") ;;
    *) echo "install-packages.sh: '$group' is no group; give build, sanitizers, test, explorer, browser, lint, bench, peers, boost or packages" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
    missing+=("$package")
done
((${#missing[@]})) || exit 0

echo "Installing with apt: ${missing[*]}"
as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "These packages are missing; install them as root: ${missing[*]}" >&2
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
{
  "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive BLOOMSET_INSTALLS=1 \
      apt-get install -y -q --no-install-recommends "${missing[@]}"
} 2>&1 | progress || { tail -20 "$log" >&2; echo "apt could not install them" >&2; exit 2; }
