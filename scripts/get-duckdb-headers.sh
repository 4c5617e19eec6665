#!/usr/bin/env bash
# Puts the two headers of DuckDB's C interface for extensions into a folder. npm's package of DuckDB
# has them.
#   get-duckdb-headers.sh FOLDER
# CMake looks into build/duckdb-headers.
set -euo pipefail
(($# == 1)) || { echo "get-duckdb-headers.sh: give a folder" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
if [[ ! -e duckdb_extension.h ]]; then
  package=$(npm pack --silent --fetch-retries=1 duckdb@1.4.4 2>log) || { tail -3 log >&2; exit 1; }
  tar -xzf "$package" --strip-components=5 package/src/duckdb/src/include/duckdb{,_extension}.h
  rm "$package"
fi
pwd
