#pragma once

// The encodings of values in Parquet's pages. Malformed bytes are never read beyond their end.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace bloomset::dialects {

/// Numbers of parquet.thrift's enumeration Encoding.
enum class page_encoding : std::uint8_t {
  plain = 0,
  plain_dictionary = 2,  ///< the older number of rle_dictionary
  rle = 3,
  delta_numbers = 5,   ///< DELTA_BINARY_PACKED
  delta_lengths = 6,   ///< DELTA_LENGTH_BYTE_ARRAY
  delta_prefixes = 7,  ///< DELTA_BYTE_ARRAY
  rle_dictionary = 8,
  byte_streams = 9,  ///< BYTE_STREAM_SPLIT
};

/// How many of `count` levels are `max`, which is those of the values that are not null. None if
/// the bytes are malformed.
std::optional<std::uint64_t> count_levels(std::span<const std::byte> bytes, unsigned max,
                                          std::uint64_t count);

/// Sets used[i] for each of `count` references to an entry i of a dictionary. False if the bytes
/// are malformed or refer to an entry beyond its end.
bool mark_entries(std::span<const std::byte> bytes, std::uint64_t count, std::vector<bool>& used);

/// The type of values, as far as their encoding depends on it.
struct value_type {
  std::uint32_t width = 0;  ///< bytes of each; 0 if they differ
  bool is_integer = false;
};

/// Called with the plain bytes of a value.
using value_visitor = std::function<void(std::span<const std::byte>)>;

/// Whether read_values() knows this encoding of such values.
bool can_read(page_encoding how, const value_type& type) noexcept;

/// Visits `count` values. False if the bytes are malformed; some values may have been visited then.
/// Precondition: can_read(how, type).
bool read_values(std::span<const std::byte> bytes, page_encoding how, const value_type& type,
                 std::uint64_t count, const value_visitor& visit);

}  // namespace bloomset::dialects
