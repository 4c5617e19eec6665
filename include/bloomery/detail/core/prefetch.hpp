#pragma once

namespace bloomery::detail {

/// Starts to load the cache line of `address`, for reading, or for writing if `Write` is 1.
/// `Locality` 3 loads it into the first-level cache, 2 into the second-level cache.
///
/// The empty volatile statement is no instruction. It keeps g++ 12 from deleting calls of functions
/// that only prefetch (docs/decisions/prefetch.md).
template <int Write = 0, int Locality = 3>
[[gnu::always_inline]] inline void prefetch_line(const void* address) noexcept {
  __builtin_prefetch(address, Write, Locality);
  asm volatile("");
}

}  // namespace bloomery::detail
