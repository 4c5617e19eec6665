#pragma once

// AVX2 code for one key in a block of a blocked Bloom filter. The bits are those of the scalar
// forms in layout.hpp. Include it where the compiler may use AVX2 and BMI2. All functions are
// always inlined: an emitted function of such a name could be linked into code for a CPU without
// AVX2.

#include <immintrin.h>

#include <array>
#include <bloomset/detail/blocked_bloom/layout.hpp>

namespace bloomset::detail::avx2 {

struct two_halves {
  __m256i low;
  __m256i high;
};

// The place of the key's bit in each lane of a split block, in the lower six bits of the lane. The
// upper bits are others of the product.
[[gnu::always_inline]] inline two_halves places(hash64 h) noexcept {
  const std::uint64_t product = h.value * golden64;
  const __m256i fields = _mm256_set1_epi64x(static_cast<long long>(product));
  return {_mm256_srlv_epi64(fields, _mm256_setr_epi64x(0, 6, 12, 18)),
          _mm256_srlv_epi64(fields, _mm256_setr_epi64x(24, 30, 36, 42))};
}

// The key's bit in each lane of a split block.
[[gnu::always_inline]] inline two_halves mask(split_512, hash64 h) noexcept {
  const two_halves at = places(h);
  const __m256i sixes = _mm256_set1_epi64x(63);
  const __m256i one = _mm256_set1_epi64x(1);
  return {_mm256_sllv_epi64(one, _mm256_and_si256(at.low, sixes)),
          _mm256_sllv_epi64(one, _mm256_and_si256(at.high, sixes))};
}

[[gnu::always_inline]] inline __m256i mask(parquet_256, hash64 h) noexcept {
  const __m256i salts =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(parquet_256::salts.data()));
  const __m256i low = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(h.value)));
  return _mm256_sllv_epi32(_mm256_set1_epi32(1),
                           _mm256_srli_epi32(_mm256_mullo_epi32(low, salts), 27));
}

[[gnu::always_inline]] inline __m256i load(const std::byte* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
[[gnu::always_inline]] inline void store(std::byte* to, __m256i value) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

// The key's bits are shifted to the tops of their lanes, by 63 - place.
[[gnu::always_inline]] inline bool test(split_512, const std::byte* block, hash64 h,
                                        unsigned) noexcept {
  const two_halves at = places(h);
  const __m256i sixes = _mm256_set1_epi64x(63);
  const __m256i tops =
      _mm256_and_si256(_mm256_sllv_epi64(load(block), _mm256_andnot_si256(at.low, sixes)),
                       _mm256_sllv_epi64(load(block + 32), _mm256_andnot_si256(at.high, sixes)));
  return _mm256_movemask_pd(_mm256_castsi256_pd(tops)) == 15;
}

// Sets bits of a block of 512, and returns whether one was clear.
[[gnu::always_inline]] inline bool set_bits(std::byte* block, two_halves bits) noexcept {
  const __m256i low = load(block);
  const __m256i high = load(block + 32);
  const __m256i missing =
      _mm256_or_si256(_mm256_andnot_si256(low, bits.low), _mm256_andnot_si256(high, bits.high));
  store(block, _mm256_or_si256(low, bits.low));
  store(block + 32, _mm256_or_si256(high, bits.high));
  return _mm256_testz_si256(missing, missing) == 0;
}

[[gnu::always_inline]] inline bool set(split_512 layout, std::byte* block, hash64 h,
                                       unsigned) noexcept {
  return set_bits(block, mask(layout, h));
}

[[gnu::always_inline]] inline bool test(parquet_256 layout, const std::byte* block, hash64 h,
                                        unsigned) noexcept {
  return _mm256_testc_si256(load(block), mask(layout, h)) != 0;
}

[[gnu::always_inline]] inline bool set(parquet_256 layout, std::byte* block, hash64 h,
                                       unsigned) noexcept {
  const __m256i bits = mask(layout, h);
  const __m256i before = load(block);
  store(block, _mm256_or_si256(before, bits));
  return _mm256_testc_si256(before, bits) == 0;
}

// The upper and lower halves of the powers of the multiplier, for the free layout.
struct halved_powers {
  alignas(32) std::array<std::uint32_t, max_block_hashes> low;
  alignas(32) std::array<std::uint32_t, max_block_hashes> high;
};
inline constexpr halved_powers golden_halves = [] {
  halved_powers all{};
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < max_block_hashes; ++i) {
    power *= golden64;
    all.low[i] = static_cast<std::uint32_t>(power);
    all.high[i] = static_cast<std::uint32_t>(power >> 32);
  }
  return all;
}();

[[gnu::always_inline]] inline __m256i load(const std::uint32_t* from) noexcept {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
}

// The free layout's positions of a key, in the upper bits of lanes of 32. AVX2 has no product of 64
// bits, so its upper half is the sum of three products of 32 bits. Positions `first` to `first +
// 7`:
[[gnu::always_inline]] inline __m256i eight_positions(hash64 h, unsigned first) noexcept {
  const __m256i hash_low = _mm256_set1_epi32(static_cast<int>(h.value));
  const __m256i hash_high = _mm256_set1_epi32(static_cast<int>(h.value >> 32));
  const __m256i low = load(golden_halves.low.data() + first);
  const __m256i high = load(golden_halves.high.data() + first);
  const __m256i carry =
      _mm256_blend_epi32(_mm256_srli_epi64(_mm256_mul_epu32(hash_low, low), 32),
                         _mm256_mul_epu32(hash_low, _mm256_srli_epi64(low, 32)), 0b10101010);
  return _mm256_add_epi32(carry, _mm256_add_epi32(_mm256_mullo_epi32(hash_low, high),
                                                  _mm256_mullo_epi32(hash_high, low)));
}
// The first four positions, in the odd lanes.
[[gnu::always_inline]] inline __m256i four_positions(hash64 h) noexcept {
  const __m256i hash = _mm256_set1_epi64x(static_cast<long long>(h.value));
  const __m256i low = _mm256_cvtepu32_epi64(
      _mm_load_si128(reinterpret_cast<const __m128i*>(golden_halves.low.data())));
  const __m256i high = _mm256_cvtepu32_epi64(
      _mm_load_si128(reinterpret_cast<const __m128i*>(golden_halves.high.data())));
  const __m256i crossed =
      _mm256_mullo_epi32(hash, _mm256_or_si256(high, _mm256_slli_epi64(low, 32)));
  return _mm256_add_epi32(_mm256_mul_epu32(hash, low),
                          _mm256_add_epi32(crossed, _mm256_slli_epi64(crossed, 32)));
}

// Whether the bits at the positions in the lanes of `wanted` are set. The block is 16 words of 32
// bits: the four high bits of a position choose one, by two permutations of eight words.
[[gnu::always_inline]] inline bool has_bits(const std::byte* block, __m256i position,
                                            __m256i wanted) noexcept {
  const __m256i word = _mm256_srli_epi32(position, 28);
  const __m256i bit = _mm256_srli_epi32(_mm256_slli_epi32(position, 4), 27);
  const __m256i bits = _mm256_sllv_epi32(_mm256_srli_epi32(wanted, 31), bit);
  const auto words = [&](const std::byte* half) __attribute__((always_inline)) {
    return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(half), word));
  };
  const __m256i found = _mm256_castps_si256(
      _mm256_blendv_ps(words(block), words(block + 32), _mm256_castsi256_ps(position)));
  return _mm256_testc_si256(found, bits) != 0;
}

// Whether the block has the bits of positions `first` to `first + 7`, or those of them below
// `hashes`.
[[gnu::always_inline]] inline bool has_eight(const std::byte* block, hash64 h, unsigned hashes,
                                             unsigned first) noexcept {
  const __m256i wanted =
      _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(hashes) - static_cast<int>(first)),
                         _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return has_bits(block, eight_positions(h, first), wanted);
}

// A query in two parts: the first eight positions, and the others.
inline constexpr unsigned first_hashes = 8;
[[gnu::always_inline]] inline bool has_first(const std::byte* block, hash64 h,
                                             unsigned hashes) noexcept {
  if (hashes <= 4) {
    return has_bits(block, four_positions(h),
                    _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(hashes)),
                                       _mm256_setr_epi32(4, 0, 4, 1, 4, 2, 4, 3)));
  }
  return has_eight(block, h, hashes, 0);
}
[[gnu::always_inline]] inline bool has_rest(const std::byte* block, hash64 h,
                                            unsigned hashes) noexcept {
  static_assert(max_block_hashes == 24);
  const bool second = has_eight(block, h, hashes, 8);
  if (hashes <= 16) [[likely]]
    return second;
  return second & has_eight(block, h, hashes, 16);
}

// No loop over eight positions at a time: the branches cost less, since they go the same way for
// all keys of a filter. No early exit: in a mixture of members and non-members its branch costs
// more than it saves (docs/maintain/decisions/kinds/blocked-bloom-lanes.md).
[[gnu::always_inline]] inline bool test(free_512, const std::byte* block, hash64 h,
                                        unsigned hashes) noexcept {
  const bool first = has_first(block, h, hashes);
  if (hashes <= first_hashes) return first;
  return first & has_rest(block, h, hashes);
}

// For each bit of a byte, 128 bytes that are zero but for this bit in the byte at 64. The 64 bytes
// from 64 - i on are thus a block in which only that bit of byte i is set.
inline constexpr std::size_t window_step = 128;
alignas(64) inline constexpr auto one_bit_windows = [] {
  std::array<std::uint8_t, 8 * window_step> all{};
  for (std::size_t bit = 0; bit < 8; ++bit) {
    all[bit * window_step + 64] = static_cast<std::uint8_t>(1U << bit);
  }
  return all;
}();

// The key's bits are combined in registers and its block is written once: single writes to the same
// word wait for each other. Up to eight take less time than the windows.
[[gnu::always_inline]] inline bool set(free_512 layout, std::byte* block, hash64 h,
                                       unsigned hashes) noexcept {
  if (hashes <= 8) return scalar::set(layout, block, h, hashes);
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): an operator of std::array could be emitted with AVX2
  alignas(32) std::uint32_t windows[max_block_hashes];
  for (unsigned first = 0; first < hashes; first += 8) {
    const __m256i position = eight_positions(h, first);
    const __m256i bit =
        _mm256_and_si256(_mm256_srli_epi32(position, 16), _mm256_set1_epi32(7 * int{window_step}));
    const __m256i byte = _mm256_srli_epi32(position, 26);
    _mm256_store_si256(reinterpret_cast<__m256i*>(windows + first),
                       _mm256_sub_epi32(_mm256_add_epi32(bit, _mm256_set1_epi32(64)), byte));
  }
  const auto* const all = reinterpret_cast<const std::byte*>(one_bit_windows.data());
  two_halves bits = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (unsigned i = 0; i < hashes; ++i) {
    bits.low = _mm256_or_si256(bits.low, load(all + windows[i]));
    bits.high = _mm256_or_si256(bits.high, load(all + windows[i] + 32));
  }
  return set_bits(block, bits);
}

}  // namespace bloomset::detail::avx2
