#!/bin/sh
# Makes an extension of a shared library: DuckDB reads the end of the file before it loads it.
#   append-metadata.sh LIBRARY EXTENSION VERSION PLATFORM
# Eight fields of 32 bytes, then room for a signature. The C interface's version is that in src/api.hpp.
set -eu
field() { printf %s "$1"; head -c $((32 - ${#1})) /dev/zero; }
{
  cat "$1"
  field ''; field ''; field ''
  field C_STRUCT  # the stable C interface
  field "$3"
  field v1.2.0
  field "$4"
  field 4  # of the format of this footer
  head -c 256 /dev/zero
} >"$2"
