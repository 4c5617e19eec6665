#pragma once

// Lines that are printed at the end if they have a new key. The keys themselves are compared.

#include <array>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "memory/waiting_lines.hpp"

namespace bloomset::cli {

struct hashed_key {
  hash64 hash;
  std::string_view bytes;
};

/// Keeps lines and their keys in temporary files. The keys are grouped by the first 8 bits of their
/// hashes, so that a group at a time is compared in memory. All input and output is sequential.
///
/// Memory      `memory` bytes and a bit for each line. A group that does not fit is read several
///             times, a share of its keys each time.
class exact_lines {
 public:
  static result<exact_lines> make(std::size_t memory, char end);

  const std::string& folder() const noexcept { return lines_.folder(); }

  /// Appends a line. A line without keys is chosen.
  result<void> add(std::string_view line, std::span<const hashed_key> keys);
  /// Chooses the lines with a key that no line before them has, with that much memory.
  result<void> choose_new(std::size_t memory);
  /// Prints the chosen lines in their order.
  result<void> print(output& out) { return lines_.print(out); }

 private:
  /// A contiguous part of the file.
  struct extent {
    std::uint64_t begin;
    std::size_t size;
  };
  struct group {
    std::vector<char> buffer;
    std::vector<extent> on_disk;
  };

  exact_lines(waiting_lines lines, temporary_file keys, std::size_t memory)
      : lines_(std::move(lines)), keys_(std::move(keys)), memory_(memory) {}

  result<void> write_keys();
  result<void> choose_share(const group& keys, std::uint64_t share, std::uint64_t shares);
  /// Compares the keys of a group whose hashes fall into share `share` of `shares`. Returns false
  /// if they do not fit into the memory.
  result<bool> compare(const group& keys, std::uint64_t share, std::uint64_t shares);

  waiting_lines lines_;
  temporary_file keys_;
  std::size_t memory_;
  std::array<group, 256> groups_;
  std::size_t buffered_ = 0;
};

}  // namespace bloomset::cli
