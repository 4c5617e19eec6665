#pragma once

// A Parquet file's footer, the place of a column's Bloom filters, and the header of such a filter.

#include <algorithm>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parquet_schema.hpp"

namespace bloomset::dialects {

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

/// The values of a column in a row group, as far as they matter here. The numbers are the file's
/// and not checked.
struct parquet_chunk {
  std::string path;
  std::int64_t kind = -1;
  std::int64_t codec = -1;
  std::int64_t values = -1;  ///< nulls too
  std::int64_t bytes = -1;   ///< of all pages, as they are stored
  std::int64_t data_at = -1;
  std::optional<std::int64_t> dictionary_at;
  std::optional<std::int64_t> filter_at;
  std::uint64_t index_end = 0;  ///< the end of the last page index; 0 without one
  bool elsewhere = false;       ///< in another file
  bool encrypted = false;
  std::size_t meta_at = 0;  ///< of ColumnMetaData within the footer
  std::size_t meta_bytes = 0;

  /// The first page. Some writers say that a dictionary is at 0 if there is none.
  std::int64_t pages_at() const noexcept {
    return dictionary_at.value_or(0) > 0 ? std::min(*dictionary_at, data_at) : data_at;
  }
};

struct parquet_group {
  std::vector<parquet_chunk> columns;
  std::int64_t rows = 0;
};

struct parquet_footer {
  std::optional<parquet_type> column;  ///< the wanted column's
  std::vector<parquet_group> groups;
  bool encrypted = false;  ///< some columns are, and the footer is signed
  std::size_t at = 0;      ///< within the file
  std::size_t bytes = 0;
};

/// Reads the footer, and looks in its schema for the column. Fails with corrupt, or with
/// unsupported if the footer is encrypted.
result<parquet_footer> read_parquet_footer(std::span<const std::byte> file,
                                           std::string_view column);

/// A name from the file for a sentence: in quotes, short, and without control characters.
std::string in_quotes(std::string_view name);

/// Null if the row group has no such column.
const parquet_chunk* find_chunk(const parquet_group& group, std::string_view column);

/// Failures of a column in the row group of that number, the first of which is 1.
failure lacks_column(std::size_t group, std::string_view column);
failure contradicts_schema(std::size_t group, const parquet_chunk& chunk,
                           const parquet_type& schema);
failure lies_elsewhere(std::string_view column);

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

}  // namespace bloomset::dialects
