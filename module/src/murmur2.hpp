#pragma once

// Austin Appleby's MurmurHash2 (2008, in the public domain), the hash functions of RedisBloom's
// filters. Seeds are free. The names are the author's; the results are those of his reference code
// on little-endian machines.

#include <cstdint>
#include <string_view>

namespace bloomery::server {

/// MurmurHash64A: 64 bits, eight bytes at a time.
std::uint64_t murmur_hash_64a(std::string_view bytes, std::uint64_t seed) noexcept;

/// MurmurHash2: 32 bits, four bytes at a time. Of filters that were made before RedisBloom 2.2.
std::uint32_t murmur_hash_2(std::string_view bytes, std::uint32_t seed) noexcept;

}  // namespace bloomery::server
