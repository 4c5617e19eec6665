#pragma once

// Queries and inserts of one key in a blocked Bloom filter. A program that is compiled for AVX-512
// or AVX2 (-march=native and the like) has their code inline. For any other x86-64 they are calls
// of the kernels for this CPU, since without AVX2 the code is so long that a core overlaps few
// cache misses: at 30 million keys it takes twice as long as the call
// (docs/maintain/decisions/kinds/blocked-bloom-lanes.md). Elsewhere they are the scalar form,
// inline. The bits are the same.

#include <bloomset/detail/blocked_bloom/kernels.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>

#if defined(__AVX512VBMI__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <bloomset/detail/blocked_bloom/avx512.hpp>
#elif defined(__AVX2__)
#include <bloomset/detail/blocked_bloom/avx2.hpp>
#endif

namespace bloomset::detail {

#if defined(__x86_64__) && !defined(__AVX2__)

[[gnu::always_inline]] inline bool block_has(const std::byte* data, std::uint64_t blocks,
                                             block_layout layout, unsigned hashes,
                                             hash64 h) noexcept {
  const auto& kernels = single_key_kernels_of[static_cast<std::size_t>(layout)];
  return kernels.may_contain.load(std::memory_order_relaxed)(data, blocks, h, hashes);
}

[[gnu::always_inline]] inline bool block_set(std::byte* data, std::uint64_t blocks,
                                             block_layout layout, unsigned hashes,
                                             hash64 h) noexcept {
  const auto& kernels = single_key_kernels_of[static_cast<std::size_t>(layout)];
  return kernels.insert.load(std::memory_order_relaxed)(data, blocks, h, hashes);
}

#else

#if defined(__AVX512VBMI__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
namespace native = avx512;
#elif defined(__AVX2__)
namespace native = avx2;
#else
namespace native = scalar;
#endif

[[gnu::always_inline]] inline bool block_has(const std::byte* data, std::uint64_t blocks,
                                             block_layout layout, unsigned hashes,
                                             hash64 h) noexcept {
  return with_layout(layout, [&](auto of) __attribute__((always_inline)) {
    return native::test(of, data + of.block_of(h, blocks) * of.block_bytes, h, hashes);
  });
}

[[gnu::always_inline]] inline bool block_set(std::byte* data, std::uint64_t blocks,
                                             block_layout layout, unsigned hashes,
                                             hash64 h) noexcept {
  return with_layout(layout, [&](auto of) __attribute__((always_inline)) {
    return native::set(of, data + of.block_of(h, blocks) * of.block_bytes, h, hashes);
  });
}

#endif

}  // namespace bloomset::detail
