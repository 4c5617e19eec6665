#pragma once

/// The layouts of a blocked Bloom filter's block.

#include <cstdint>
#include <string_view>

namespace bloomset {

/// The bits that a key sets in its block. The numbers are stored in files and never change.
/// docs/reference/format.md ("blocked_bloom") specifies the bits.
enum class block_layout : std::uint16_t {
  split_512 = 1,    ///< 8 lanes of 64 bits, one bit in each: one SIMD comparison
  free_512 = 2,     ///< k bits anywhere among 512: fewer bits per key above 2% and below 0.05%
  parquet_256 = 3,  ///< 8 lanes of 32 bits: Apache Parquet's split block, bit for bit
};

/// `split`, `free` or `parquet`.
std::string_view name_of(block_layout layout) noexcept;

/// Bits of one block.
constexpr std::uint64_t block_bits(block_layout layout) noexcept {
  return layout == block_layout::parquet_256 ? 256 : 512;
}

/// The largest number of bits per key in the free layout.
inline constexpr unsigned max_block_hashes = 24;

}  // namespace bloomset
