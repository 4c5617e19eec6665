#pragma once

// SipHash-1-3 of many keys at once, once per instruction set.

#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

struct siphash_kernels {
  /// hashes[i] = siphash(key, keys[i]). Precondition: room for as many hashes as keys.
  void (*hash)(const hash_key& key, std::span<const std::span<const std::byte>> keys,
               hash64* hashes) noexcept;

  static const siphash_kernels scalar, vector256, vector512;
};

/// The bytes behind a key's last whole word, and above them its length modulo 256. Reads only the
/// key, with at most two loads and without a loop.
[[gnu::always_inline]] inline std::uint64_t siphash_last_word(const std::byte* key,
                                                              std::size_t size) noexcept {
  const std::size_t left = size % 8;
  const std::uint64_t length = std::uint64_t{size} << 56;
  const auto word_at = [key](std::size_t at, auto word) __attribute__((always_inline)) {
    std::memcpy(&word, key + at, sizeof word);
    return std::uint64_t{word};
  };
  if (size >= 8) {
    // Two shifts, because a shift by 64 is undefined.
    return length | word_at(size - 8, std::uint64_t{}) >> 8 >> (56 - 8 * left);
  }
  if (left >= 4) {
    return length | word_at(0, std::uint32_t{}) |
           word_at(left - 4, std::uint32_t{}) << 8 * (left - 4);
  }
  if (left == 0) return length;
  return length | word_at(0, std::uint8_t{}) | word_at(left / 2, std::uint8_t{}) << 8 * (left / 2) |
         word_at(left - 1, std::uint8_t{}) << 8 * (left - 1);
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
