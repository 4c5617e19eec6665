#if defined(__x86_64__)

#include <bloomset/detail/vector_quotient/kernels.hpp>
#include <cstring>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"
#include "kinds/vector_quotient/kernels/group.hpp"

BLOOMSET_TARGET_BEGIN(
    "avx512f,avx512vl,avx512dq,avx512bw,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt")

namespace bloomset::detail {
namespace vq_avx512 {
namespace {

// NOLINTBEGIN(modernize-avoid-c-arrays,misc-const-correctness): an
// operator of std::array could be emitted with this target.

#include "cpu/lanes512.inl"
#include "kinds/vector_quotient/kernels/loops.inl"

// Brings the remainders of a block into lanes: of 8 bits, all in one vector, for r <= 8, else of 16
// bits, the first 32 in one vector and the others in a second. VPERMB brings to each 64-bit word
// the r bytes with the remainders of its 8 lanes (4 lanes of 16 bits begin at half a byte at the
// most). VPMULTISHIFTQB shifts each byte of a lane into place. Bits above the r bits are masked.
struct lane_tables {
  alignas(64) std::uint8_t bytes[2][64];
  alignas(64) std::uint8_t shifts[2][64];
};
constexpr unsigned min_lane_bits = 5;
constexpr unsigned max_lane_bits = 16;
struct all_lanes {
  lane_tables by_bits[max_lane_bits - min_lane_bits + 1];
};
constexpr all_lanes make_lane_tables() {
  all_lanes all{};
  for (unsigned r = min_lane_bits; r <= max_lane_bits; ++r) {
    lane_tables& tables = all.by_bits[r - min_lane_bits];
    const unsigned lane_bytes = r <= 8 ? 1 : 2;
    const unsigned word_lanes = 8 / lane_bytes;
    for (unsigned v = 0; v < 2; ++v) {
      for (unsigned i = 0; i < 64; ++i) {
        const unsigned first = (v * 8 + i / 8) * word_lanes * r;  // bit of its first remainder
        const unsigned byte = first / 8 + i % 8;
        tables.bytes[v][i] = static_cast<std::uint8_t>(byte < 64 ? byte : 63);
        const unsigned lane = i % 8 / lane_bytes;
        tables.shifts[v][i] =
            static_cast<std::uint8_t>((first % 8 + lane * r + i % lane_bytes * 8) % 64);
      }
    }
  }
  return all;
}
constexpr all_lanes all_tables = make_lane_tables();

[[gnu::always_inline]] inline __m512i load_block(const void* at) {
  return _mm512_loadu_si512(at);  // borrowed bytes may begin anywhere
}

// A block is one vector. Its remainders are compared in lanes of 8 bits if Vectors is 0, else in so
// many vectors of lanes of 16 bits.
template <unsigned Vectors, bool is_narrow_layout>
class ops {
 public:
  static constexpr bool is_narrow = is_narrow_layout;
  using vector = __m512i;

  explicit ops(const vq_layout& layout)
      : layout_(layout),
        slots_mask_((std::uint64_t{1} << layout.slots()) - 1),
        word_offsets_(_mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448)),
        behind_slots_(from(layout.slots() * layout.remainder_bits())),
        width_(all(layout.remainder_bits())) {
    const lane_tables& tables = all_tables.by_bits[layout.remainder_bits() - min_lane_bits];
    for (unsigned v = 0; v < 2; ++v) {
      bytes_[v] = load_block(tables.bytes[v]);
      shifts_[v] = load_block(tables.shifts[v]);
    }
    lane_mask_ = broadcast((std::uint64_t{1} << layout.remainder_bits()) - 1);
  }

  // A bit for each slot: whether it has the remainder, in any bucket.
  [[gnu::always_inline]] std::uint64_t equal(const std::byte* bytes, __m512i wanted) const {
    const __m512i block = load_block(bytes);
    const __m512i x =
        _mm512_multishift_epi64_epi8(shifts_[0], _mm512_permutexvar_epi8(bytes_[0], block));
    if constexpr (Vectors == 0) {
      return _mm512_testn_epi8_mask(_mm512_xor_si512(x, wanted), lane_mask_) & slots_mask_;
    } else {
      std::uint64_t found = _mm512_testn_epi16_mask(_mm512_xor_si512(x, wanted), lane_mask_);
      if constexpr (Vectors == 2) {
        const __m512i y =
            _mm512_multishift_epi64_epi8(shifts_[1], _mm512_permutexvar_epi8(bytes_[1], block));
        found |= std::uint64_t{_mm512_testn_epi16_mask(_mm512_xor_si512(y, wanted), lane_mask_)}
                 << 32;
      }
      return found & slots_mask_;
    }
  }
  [[gnu::always_inline]] __m512i broadcast(std::uint64_t remainder) const {
    return Vectors == 0 ? _mm512_set1_epi8(static_cast<char>(remainder))
                        : _mm512_set1_epi16(static_cast<short>(remainder));
  }

  // The slots from `end` on move up by one, and the ends from the bucket's end on by one bit. A
  // shift by more than 63, or by a negative number, gives zero.
  [[gnu::always_inline]] void insert(std::byte* block, unsigned bucket, unsigned end,
                                     std::uint64_t remainder) const {
    const unsigned slot_at = end * layout_.remainder_bits();
    const unsigned end_at = layout_.ends_offset() + end + bucket;
    const __m512i old = load_block(block);
    const __m512i slots = _mm512_and_si512(all_slots_and(old), from(slot_at));
    const __m512i ends = _mm512_and_si512(old, from(end_at));
    // In a damaged block the last slot may have bits, which must not become ends.
    const __m512i slots_up = all_slots_and(_mm512_shldv_epi64(slots, one_down(slots), width_));
    const __m512i ends_up = _mm512_shldi_epi64(ends, one_down(ends), 1);
    const __m512i value = all(remainder);
    const __m512i offset = _mm512_sub_epi64(all(slot_at), word_offsets_);
    const __m512i low = _mm512_sllv_epi64(value, offset);
    const __m512i high = _mm512_srlv_epi64(value, _mm512_sub_epi64(word_offsets_, all(slot_at)));
    const __m512i one = _mm512_sllv_epi64(all(1), _mm512_sub_epi64(all(end_at), word_offsets_));
    const __m512i kept = _mm512_ternarylogic_epi64(old, slots, ends, a_xor_b_xor_c);
    const __m512i moved = _mm512_ternarylogic_epi64(slots_up, ends_up, one, a_or_b_or_c);
    const __m512i with_value = _mm512_ternarylogic_epi64(low, high, kept, a_or_b_or_c);
    _mm512_store_si512(block, _mm512_or_si512(moved, with_value));
  }

  [[gnu::always_inline]] void erase(std::byte* block, unsigned bucket, unsigned slot) const {
    const __m512i old = load_block(block);
    const __m512i slots = all_slots_and(old);
    const __m512i from_slot = from(slot * layout_.remainder_bits());
    const __m512i from_end = from(layout_.ends_offset() + slot + bucket);
    const __m512i slots_down = _mm512_shrdv_epi64(slots, one_up(slots), width_);
    const __m512i ends_down = _mm512_shrdi_epi64(old, one_up(old), 1);
    // The ends begin behind the slots, so the bits from a slot on are slots, zeros and ends.
    const __m512i ends = _mm512_xor_si512(old, slots);
    const __m512i new_slots =
        _mm512_ternarylogic_epi64(from_slot, slots_down, slots, a_selects_b_else_c);
    const __m512i new_ends =
        _mm512_ternarylogic_epi64(from_end, ends_down, ends, a_selects_b_else_c);
    _mm512_store_si512(block, _mm512_or_si512(new_slots, new_ends));
  }

 private:
  // Truth tables of VPTERNLOGQ.
  static constexpr int a_or_b_or_c = 0xfe;
  static constexpr int a_xor_b_xor_c = 0x96;
  static constexpr int a_selects_b_else_c = 0xca;

  [[gnu::always_inline]] static __m512i all(std::uint64_t x) {
    return _mm512_set1_epi64(static_cast<long long>(x));
  }
  [[gnu::always_inline]] static __m512i one_down(__m512i words) {
    return _mm512_alignr_epi64(words, _mm512_setzero_si512(), 7);
  }
  [[gnu::always_inline]] static __m512i one_up(__m512i words) {
    return _mm512_alignr_epi64(_mm512_setzero_si512(), words, 1);
  }
  // The bits of a block from `bit` on. Bits are less than 2^16, so a lane of 16 bits has the
  // distance from each word, or 0 if the word is behind the bit.
  [[gnu::always_inline]] __m512i from(unsigned bit) const {
    return _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_subs_epu16(all(bit), word_offsets_));
  }
  // The bits of all slots of a block.
  [[gnu::always_inline]] __m512i all_slots_and(__m512i block) const {
    return _mm512_andnot_si512(behind_slots_, block);
  }

  const vq_layout& layout_;
  std::uint64_t slots_mask_;
  __m512i bytes_[2];
  __m512i shifts_[2];
  __m512i lane_mask_;
  __m512i word_offsets_;  // of the words of a block, in bits
  __m512i behind_slots_;  // all bits behind those of the slots
  __m512i width_;
};

// NOLINTEND(modernize-avoid-c-arrays,misc-const-correctness)

}  // namespace
}  // namespace vq_avx512

// Remainders of more than 16 bits are left to AVX2, which has lanes of 32 bits.
const vq_kernels& vq_kernels::vector512(const vq_layout& layout) noexcept {
  using namespace vq_avx512;
  if (layout.remainder_bits() > max_lane_bits) return vector256(layout);
  const bool is_short = layout.remainder_bits() <= 8;
  if (!layout.is_narrow()) [[unlikely]] {
    return is_short ? vq_kernels_of<ops<0, false>> : vq_kernels_of<ops<2, false>>;
  }
  if (is_short) return vq_kernels_of<ops<0, true>>;
  return layout.slots() <= 32 ? vq_kernels_of<ops<1, true>> : vq_kernels_of<ops<2, true>>;
}

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
