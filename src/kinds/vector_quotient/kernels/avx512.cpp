#if defined(__x86_64__)

#include <bloomery/detail/vector_quotient/kernels.hpp>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"
#include "kinds/vector_quotient/kernels/group.hpp"

BLOOMERY_TARGET_BEGIN(
    "avx512f,avx512vl,avx512dq,avx512bw,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace vq_avx512 {
namespace {

// NOLINTBEGIN(modernize-avoid-c-arrays,portability-simd-intrinsics,misc-const-correctness): an
// operator of std::array could be emitted with this target.

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
    const unsigned lanes = 8 / lane_bytes;
    for (unsigned v = 0; v < 2; ++v) {
      for (unsigned i = 0; i < 64; ++i) {
        const unsigned first = (v * 8 + i / 8) * lanes * r;  // bit of the word's first remainder
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
constexpr all_lanes lanes = make_lane_tables();

[[gnu::always_inline]] inline __m512i load_block(const void* at) {
  return _mm512_loadu_si512(at);  // borrowed bytes may begin anywhere
}

// Compares all remainders of a block at once. Vectors is 0 for lanes of 8 bits, else the number of
// vectors of 16-bit lanes.
template <unsigned Vectors>
class comparer {
 public:
  explicit comparer(const vq_layout& layout)
      : slots_mask_((std::uint64_t{1} << layout.slots()) - 1) {
    const lane_tables& tables = lanes.by_bits[layout.remainder_bits() - min_lane_bits];
    for (unsigned v = 0; v < 2; ++v) {
      bytes_[v] = load_block(tables.bytes[v]);
      shifts_[v] = load_block(tables.shifts[v]);
    }
    const auto ones = static_cast<int>((std::uint32_t{1} << layout.remainder_bits()) - 1);
    lane_mask_ = Vectors == 0 ? _mm512_set1_epi8(static_cast<char>(ones))
                              : _mm512_set1_epi16(static_cast<short>(ones));
  }

  // A bit for each slot: whether it has the remainder, in any bucket.
  [[gnu::always_inline]] std::uint64_t equal(__m512i block, __m512i wanted) const {
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
  // The slots of `equal` in the run, from its first. A run ends before slot 64.
  [[gnu::always_inline]] static std::uint64_t in_run(std::uint64_t equal, vq_run run) {
    return _bzhi_u64(equal, run.end) >> run.begin;
  }

 private:
  std::uint64_t slots_mask_;
  __m512i bytes_[2];
  __m512i shifts_[2];
  __m512i lane_mask_;
};

template <unsigned Vectors>
class ops : public comparer<Vectors> {
 public:
  using comparer<Vectors>::equal;
  using comparer<Vectors>::broadcast;
  using comparer<Vectors>::in_run;

  explicit ops(const vq_layout& layout)
      : comparer<Vectors>(layout),
        layout_(layout),
        word_offsets_(_mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448)),
        all_slots_(below(layout.slots() * layout.remainder_bits())),
        last_slot_(
            _mm512_andnot_si512(below((layout.slots() - 1) * layout.remainder_bits()), all_slots_)),
        width_(all(layout.remainder_bits())) {}

  // vq_layout::place for eight keys at once, if there are less than 2^32 blocks. Tags are always
  // less.
  [[gnu::always_inline]] void place(const hash64* hashes, std::size_t n, vq_group& group) const {
    if (layout_.blocks() >> 32 != 0) [[unlikely]] {
      vq_place_group(layout_, hashes, n, group);
      return;
    }
    const __m512i blocks = all(layout_.blocks());
    const __m512i tags = all(layout_.tags());
    const __m512i last_region = all(layout_.last_region());
    const __m512i last_size = all(layout_.blocks() - layout_.last_region());
    for (std::size_t i = 0; i < n; i += 8) {
      const auto valid = static_cast<__mmask8>(n - i < 8 ? (1U << (n - i)) - 1 : 0xff);
      const __m512i h = _mm512_maskz_loadu_epi64(valid, hashes + i);
      const __m512i first = upper_product(h, blocks);
      const __m512i tag = upper_product(_mm512_mullo_epi64(h, all(0x9e3779b97f4a7c15)), tags);
      const __mmask8 is_last = _mm512_cmpge_epu64_mask(first, last_region);
      const __m512i base = _mm512_mask_mov_epi64(
          _mm512_and_si512(first, all(~(vq_region_blocks - 1))), is_last, last_region);
      const __m512i size = _mm512_mask_mov_epi64(all(vq_region_blocks), is_last, last_size);
      __m512i g = _mm512_mullo_epi64(tag, all(0xbf58476d1ce4e5b9));
      g = _mm512_xor_si512(g, _mm512_srli_epi64(g, 32));
      g = _mm512_srli_epi64(_mm512_mullo_epi64(g, all(0x94d049bb133111eb)), 32);
      g = _mm512_srli_epi64(_mm512_mul_epu32(g, size), 32);
      const __m512i local = _mm512_sub_epi64(first, base);
      __m512i other = _mm512_sub_epi64(g, local);
      other = _mm512_mask_add_epi64(other, _mm512_cmplt_epu64_mask(g, local), other, size);
      _mm512_store_si512(group.first + i, first);
      _mm512_store_si512(group.second + i, _mm512_add_epi64(base, other));
      _mm512_store_si512(group.tag + i, tag);
    }
  }

  [[gnu::always_inline]] vq_lookup look_up(const std::byte* block, unsigned bucket,
                                           std::uint64_t remainder) const {
    const std::uint64_t anywhere = equal(load_block(block), broadcast(remainder));
    const vq_ends ends = layout_.ends(block);
    const vq_run run = run_by_pdep(layout_, ends, bucket);
    const std::uint64_t found = in_run(anywhere, run);
    return {static_cast<unsigned>(__builtin_popcountll(found)),
            run.begin + static_cast<unsigned>(_tzcnt_u64(found)), run.end, layout_.taken(ends)};
  }

  // The whole block as one vector. A shift by more than 63, or by a negative number, gives zero.
  [[gnu::always_inline]] void insert(std::byte* block, unsigned bucket, unsigned end,
                                     std::uint64_t remainder) const {
    const unsigned slot_at = end * layout_.remainder_bits();
    const unsigned end_at = layout_.ends_offset() + end + bucket;
    const __m512i old = load_block(block);
    const __m512i lower = _mm512_alignr_epi64(old, _mm512_setzero_si512(), 7);  // words one down
    const __m512i by_width = _mm512_shldv_epi64(old, lower, width_);
    const __m512i by_one = _mm512_shldi_epi64(old, lower, 1);
    const __m512i ends_above = from(end_at);
    const __m512i moved = _mm512_and_si512(from(slot_at + layout_.remainder_bits()), all_slots_);
    const __m512i changed =
        _mm512_or_si512(_mm512_and_si512(from(slot_at), all_slots_), ends_above);
    const __m512i value = all(remainder);
    const __m512i offset = _mm512_sub_epi64(all(slot_at), word_offsets_);
    const __m512i inserted =
        _mm512_or_si512(_mm512_sllv_epi64(value, offset),
                        _mm512_srlv_epi64(value, _mm512_sub_epi64(_mm512_setzero_si512(), offset)));
    const __m512i one = _mm512_sllv_epi64(all(1), _mm512_sub_epi64(all(end_at), word_offsets_));
    __m512i updated = _mm512_andnot_si512(changed, old);
    updated = _mm512_ternarylogic_epi64(updated, by_width, moved, a_or_b_and_c);
    updated = _mm512_ternarylogic_epi64(updated, by_one, _mm512_andnot_si512(one, ends_above),
                                        a_or_b_and_c);
    updated = _mm512_ternarylogic_epi64(updated, inserted, one, a_or_b_or_c);
    _mm512_store_si512(block, updated);
  }

  [[gnu::always_inline]] void erase(std::byte* block, unsigned bucket, unsigned slot) const {
    const unsigned slot_at = slot * layout_.remainder_bits();
    const unsigned end_at = layout_.ends_offset() + slot + bucket;
    const __m512i old = load_block(block);
    const __m512i upper = _mm512_alignr_epi64(_mm512_setzero_si512(), old, 1);  // words one up
    const __m512i by_width = _mm512_shrdv_epi64(old, upper, width_);
    const __m512i by_one = _mm512_shrdi_epi64(old, upper, 1);
    const __m512i above = _mm512_and_si512(from(slot_at), all_slots_);
    const __m512i ends_above = from(end_at);
    __m512i updated = _mm512_andnot_si512(_mm512_or_si512(above, ends_above), old);
    updated = _mm512_ternarylogic_epi64(updated, by_width, _mm512_andnot_si512(last_slot_, above),
                                        a_or_b_and_c);
    updated = _mm512_ternarylogic_epi64(updated, by_one, ends_above, a_or_b_and_c);
    _mm512_store_si512(block, updated);
  }

 private:
  // Truth tables of VPTERNLOGQ.
  static constexpr int a_or_b_and_c = 0xf8;
  static constexpr int a_or_b_or_c = 0xfe;

  [[gnu::always_inline]] static __m512i all(std::uint64_t x) {
    return _mm512_set1_epi64(static_cast<long long>(x));
  }
  // mulhi64 for n < 2^32.
  [[gnu::always_inline]] static __m512i upper_product(__m512i x, __m512i n) {
    const __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(x, n), 32);
    const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), n);
    return _mm512_srli_epi64(_mm512_add_epi64(high, low), 32);
  }

  // The bits of a block from `bit` on, and those below it.
  [[gnu::always_inline]] __m512i from(unsigned bit) const {
    const __m512i offset = _mm512_sub_epi64(all(bit), word_offsets_);
    return _mm512_sllv_epi64(_mm512_set1_epi64(-1),
                             _mm512_max_epi64(offset, _mm512_setzero_si512()));
  }
  [[gnu::always_inline]] __m512i below(unsigned bit) const {
    return _mm512_andnot_si512(from(bit), _mm512_set1_epi64(-1));
  }

  const vq_layout& layout_;
  __m512i word_offsets_;  // of the words of a block, in bits
  __m512i all_slots_;     // the bits of all slots
  __m512i last_slot_;
  __m512i width_;
};

// A block that has an equal remainder somewhere, so that its bucket's run has to be found.
struct candidate {
  const std::byte* block;
  std::uint64_t equal;
  std::size_t key;
};

// Keys whose blocks are compared while the blocks of as many later keys are fetched.
constexpr std::size_t query_group = 24;
static_assert(query_group <= vq_group_size);

// Into the second-level cache: a core has at most 16 lines under way to the first level, and 48 to
// the second (Intel Golden Cove).
[[gnu::always_inline]] inline void prefetch_l2(const std::byte* blocks, const vq_group& group,
                                               std::size_t i) {
  constexpr int second_level = 2;
  prefetch_line<0, second_level>(blocks + group.first[i] * vq_block_bytes);
  prefetch_line<0, second_level>(blocks + group.second[i] * vq_block_bytes);
}

// Two steps without unpredictable branches. The first compares all blocks of a group and lists
// those with an equal remainder: one in 3 at r = 7, one in 25 at r = 10. The second finds the runs
// of the listed blocks. The blocks of the next group are prefetched between the comparisons, one
// key at a time: prefetched all at once they wait for each other, and the comparisons for them.
template <class Ops>
void may_contain_loop(const vq_reader& filter, std::span<const hash64> hashes, bool* answers) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  const std::byte* const blocks = filter.blocks;
  const hash64* const h = hashes.data();
  const std::size_t n = hashes.size();
  vq_group groups[2];
  candidate candidates[2 * query_group + 1];
  std::size_t size = n > query_group ? query_group : n;
  ops.place(h, size, groups[0]);
  for (std::size_t i = 0; i < size; ++i) prefetch_l2(blocks, groups[0], i);
  std::size_t first = 0;
  for (unsigned turn = 0; size != 0; turn ^= 1) {
    const std::size_t left = n - first - size;
    const std::size_t next_size = left > query_group ? query_group : left;
    const vq_group& group = groups[turn];
    vq_group& next = groups[turn ^ 1];
    ops.place(h + first + size, next_size, next);
    std::size_t listed = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (i < next_size) prefetch_l2(blocks, next, i);
      const __m512i wanted = ops.broadcast(layout.remainder_of(group.tag[i]));
      for (const std::uint64_t at : {group.first[i], group.second[i]}) {
        const std::byte* const block = layout.block(blocks, at);
        const std::uint64_t equal = ops.equal(load_block(block), wanted);
        candidates[listed] = {block, equal, i};
        listed += equal != 0;
      }
      answers[first + i] = false;
    }
    for (std::size_t i = 0; i < listed; ++i) {
      const candidate& c = candidates[i];
      const vq_run run =
          run_by_pdep(layout, layout.ends(c.block), layout.bucket_of(group.tag[c.key]));
      answers[first + c.key] |= ops.in_run(c.equal, run) != 0;
    }
    if (filter.stashed != 0) [[unlikely]] {
      for (std::size_t i = 0; i < size; ++i) {
        answers[first + i] |= vq_stashed_copies(filter, group[i]) != 0;
      }
    }
    first += size;
    size = next_size;
  }
}

// NOLINTEND(modernize-avoid-c-arrays,portability-simd-intrinsics,misc-const-correctness)

// A single key. The runs are needed only if a remainder is equal. That is rare for an absent key if
// remainders are long; if they are short it cannot be predicted, and the runs are found anyway.
template <unsigned Vectors>
bool contains_by(const vq_reader& filter, const vector_quotient_place& at) {
  const vq_layout& layout = *filter.layout;
  const comparer<Vectors> compare(layout);
  const __m512i wanted = compare.broadcast(layout.remainder_of(at.tag));
  const std::byte* const a = layout.block(filter.blocks, at.first);
  const std::byte* const b = layout.block(filter.blocks, at.second);
  const std::uint64_t in_a = compare.equal(load_block(a), wanted);
  const std::uint64_t in_b = compare.equal(load_block(b), wanted);
  if (layout.remainder_bits() < 8 || (in_a | in_b) != 0) {
    const unsigned bucket = layout.bucket_of(at.tag);
    const vq_run run_a = run_by_pdep(layout, layout.ends(a), bucket);
    const vq_run run_b = run_by_pdep(layout, layout.ends(b), bucket);
    if ((compare.in_run(in_a, run_a) | compare.in_run(in_b, run_b)) != 0) return true;
  }
  return filter.stashed != 0 && vq_stashed_copies(filter, at) != 0;
}

template <unsigned Vectors>
constexpr vq_kernels kernels = {contains_by<Vectors>, may_contain_loop<ops<Vectors>>,
                                vq_count_loop<ops<Vectors>>, vq_insert_loop<ops<Vectors>>,
                                vq_erase_loop<ops<Vectors>>};

}  // namespace
}  // namespace vq_avx512

// Remainders of more than 16 bits are left to AVX2: they would need lanes of 32 bits.
const vq_kernels& vq_kernels::vector512(const vq_layout& layout) noexcept {
  if (layout.remainder_bits() <= 8) return vq_avx512::kernels<0>;
  if (layout.remainder_bits() > vq_avx512::max_lane_bits) return vector256;
  return layout.slots() <= 32 ? vq_avx512::kernels<1> : vq_avx512::kernels<2>;
}

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
