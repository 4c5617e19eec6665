#include "input/key_positions.hpp"

#include <algorithm>
#include <iterator>

namespace bloomset::cli {

std::uint64_t key_positions::append(std::size_t file, const reading& read) {
  const bool new_file = entries_.empty() || entries_.back().file != file;
  if (new_file || !read.key_per_line || !entries_.back().key_per_line) {
    entries_.push_back({file, keys_, new_file ? 1 : next_line(), 0, read.key_per_line});
  }
  const std::uint64_t first_line = next_line();
  entries_.back().lines += read.lines;
  lines_ += read.lines;
  keys_ += read.keys;
  return first_line;
}

key_positions::span key_positions::lines_of_key(std::uint64_t key) const {
  // The last entry whose first key is at or before the key. Entries without keys begin where the
  // next one does.
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), key,
                       [](std::uint64_t k, const entry& e) { return k < e.first_key; });
  const entry& found = *std::prev(after);
  if (!found.key_per_line) {
    return {found.file, found.first_line, found.first_line + found.lines - 1};
  }
  const std::uint64_t line = found.first_line + (key - found.first_key);
  return {found.file, line, line};
}

}  // namespace bloomset::cli
