#pragma once

// A column of a chunk of rows, as keys or as bytes.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"

namespace bloomset::duckdb {

/// The values of a column. Valid as long as the chunk.
class column {
 public:
  column(duckdb_data_chunk chunk, idx_t at);

  duckdb_type type() const noexcept { return type_; }
  bool is_null(idx_t row) const noexcept {
    return valid_ != nullptr && (valid_[row / 64] >> (row % 64) & 1U) == 0;
  }
  template <class T>
  const T& value(idx_t row) const noexcept {
    return static_cast<const T*>(data_)[row];
  }

  /// Fails if values of this type are no keys. A column of nulls has no keys, and succeeds.
  result<void> has_keys() const;
  /// The key of a row that is not null, in `room` or in the column. Precondition: has_keys().
  std::string_view key(idx_t row, std::string& room) const;
  /// The keys of the rows [first, last) that are not null, in `room` or in the column.
  /// Precondition: has_keys().
  std::vector<std::string_view> keys(idx_t first, idx_t last, std::string& room) const;
  /// A text or blob.
  std::string_view text(idx_t row) const noexcept;
  std::span<const std::byte> bytes(idx_t row) const noexcept {
    return std::as_bytes(std::span(text(row)));
  }

 private:
  std::int64_t integer(idx_t row) const noexcept;
  void append_decimal(idx_t row, std::string& room) const;
  void append_uuid(idx_t row, std::string& room) const;
  void append_key(idx_t row, std::string& room) const;
  bool has_keys_in_place() const noexcept {
    return type_ == DUCKDB_TYPE_VARCHAR || type_ == DUCKDB_TYPE_BLOB;
  }

  const void* data_;
  const std::uint64_t* valid_;
  duckdb_type type_;
  duckdb_type stored_;  ///< of a decimal: the integer that holds its digits
  unsigned scale_;
};

}  // namespace bloomset::duckdb
