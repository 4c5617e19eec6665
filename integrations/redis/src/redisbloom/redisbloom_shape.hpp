#pragma once

// RedisBloom's filters without their bits, and the headers of their dumps. The facts come from
// comparisons with its files and replies (docs/use/moving-from-redisbloom.md has the layouts).
// Numbers in headers are little-endian and packed.
//
// Shapes that the functions here return are sound: no sum or product of sizes exceeds 2^47.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "other_modules/packed_numbers.hpp"

namespace bloomset::server {

/// One Bloom filter of a chain.
struct link_shape {
  std::uint64_t capacity = 0;  ///< items before the next link is made
  double error_rate = 0;
  double bits_per_item = 0;
  std::uint32_t hashes = 0;
  std::uint64_t bits = 0;
  std::uint64_t bytes = 0;
  /// Positions are modulo 2^log2_bits unless this is 0, else modulo `bits`.
  std::uint8_t log2_bits = 0;
  std::uint64_t items = 0;

  std::uint64_t positions() const noexcept {
    return log2_bits != 0 ? std::uint64_t{1} << log2_bits : bits;
  }
};

/// Growth of chains from versions that did not store it.
inline constexpr std::uint32_t legacy_growth = 2;

/// Bits of a chain's options. New chains have the first and the third.
enum chain_option : std::uint32_t {
  exact_bits = 1,        ///< as many bits as the rate needs, not the next power of two
  capacity_is_log2 = 2,  ///< a new link's capacity is given as log2 of its bits
  hash_of_64_bits = 4,   ///< else of 32
  does_not_grow = 8,
};

/// A filter of BF.*.
struct chain_shape {
  std::uint64_t items = 0;
  std::uint32_t options = exact_bits | hash_of_64_bits;
  std::uint32_t growth = 0;  ///< ratio of the capacities of successive links
  std::vector<link_shape> links;

  std::uint64_t bytes_of(std::uint32_t link) const noexcept { return links[link].bytes; }
};

/// A filter of CF.*, one byte per slot. Sub-filter i has buckets * expansion^i buckets.
struct cuckoo_shape {
  std::uint64_t items = 0;
  std::uint64_t buckets = 0;  ///< of the first sub-filter: a power of two
  std::uint64_t deletes = 0;  ///< since the last compaction
  std::uint32_t filters = 0;  ///< up to 65535
  std::uint16_t bucket_size = 0;
  std::uint16_t max_iterations = 0;
  std::uint16_t expansion = 0;  ///< a power of two; 0: it does not grow
  bool is_legacy = false;       ///< from before RedisBloom 2.2, with other hashes

  /// Sets the parameters that all filters had before RedisBloom 2.2.
  void make_legacy() noexcept {
    is_legacy = true;
    bucket_size = 2;
    max_iterations = 500;
    expansion = 1;
  }
  /// Bytes of a sub-filter; max_sub_filter_bytes + 1 if they are more.
  std::uint64_t bytes_of(std::uint32_t filter) const noexcept;
};

inline constexpr std::uint32_t max_sub_filters = 65535;
/// Of a chain of Bloom filters. Each has half the rate of the one before, and the rate of a double
/// ends at 2^-1074.
inline constexpr std::uint32_t max_links = 1100;
/// RedisBloom computes positions with 32 bits, which fails in larger sub-filters.
inline constexpr std::uint64_t max_sub_filter_bytes = std::uint64_t{1} << 32;

/// The link for a capacity and a rate between 0 and 1. None if RedisBloom makes none either, or if
/// it would be too large.
std::optional<link_shape> plan_link(std::uint64_t capacity, double error_rate,
                                    std::uint32_t options) noexcept;

/// Checks a link's numbers against each other. Supplies `bits` of links of powers of two, which
/// versions of 2018 did not store.
bool make_sound(link_shape& link) noexcept;
/// Checks a chain without its links, and a cuckoo filter.
bool is_sound(const chain_shape& chain) noexcept;
bool is_sound(const cuckoo_shape& filter) noexcept;

/// Bytes of all slots of a sound shape.
std::uint64_t payload_bytes(const cuckoo_shape& filter) noexcept;

/// Size of a CF.* header. Legacy headers are shorter.
inline constexpr std::size_t cuckoo_header_bytes = 38;

/// The shape in a dump's header; none if the bytes are no header. Sizes tell the kinds of headers
/// apart.
std::optional<chain_shape> read_chain_header(std::string_view header);
std::optional<cuckoo_shape> read_cuckoo_header(std::string_view header) noexcept;
std::vector<std::byte> header_of(const chain_shape& chain);
std::vector<std::byte> header_of(const cuckoo_shape& filter);

/// The size that RedisBloom reports in BF.INFO and CF.INFO.
std::uint64_t reported_size(const chain_shape& chain) noexcept;
std::uint64_t reported_size(const cuckoo_shape& filter) noexcept;

}  // namespace bloomset::server
