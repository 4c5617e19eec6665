#pragma once

// The type of a column's values, from the schema of a Parquet file.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "key_form.hpp"
#include "thrift.hpp"

namespace bloomset::dialects {

/// How deep a column's values are nested.
struct parquet_levels {
  unsigned definition = 0;  ///< the level of a value that is not null
  unsigned repetition = 0;  ///< 0 if a row has one value
};

/// The type of a column's values, and the form in which they are queried.
struct parquet_type {
  value_form form;             ///< unknown if no line of text can ask for them
  std::string says;            ///< what follows the column's name: "is a DATE; ask for ..."
  std::int64_t physical = -1;  ///< a number of parquet.thrift's enumeration Type
  std::uint32_t width = 0;     ///< bytes of each value; 0 if they differ or have no plain bytes
  parquet_levels levels = {};
};

/// Reads a schema, which is the list in field 2 of the footer, for the column of that path. None if
/// the schema has no such column.
std::optional<parquet_type> read_parquet_schema(thrift::cursor& from, std::string_view column);

}  // namespace bloomset::dialects
