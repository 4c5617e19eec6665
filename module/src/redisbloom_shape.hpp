#pragma once

// What RedisBloom's filters are beside their bits, and the headers of their dumps. What stands here
// are facts of its files and of what it answers on the wire, found by comparing with it
// (docs/moving-from-redisbloom.md has the layouts). Numbers in headers are little-endian and
// packed.
//
// All that is read is checked: a shape that a function here returns can be used, and no sum or
// product of its sizes is beyond 2^47.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace bloomery::server {

/// No machine has more memory; sums of it and of what comes with it do not overflow.
inline constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 47;

/// One Bloom filter of a chain.
struct link_shape {
  std::uint64_t capacity = 0;  ///< items that it takes before the next link is made
  double error_rate = 0;
  double bits_per_item = 0;
  std::uint32_t hashes = 0;
  std::uint64_t bits = 0;
  std::uint64_t bytes = 0;
  /// Where it is not 0 an item's places are taken modulo 2^log2_bits, else modulo `bits`.
  std::uint8_t log2_bits = 0;
  std::uint64_t items = 0;

  std::uint64_t places() const noexcept {
    return log2_bits != 0 ? std::uint64_t{1} << log2_bits : bits;
  }
};

/// What each link's capacity is multiplied with where a chain does not tell it.
inline constexpr std::uint32_t older_growth = 2;

/// Bits of a chain's options. Chains that are made now have the first and the third.
enum chain_option : std::uint32_t {
  exact_bits = 1,        ///< as many bits as the rate needs, not the next power of two
  capacity_is_log2 = 2,  ///< a capacity is the binary logarithm of the bits
  hash_of_64_bits = 4,   ///< else of 32
  does_not_grow = 8,
};

/// A filter of BF.*.
struct chain_shape {
  std::uint64_t items = 0;
  std::uint32_t options = exact_bits | hash_of_64_bits;
  std::uint32_t growth = 0;  ///< each link's capacity is the one's before times this
  std::vector<link_shape> links;
};

/// A filter of CF.*. One byte a slot; sub-filter i has buckets * expansion^i buckets.
struct cuckoo_shape {
  std::uint64_t items = 0;
  std::uint64_t buckets = 0;  ///< of the first sub-filter: a power of two
  std::uint64_t deletes = 0;  ///< since the last compaction
  std::uint32_t filters = 0;  ///< up to 65535
  std::uint16_t bucket_size = 0;
  std::uint16_t max_iterations = 0;
  std::uint16_t expansion = 0;  ///< a power of two; 0: it does not grow
  bool is_old = false;          ///< of before RedisBloom 2.2, with other hashes

  /// 2^32 + 1 where it would be more than can be.
  std::uint64_t bytes_of(std::uint32_t filter) const noexcept;
};

inline constexpr std::uint32_t max_sub_filters = 65535;
/// RedisBloom finds its way in larger ones with 32 bits, and so not everywhere.
inline constexpr std::uint64_t max_sub_filter_bytes = std::uint64_t{1} << 32;

/// The link that a chain gets for a capacity and rate; none where RedisBloom makes none either, or
/// none of that size can be. The rate lies between 0 and 1, both excluded.
std::optional<link_shape> plan_link(std::uint64_t capacity, double error_rate,
                                    std::uint32_t options) noexcept;

/// Whether a link's numbers agree with each other, wherever they come from. Supplies the bits that
/// links of powers of two did not tell in 2018.
bool make_sound(link_shape& link) noexcept;
/// The same of a chain without its links, and of a cuckoo filter.
bool is_sound(const chain_shape& chain) noexcept;
bool is_sound(const cuckoo_shape& filter) noexcept;

/// Bytes of all slots. Of a sound shape.
std::uint64_t payload_bytes(const cuckoo_shape& filter) noexcept;

/// Of a header of CF.*; that of filters of before RedisBloom 2.2 is shorter.
inline constexpr std::size_t cuckoo_header_bytes = 38;

/// The headers of dumps; none if a header is not one. The old header of CF.* is as long as no new
/// one is, so that each is told by its size.
std::optional<chain_shape> read_chain_header(std::string_view header);
std::optional<cuckoo_shape> read_cuckoo_header(std::string_view header) noexcept;
std::vector<std::byte> header_of(const chain_shape& chain);
std::vector<std::byte> header_of(const cuckoo_shape& filter);

/// Bytes that RedisBloom says such filters take, which clients of BF.INFO and CF.INFO know.
std::uint64_t size_as_told(const chain_shape& chain) noexcept;
std::uint64_t size_as_told(const cuckoo_shape& filter) noexcept;

}  // namespace bloomery::server
