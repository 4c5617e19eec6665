#pragma once

// The layouts of a blocked Bloom filter: the block of a key and its bits there. Each layout is a
// stateless struct over the bytes of one block. These scalar forms are the specification; every
// SIMD kernel (src/kinds/blocked_bloom/kernels/) sets the same bits.
//
// docs/reference/format.md ("blocked_bloom") is normative. A layout never changes; a better one
// gets a new name and number. Words of a block are little-endian.

#include <array>
#include <bloomset/detail/blocked_bloom/block_layout.hpp>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>

namespace bloomset::detail {

/// 8 lanes of 64 bits. A key sets one bit in each: bit (h * golden64 >> 6j) mod 64 of lane j. The
/// multiplication spreads the low bits of the hash, which the choice of the block does not use.
///
/// The high bits of the hash choose the block. Multiplication by an odd number maps the low 48 bits
/// of h one to one to the 8 six-bit fields. Up to 2^16 blocks the lanes are therefore exactly
/// independent. With more blocks, some bits of h choose both the block and a field.
struct split_512 {
  static constexpr std::size_t block_bytes = 64;
  static constexpr unsigned lanes = 8;

  static std::uint64_t block_of(hash64 h, std::uint64_t blocks) noexcept {
    return mulhi64(h.value, blocks);
  }

  static bool test(const std::byte* block, hash64 h, unsigned) noexcept {
    const std::uint64_t fields = h.value * golden64;
    std::uint64_t all = 1;
    for (unsigned j = 0; j < lanes; ++j) {
      all &= load<std::uint64_t>(block + std::size_t{8} * j) >> (fields >> (6 * j) & 63);
    }
    return all != 0;
  }

  template <class Use>
  static void for_words(hash64 h, unsigned, Use&& use) noexcept {
    const std::uint64_t fields = h.value * golden64;
    for (unsigned j = 0; j < lanes; ++j) use(j, std::uint64_t{1} << (fields >> (6 * j) & 63));
  }
};

/// k bits anywhere among 512: bit i is (h * golden64^(i+1)) >> 55. One multiplication gives each
/// position new high bits. Dillinger's cache-local filter of RocksDB does the same in 32 bits.
struct free_512 {
  static constexpr std::size_t block_bytes = 64;

  static std::uint64_t block_of(hash64 h, std::uint64_t blocks) noexcept {
    return mulhi64(h.value, blocks);
  }

  static bool test(const std::byte* block, hash64 h, unsigned hashes) noexcept {
    std::uint64_t x = h.value;
    std::uint64_t all = 1;
    for (unsigned i = 0; i < hashes; ++i) {
      x *= golden64;
      all &= load<std::uint64_t>(block + (x >> 61) * 8) >> (x >> 55 & 63);
    }
    return all != 0;
  }

  template <class Use>
  static void for_words(hash64 h, unsigned hashes, Use&& use) noexcept {
    std::uint64_t x = h.value;
    for (unsigned i = 0; i < hashes; ++i) {
      x *= golden64;
      use(x >> 61, std::uint64_t{1} << (x >> 55 & 63));
    }
  }
};

/// The split-block Bloom filter of Apache Parquet, bit for bit: blocks of 256 bits, 8 lanes of 32.
/// The upper half of the hash chooses the block. The lower half times a salt per lane gives the bit
/// in that lane.
struct parquet_256 {
  static constexpr std::size_t block_bytes = 32;
  static constexpr unsigned lanes = 8;
  static constexpr std::array<std::uint32_t, lanes> salts = {0x47b6137b, 0x44974d91, 0x8824ad5b,
                                                             0xa2b7289d, 0x705495c7, 0x2df1424b,
                                                             0x9efc4947, 0x5c6bfb31};

  static std::uint64_t block_of(hash64 h, std::uint64_t blocks) noexcept {
    return (h.value >> 32) * blocks >> 32;
  }

  static bool test(const std::byte* block, hash64 h, unsigned) noexcept {
    std::uint32_t all = 1;
    for (unsigned j = 0; j < lanes; ++j) {
      all &= load<std::uint32_t>(block + std::size_t{4} * j) >> bit_of(h, j);
    }
    return all != 0;
  }

  template <class Use>
  static void for_words(hash64 h, unsigned, Use&& use) noexcept {
    for (unsigned j = 0; j < lanes; j += 2) {
      use(j / 2, std::uint64_t{1} << bit_of(h, j) | std::uint64_t{1} << (32 + bit_of(h, j + 1)));
    }
  }

 private:
  static std::uint32_t bit_of(hash64 h, unsigned j) noexcept {
    return static_cast<std::uint32_t>(h.value) * salts[j] >> 27;
  }
};

/// Calls `use(layout)` with the struct of that layout. Always inlined, because the functions that
/// it calls may be.
template <class Use>
[[gnu::always_inline]] constexpr decltype(auto) with_layout(block_layout layout, Use&& use) {
  switch (layout) {
    case block_layout::free_512:
      return use(free_512());
    case block_layout::parquet_256:
      return use(parquet_256());
    case block_layout::split_512:
      break;
  }
  return use(split_512());
}

/// A block whose line was prefetched. Kernels may load it in another way than a block that is in
/// the first-level cache or is waited for.
template <class Byte>
struct prefetched_block {
  Byte* at;
  // NOLINTNEXTLINE(google-explicit-constructor): other kernels take it as any block
  [[gnu::always_inline]] operator Byte*() const noexcept { return at; }
};

/// The operations of a key on its block, as free functions. SIMD kernels have others for some
/// layouts.
namespace scalar {

template <class Layout>
[[gnu::always_inline]] inline bool test(Layout, const std::byte* block, hash64 h,
                                        unsigned hashes) noexcept {
  return Layout::test(block, h, hashes);
}

// A query of the free layout in two parts. Most non-members lack one of the first bits.
inline constexpr unsigned first_hashes = 4;
[[gnu::always_inline]] inline bool has_first(const std::byte* block, hash64 h,
                                             unsigned hashes) noexcept {
  if (hashes < first_hashes) return free_512::test(block, h, hashes);
  return free_512::test(block, h, first_hashes);
}
// Precondition: hashes > first_hashes.
[[gnu::always_inline]] inline bool has_rest(const std::byte* block, hash64 h,
                                            unsigned hashes) noexcept {
  constexpr std::uint64_t power = golden64 * golden64 * golden64 * golden64;
  return free_512::test(block, {h.value * power}, hashes - first_hashes);
}

// The layout's for_words calls `use(word, bits)` for each 64-bit word of the block in which the key
// has bits. Returns whether a bit was clear.
template <class Layout>
[[gnu::always_inline]] inline bool set(Layout, std::byte* block, hash64 h,
                                       unsigned hashes) noexcept {
  std::uint64_t clear = 0;
  Layout::for_words(h, hashes, [&](std::uint64_t word, std::uint64_t bits) noexcept {
    std::byte* const at = block + word * 8;
    const auto before = load<std::uint64_t>(at);
    clear |= bits & ~before;
    store(at, before | bits);
  });
  return clear != 0;
}

}  // namespace scalar

}  // namespace bloomset::detail
