#pragma once

// MurmurHash2 (Austin Appleby, 2008, public domain): the hash functions of RedisBloom's filters.
// The results are those of the reference code on little-endian machines.

#include <cstdint>
#include <string_view>

namespace bloomset::server {

/// MurmurHash64A: 64 bits.
std::uint64_t murmur_hash_64a(std::string_view bytes, std::uint64_t seed) noexcept;

/// MurmurHash2: 32 bits, for filters from before RedisBloom 2.2.
std::uint32_t murmur_hash_2(std::string_view bytes, std::uint32_t seed) noexcept;

}  // namespace bloomset::server
