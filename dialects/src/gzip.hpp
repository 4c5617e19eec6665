#pragma once

// gzip of whole filters, in memory.

#include <bloomery/result.hpp>
#include <cstddef>
#include <span>
#include <vector>

namespace bloomery::dialects {

bool is_gzip(std::span<const std::byte> bytes) noexcept;

/// Unpacks the front of a gzip file into `into`; how far it came.
std::size_t gunzip_front(std::span<const std::byte> packed, std::span<std::byte> into) noexcept;

/// Unpacks one gzip member, which has to be all of the bytes. Memory follows what comes out, at
/// most some thousand times the input. Damage is corrupt.
result<std::vector<std::byte>> gunzip(std::span<const std::byte> packed);

/// One gzip member of all pieces. Fails with out_of_memory.
result<std::vector<std::byte>> gzip(const std::vector<std::span<const std::byte>>& pieces);

}  // namespace bloomery::dialects
