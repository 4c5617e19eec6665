#pragma once

// The place of a column's Bloom filters in a Parquet file, and the header of such a filter.

#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parquet_schema.hpp"

namespace bloomery::dialects {

/// A filter's blocks within some bytes.
struct parquet_blocks {
  std::size_t at = 0;
  std::size_t size = 0;  ///< bytes, a multiple of 32
};

/// Reads a filter's header at the front of the bytes. Fails with unsupported unless it names the
/// only defined algorithm, hash function and compression. The blocks must follow.
result<parquet_blocks> read_parquet_header(std::span<const std::byte> bytes);

/// The header that every known writer puts before blocks of `block_bytes` bytes.
std::vector<std::byte> parquet_header(std::uint64_t block_bytes);

bool is_parquet_file(std::span<const std::byte> bytes) noexcept;

struct parquet_column {
  std::string name;  ///< in quotes, for messages
  parquet_type type;
  std::vector<parquet_blocks> row_groups;
};

/// The filters of a column (its path in the schema, with dots), one for each row group that has
/// rows; none in a file without rows. Fails if a row group with rows has no filter, because nothing
/// could be excluded.
result<parquet_column> find_parquet_column(std::span<const std::byte> file,
                                           std::string_view column);

}  // namespace bloomery::dialects
