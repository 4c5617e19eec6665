#pragma once

// DuckDB's C interface for extensions, in its oldest stable version: DuckDB 1.2 and all later ones
// have it. Its names are macros over a table of functions, which DuckDB gives when it loads the
// extension.

#define DUCKDB_EXTENSION_API_VERSION_MAJOR 1
#define DUCKDB_EXTENSION_API_VERSION_MINOR 2
#define DUCKDB_EXTENSION_API_VERSION_PATCH 0
#include <duckdb_extension.h>

extern duckdb_ext_api_v1 duckdb_ext_api;
