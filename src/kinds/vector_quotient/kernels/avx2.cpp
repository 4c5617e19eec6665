#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomset/detail/vector_quotient/kernels.hpp>
#include <cstring>

#include "cpu/target.hpp"
#include "kinds/vector_quotient/kernels/group.hpp"

BLOOMSET_TARGET_BEGIN("avx2,bmi,bmi2,popcnt")

namespace bloomset::detail {
namespace vq_avx2 {
namespace {

// NOLINTBEGIN(modernize-avoid-c-arrays,misc-const-correctness): an
// operator of std::array could be emitted with this target.

#include "cpu/lanes256.inl"
#include "kinds/vector_quotient/kernels/loops.inl"

// Remainders of 8 bits are lanes as they are. For others VPSHUFB brings to each lane the bytes that
// have its remainder, which begins at bit 0 to 7 of the lane. Lanes have 16 bits for r < 8 and 32
// bits for r > 8. Instead of shifting all remainders into place, the wanted remainder is shifted
// once, and the bits beside the others are masked.
constexpr unsigned min_lane_bits = 5;
constexpr unsigned max_lane_bits = 24;
constexpr unsigned max_vectors = 7;  // of 8 lanes of 32 bits: a block has at most 50 remainders
struct lane_tables {
  // 32-bit lanes: for each vector. 16-bit lanes: from the 16 remainders of a half of a vector, the
  // first eight, and the others.
  alignas(32) std::uint8_t bytes[max_vectors][32];
  alignas(32) std::uint8_t shifts[32];   // 16-bit lanes: powers of two; 32-bit lanes: exponents
  std::uint8_t offsets[max_vectors][2];  // 32-bit lanes: of the halves of a vector in the block
};
struct all_lanes {
  lane_tables by_bits[max_lane_bits - min_lane_bits + 1];
};
constexpr all_lanes make_lane_tables() {
  all_lanes all{};
  for (unsigned r = min_lane_bits; r <= max_lane_bits; ++r) {
    lane_tables& tables = all.by_bits[r - min_lane_bits];
    const bool is_short = r <= 8;
    const unsigned lane_bytes = is_short ? 2 : 4;
    for (unsigned v = 0; v < max_vectors; ++v) {
      for (unsigned i = 0; i < 32; i += lane_bytes) {
        const unsigned half = i / 16;
        const unsigned first = is_short ? 8 * (v % 2) : 8 * v + 4 * half;
        const unsigned bit = (first + i % 16 / lane_bytes) * r;
        // 16 bytes from there are in the block.
        const unsigned offset = is_short ? 0 : first * r / 8 < 48 ? first * r / 8 : 48;
        tables.offsets[v][half] = static_cast<std::uint8_t>(offset);
        for (unsigned j = 0; j < lane_bytes; ++j) {
          tables.bytes[v][i + j] = static_cast<std::uint8_t>((bit / 8 + j - offset) % 16);
        }
        tables.shifts[i] = static_cast<std::uint8_t>(is_short ? 1U << (bit % 8) : bit % 8);
      }
    }
  }
  return all;
}
constexpr all_lanes all_tables = make_lane_tables();

[[gnu::always_inline]] inline __m256i load_half(const void* at) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

[[gnu::always_inline]] inline __m256i all(std::uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}

// A block is two vectors, words 0 to 3 and 4 to 7. The ends are in the upper one.
template <unsigned LaneBits, bool is_narrow_layout>
class ops {
 public:
  static constexpr bool is_narrow = is_narrow_layout;
  using vector = __m256i;

  [[gnu::always_inline]] explicit ops(const vq_layout& layout)
      : layout_(layout),
        slots_(layout.slots()),
        bits_(layout.remainder_bits()),
        tables_(all_tables.by_bits[bits_ - min_lane_bits]),
        low_slots_(_mm256_andnot_si256(from(slots_ * bits_), all(~std::uint64_t{0}))),
        high_slots_(_mm256_andnot_si256(from(slots_ * bits_ - upper), all(~std::uint64_t{0}))) {
    if constexpr (LaneBits != 8) {
      shifts_ = load_half(tables_.shifts);
      mask_ = broadcast((std::uint64_t{1} << bits_) - 1);
    }
  }

  [[gnu::always_inline]] __m256i broadcast(std::uint64_t remainder) const {
    if constexpr (LaneBits == 8) return _mm256_set1_epi8(static_cast<char>(remainder));
    if constexpr (LaneBits == 16) {
      return _mm256_mullo_epi16(_mm256_set1_epi16(static_cast<short>(remainder)), shifts_);
    }
    return _mm256_sllv_epi32(_mm256_set1_epi32(static_cast<int>(remainder)), shifts_);
  }

  [[gnu::always_inline]] std::uint64_t equal(const std::byte* block, __m256i wanted) const {
    std::uint64_t found = 0;
    if constexpr (LaneBits == 8) {
      found = bytes_set(_mm256_cmpeq_epi8(load_half(block), wanted)) |
              bytes_set(_mm256_cmpeq_epi8(load_half(block + 32), wanted)) << 32;
    } else if constexpr (LaneBits == 16) {
      found = equal_of_32(block, wanted) | equal_of_32(block + std::size_t{4} * bits_, wanted)
                                               << 32;
    } else {
      const unsigned vectors = (slots_ + 7) / 8;
      for (unsigned v = 0; v < vectors; ++v) {
        const __m256i bytes =
            two_halves(block + tables_.offsets[v][0], block + tables_.offsets[v][1]);
        const __m256i remainders = _mm256_shuffle_epi8(bytes, load_half(tables_.bytes[v]));
        const __m256i same = _mm256_cmpeq_epi32(_mm256_and_si256(remainders, mask_), wanted);
        const int set = _mm256_movemask_ps(_mm256_castsi256_ps(same));
        found |= std::uint64_t{static_cast<unsigned>(set)} << (8 * v);
      }
    }
    return _bzhi_u64(found, slots_);
  }

  [[gnu::always_inline]] void insert(std::byte* block, unsigned bucket, unsigned end,
                                     std::uint64_t remainder) const {
    const unsigned slot_at = end * bits_;
    const unsigned end_at = layout_.ends_offset() + end + bucket;
    const halves old = load(block);
    const halves from_slot = slots_from(slot_at);
    const halves moved{_mm256_and_si256(old.low, from_slot.low),
                       _mm256_and_si256(old.high, from_slot.high)};
    const __m256i ends = _mm256_and_si256(old.high, from(end_at - upper));
    const halves below{
        _mm256_blend_epi32(_mm256_permute4x64_epi64(moved.low, 0x90), _mm256_setzero_si256(), 0x03),
        _mm256_alignr_epi8(moved.high, middle(moved), 8)};
    const halves slots{shifted_up(moved.low, below.low, bits_),
                       shifted_up(moved.high, below.high, bits_)};
    // The word below the lowest of the ends has none.
    const __m256i ends_up = shifted_up(ends, _mm256_permute4x64_epi64(ends, 0x90), 1);
    const __m256i one = _mm256_sllv_epi64(all(1), distance(end_at - upper));
    __m256i high = replaced(old.high, moved.high, _mm256_and_si256(slots.high, high_slots_));
    high = replaced(high, ends, _mm256_or_si256(ends_up, one));
    store(block, replaced(old.low, moved.low, _mm256_and_si256(slots.low, low_slots_)), high);
    // The gap is in one of the vectors or in both; 8 bytes from its first byte hold all of it.
    std::uint64_t gap = 0;
    __builtin_memcpy(&gap, block + slot_at / 8, sizeof gap);
    gap |= remainder << (slot_at % 8);
    __builtin_memcpy(block + slot_at / 8, &gap, sizeof gap);
  }

  [[gnu::always_inline]] void erase(std::byte* block, unsigned bucket, unsigned slot) const {
    const halves old = load(block);
    const halves from_slot = slots_from(slot * bits_);
    const __m256i from_end = from(layout_.ends_offset() + slot + bucket - upper);
    const halves slots{_mm256_and_si256(old.low, low_slots_),
                       _mm256_and_si256(old.high, high_slots_)};
    const __m256i low_up = _mm256_alignr_epi8(middle(slots), slots.low, 8);
    const __m256i low = shifted_down(slots.low, low_up, bits_);
    const __m256i high = shifted_down(slots.high, one_up(slots.high), bits_);
    const __m256i ends = shifted_down(old.high, one_up(old.high), 1);
    store(block, merged(old.low, from_slot.low, low),
          merged(merged(old.high, from_slot.high, high), from_end, ends));
  }

 private:
  struct halves {
    __m256i low;
    __m256i high;
  };
  static constexpr unsigned upper = 256;  // the first bit of the upper half

  [[gnu::always_inline]] static std::uint64_t bytes_set(__m256i x) {
    return static_cast<unsigned>(_mm256_movemask_epi8(x));
  }
  [[gnu::always_inline]] static __m256i two_halves(const std::byte* low, const std::byte* high) {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)), 1);
  }
  // 16 remainders have 2 r bytes, at most 14. VPACKSSWB takes the lower halves first.
  [[gnu::always_inline]] std::uint64_t equal_of_32(const std::byte* at, __m256i wanted) const {
    const __m256i bytes = two_halves(at, at + std::size_t{2} * bits_);
    const auto same = [&](unsigned v) __attribute__((always_inline)) {
      const __m256i remainders = _mm256_shuffle_epi8(bytes, load_half(tables_.bytes[v]));
      return _mm256_cmpeq_epi16(_mm256_and_si256(remainders, mask_), wanted);
    };
    return bytes_set(_mm256_packs_epi16(same(0), same(1)));
  }

  [[gnu::always_inline]] static halves load(const std::byte* block) {
    return {load_half(block), load_half(block + 32)};
  }
  [[gnu::always_inline]] static void store(std::byte* block, __m256i low, __m256i high) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(block), low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(block + 32), high);
  }
  // The distance of a bit of a half from each word; negative before the half. Shifts by more than
  // 63, or by a negative number, give 0.
  [[gnu::always_inline]] static __m256i distance(unsigned bit) {
    return _mm256_sub_epi64(_mm256_set1_epi64x(static_cast<int>(bit)),
                            _mm256_setr_epi64x(0, 64, 128, 192));
  }
  // The bits of a half from `bit` on.
  [[gnu::always_inline]] static __m256i from(unsigned bit) {
    const __m256i by = distance(bit);
    return _mm256_or_si256(_mm256_sllv_epi64(all(~std::uint64_t{0}), by),
                           _mm256_cmpgt_epi64(_mm256_setzero_si256(), by));
  }
  // The bits of the slots from `bit` on.
  [[gnu::always_inline]] halves slots_from(unsigned bit) const {
    return {_mm256_and_si256(from(bit), low_slots_),
            _mm256_and_si256(from(bit - upper), high_slots_)};
  }
  // Words 2 to 5.
  [[gnu::always_inline]] static __m256i middle(halves x) {
    return _mm256_permute2x128_si256(x.low, x.high, 0x21);
  }
  [[gnu::always_inline]] static __m256i one_up(__m256i x) {
    return _mm256_blend_epi32(_mm256_permute4x64_epi64(x, 0x39), _mm256_setzero_si256(), 0xc0);
  }
  // Shifts by `width` bits across words.
  [[gnu::always_inline]] static __m256i shifted_up(__m256i x, __m256i below, unsigned width) {
    return _mm256_or_si256(_mm256_sll_epi64(x, count(width)),
                           _mm256_srl_epi64(below, count(64 - width)));
  }
  [[gnu::always_inline]] static __m256i shifted_down(__m256i x, __m256i above, unsigned width) {
    return _mm256_or_si256(_mm256_srl_epi64(x, count(width)),
                           _mm256_sll_epi64(above, count(64 - width)));
  }
  [[gnu::always_inline]] static __m128i count(unsigned n) {
    return _mm_cvtsi32_si128(static_cast<int>(n));
  }
  // `x` with other bits in place of some of its bits.
  [[gnu::always_inline]] static __m256i replaced(__m256i x, __m256i some, __m256i others) {
    return _mm256_or_si256(_mm256_xor_si256(x, some), others);
  }

  // `x` with the bits of `other` where the mask is set.
  [[gnu::always_inline]] static __m256i merged(__m256i x, __m256i mask, __m256i other) {
    return _mm256_xor_si256(x, _mm256_and_si256(_mm256_xor_si256(x, other), mask));
  }

  const vq_layout& layout_;
  unsigned slots_;
  unsigned bits_;
  const lane_tables& tables_;
  __m256i shifts_;
  __m256i mask_;
  __m256i low_slots_;
  __m256i high_slots_;
};

// NOLINTEND(modernize-avoid-c-arrays,misc-const-correctness)

}  // namespace
}  // namespace vq_avx2

// Longer remainders are left to the scalar kernels. They are for rates below 10^-7.
const vq_kernels& vq_kernels::vector256(const vq_layout& layout) noexcept {
  using namespace vq_avx2;
  const unsigned bits = layout.remainder_bits();
  const bool is_narrow = layout.is_narrow();
  if (bits == 8) return is_narrow ? vq_kernels_of<ops<8, true>> : vq_kernels_of<ops<8, false>>;
  if (bits < 8) return is_narrow ? vq_kernels_of<ops<16, true>> : vq_kernels_of<ops<16, false>>;
  if (bits <= max_lane_bits) {
    return is_narrow ? vq_kernels_of<ops<32, true>> : vq_kernels_of<ops<32, false>>;
  }
  return scalar;
}

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
