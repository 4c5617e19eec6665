#pragma once

// The hash functions of other software, byte for byte. Standard functions have their standard
// names. Comments say how the others differ from the standard.

#include <array>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::dialects {

/// The four words of an MD5 digest, read big-endian.
struct md5_words {
  std::array<std::uint32_t, 4> at;
};

/// MD5 of a byte and the bytes after it.
md5_words md5(std::uint8_t first, std::span<const std::byte> bytes) noexcept;

/// The two halves of a 128-bit hash.
struct murmur_pair {
  std::uint64_t first;
  std::uint64_t second;
};

/// MurmurHash3_x64_128 (Appleby, 2011) with seed 0.
murmur_pair murmur3_128(std::span<const std::byte> bytes) noexcept;

/// Cassandra's variant: it reads the up to 15 bytes after the last whole block as signed numbers. A
/// byte of 0x80 or more therefore sets all bits above it.
murmur_pair murmur3_128_signed_tail(std::span<const std::byte> bytes) noexcept;

/// MurmurHash3_x86_32.
std::uint32_t murmur3_32(std::span<const std::byte> bytes, std::uint32_t seed) noexcept;

/// Spark's variant of it: each of the up to three bytes after the last whole word is mixed in as a
/// word of its own, with its sign.
std::uint32_t murmur3_32_signed_tail(std::span<const std::byte> bytes, std::uint32_t seed) noexcept;

/// LevelDB's own hash (util/hash.cc). It resembles MurmurHash, but equals no version of it.
std::uint32_t leveldb_hash(std::span<const std::byte> bytes, std::uint32_t seed) noexcept;

/// FNV-1 of 64 bits (not FNV-1a): multiplication first.
std::uint64_t fnv1_64(std::span<const std::byte> bytes) noexcept;

/// wyhash in its first published version (Wang, 2019), as the crate wyhash 0.5 has it.
std::uint64_t wyhash_1(std::span<const std::byte> bytes, std::uint64_t seed) noexcept;

}  // namespace bloomset::dialects
