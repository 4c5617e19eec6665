#!/usr/bin/env bash
# Unpacks ARM64 libraries from apt's mirrors into build-arm64-libraries/, without installing them.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build-arm64-libraries/apt/{lists,archives}/partial
cd build-arm64-libraries
: >apt/status
apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$PWD/apt"
  -o Dir::State::status="$PWD/apt/status" -o Dir::Cache="$PWD/apt" -o Debug::NoLocking=true
  -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update
"${apt[@]}" install -y --download-only --no-install-recommends libxxhash-dev libfmt-dev libssl-dev \
  libcli11-dev nlohmann-json3-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libidn2-dev libgtest-dev librapidcheck-dev \
  libleveldb-dev libsnappy-dev libcurl4-openssl-dev
mkdir -p usr/lib
ln -sfn usr/lib lib  # as in an installed system; packages of this release use both names
for package in apt/archives/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink; done
