#pragma once

// A dump's payload, cut into pieces for clients, RDB files and append-only files.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "values/filter_spec.hpp"

namespace bloomset::server {

/// Bytes in pieces, one after the other. They refer to the object that gave them.
using byte_pieces = std::vector<std::span<const std::byte>>;

std::uint64_t size_of(const byte_pieces& pieces) noexcept;

/// Up to `max_size` bytes from `offset` on: a view of one piece, or of `scratch`. Unless
/// `crosses_pieces`, they end with a piece.
std::string_view bytes_at(const byte_pieces& pieces, std::uint64_t offset, std::size_t max_size,
                          std::vector<std::byte>& scratch, bool crosses_pieces = true);

/// Whether a chunk of LOADCHUNK may cross pieces. RedisBloom's end with a link or sub-filter.
constexpr bool chunks_cross_pieces(filter_engine engine) noexcept {
  return engine == filter_engine::native;
}

inline std::string_view as_chars(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace bloomset::server
