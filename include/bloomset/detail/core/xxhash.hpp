#pragma once

// xxHash, inlined, with the vectors that every CPU of the architecture has. XXH3 would hash long
// keys with the widest vectors that the -m flags allow. Its code is inlined into functions that
// have one name whatever the flags are, so the code must not depend on them.

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#ifndef XXH_VECTOR
#if defined(__x86_64__)
#define XXH_VECTOR XXH_SSE2
#elif defined(__aarch64__)
#define XXH_VECTOR XXH_NEON
#endif
#endif
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace bloomset::detail {

/// XXH3_64bits_withSeed, with the code for keys of up to 128 bytes inline. The library's function
/// also has the code for longer keys, so compilers call it: a batch of strings of 20 bytes then
/// takes up to 1.14 times as long (docs/maintain/decisions/cpu/inline-instructions.md).
[[gnu::always_inline]] inline std::uint64_t xxh3_64(const void* key, std::size_t size,
                                                    std::uint64_t seed) noexcept {
  const auto* const bytes = static_cast<const xxh_u8*>(key);
  if (size <= 16) return XXH3_len_0to16_64b(bytes, size, XXH3_kSecret, seed);
  if (size <= 128) {
    return XXH3_len_17to128_64b(bytes, size, XXH3_kSecret, sizeof(XXH3_kSecret), seed);
  }
  return XXH3_64bits_withSeed(key, size, seed);
}

}  // namespace bloomset::detail
