#pragma once

// Lines on disk, of which those with a new key are printed at the end.

#include <bloomery/hash.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "output.hpp"
#include "parted_file.hpp"
#include "temporary_file.hpp"

namespace bloomery::cli {

/// Keeps lines and the hashes of their keys in temporary files, and finds the lines that have a key
/// for the first time. All input and output is sequential.
///
/// Memory      `memory` bytes; a bit for each line; and in print() 16 to 32 bytes for each 256th
///             distinct key.
class deferred_lines {
 public:
  static result<deferred_lines> make(std::size_t memory, char end);

  const std::string& folder() const noexcept { return lines_.folder(); }

  /// Appends a line. A line without keys is printed.
  result<void> add(std::string_view line, std::span<const hash64> keys);

  /// Prints, in their order, the lines with a key that no line before them has.
  result<void> print(output& out);

 private:
  struct record {
    hash64 hash;
    std::uint64_t line;

    friend hash64 hash_of(const record& one) noexcept { return one.hash; }
  };

  deferred_lines(temporary_file lines, parted_file<record> keys, std::size_t memory, char end);

  result<void> find_new_lines();
  result<void> write_lines();
  result<void> write_keys();

  temporary_file lines_;
  parted_file<record> keys_;
  std::size_t max_records_;
  char end_;
  std::vector<char> line_buffer_;
  std::vector<record> key_buffer_;
  std::vector<bool> is_new_;  // per line
};

}  // namespace bloomery::cli
