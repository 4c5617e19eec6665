#pragma once

// What the schema of a Parquet file says of a column's values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "key_form.hpp"
#include "thrift.hpp"

namespace bloomery::dialects {

/// A column's values, and how they are asked for.
struct parquet_type {
  value_form form;             ///< unknown if no line of text can ask for them
  std::string says;            ///< what follows the column's name: "is a DATE; ask for ..."
  std::int64_t physical = -1;  ///< a number of parquet.thrift's enumeration Type
};

/// Reads a schema, the list that is the footer's field 2, for the column of that path; none if it
/// has no such column.
std::optional<parquet_type> read_parquet_schema(thrift::cursor& from, std::string_view column);

}  // namespace bloomery::dialects
