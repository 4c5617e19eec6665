#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "input/record_keys.hpp"

namespace bloomset::cli {

/// Maps the number of a key to its file and lines. A whole file needs one entry if each of its
/// lines has one key, else each batch needs one.
class key_positions {
 public:
  /// Lines of a file, counted from 1.
  struct span {
    std::size_t file;
    std::uint64_t first_line;
    std::uint64_t last_line;
  };

  /// Appends lines that were read. Returns the number of their first line in the file.
  std::uint64_t append(std::size_t file, const reading& read);

  /// The line of a key, counted from 0, or the lines that it is among. Precondition: key < keys().
  span lines_of_key(std::uint64_t key) const;
  /// The number of the next line of the file that was appended to last.
  std::uint64_t next_line() const { return entries_.back().first_line + entries_.back().lines; }

  std::uint64_t lines() const noexcept { return lines_; }
  std::uint64_t keys() const noexcept { return keys_; }

 private:
  struct entry {
    std::size_t file;
    std::uint64_t first_key;
    std::uint64_t first_line;
    std::uint64_t lines;
    bool key_per_line;
  };

  std::vector<entry> entries_;
  std::uint64_t lines_ = 0;
  std::uint64_t keys_ = 0;
};

}  // namespace bloomset::cli
