#pragma once

// Lines that are printed at the end if the hashes of their keys are new, or in a filter.

#include <bloomset/any_filter.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "memory/parted_file.hpp"
#include "memory/waiting_lines.hpp"

namespace bloomset::cli {

/// Keeps lines and the hashes of their keys in temporary files until the lines to print are chosen.
/// All input and output is sequential.
///
/// Memory      `memory` bytes; a bit for each line; and in choose_new() 16 to 32 bytes for each
///             256th distinct key.
class deferred_lines {
 public:
  static result<deferred_lines> make(std::size_t memory, char end);

  const std::string& folder() const noexcept { return lines_.folder(); }

  /// Appends a line. A line without keys is chosen.
  result<void> add(std::string_view line, std::span<const hash64> keys);

  /// Chooses the lines with a key that no line before them has.
  result<void> choose_new();
  /// Chooses the lines with a key that the filter may contain. Its memory is read from begin to end
  /// if its kind is in_hash_order. Precondition: the keys are hashed with its hash function.
  result<void> choose_members(const any_filter& filter);
  /// Chooses the other lines instead.
  void invert() noexcept { lines_.invert(); }
  std::uint64_t chosen() const noexcept { return lines_.chosen(); }

  /// Prints the chosen lines in their order.
  result<void> print(output& out) { return lines_.print(out); }

 private:
  struct record {
    hash64 hash;
    std::uint64_t line;

    friend hash64 hash_of(const record& one) noexcept { return one.hash; }
  };

  deferred_lines(waiting_lines lines, parted_file<record> keys, std::size_t memory);

  result<void> write_keys();

  waiting_lines lines_;
  parted_file<record> keys_;
  std::size_t max_records_;
  std::vector<record> key_buffer_;
};

}  // namespace bloomset::cli
