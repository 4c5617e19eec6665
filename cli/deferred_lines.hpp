#pragma once

// Lines on disk, of which some are printed at the end.

#include <bloomset/any_filter.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "output.hpp"
#include "parted_file.hpp"
#include "temporary_file.hpp"

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
  void invert() noexcept { is_chosen_.flip(); }
  std::uint64_t chosen() const noexcept;

  /// Prints the chosen lines in their order.
  result<void> print(output& out);

 private:
  struct record {
    hash64 hash;
    std::uint64_t line;

    friend hash64 hash_of(const record& one) noexcept { return one.hash; }
  };

  deferred_lines(temporary_file lines, parted_file<record> keys, std::size_t memory, char end);

  result<void> write_lines();
  result<void> write_keys();

  temporary_file lines_;
  parted_file<record> keys_;
  std::size_t max_records_;
  char end_;
  std::vector<char> line_buffer_;
  std::vector<record> key_buffer_;
  std::vector<bool> is_chosen_;  // per line
};

}  // namespace bloomset::cli
