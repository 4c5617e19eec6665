#include "values/dump_pieces.hpp"

#include <algorithm>

namespace bloomset::server {

std::uint64_t size_of(const byte_pieces& pieces) noexcept {
  std::uint64_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  return size;
}

std::string_view bytes_at(const byte_pieces& pieces, std::uint64_t offset, std::size_t max_size,
                          std::vector<std::byte>& scratch, bool crosses_pieces) {
  scratch.clear();
  for (const auto piece : pieces) {
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const auto part = piece.subspan(
        offset, std::min<std::size_t>(piece.size() - offset, max_size - scratch.size()));
    if (part.size() == max_size || !crosses_pieces) return as_chars(part);
    scratch.insert(scratch.end(), part.begin(), part.end());
    offset = 0;
    if (scratch.size() == max_size) break;
  }
  return as_chars(scratch);
}

}  // namespace bloomset::server
