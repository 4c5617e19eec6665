#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomery/detail/vector_quotient/kernels.hpp>

#include "cpu/target.hpp"
#include "kinds/vector_quotient/kernels/seen.hpp"
#include "kinds/vector_quotient/kernels/table.hpp"

#if !defined(__clang__)
// g++ 12 warns of its own _mm512_undefined_epi32() (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

BLOOMERY_TARGET_BEGIN(
    "avx512f,avx512vl,avx512dq,avx512bw,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace vq_avx512 {
namespace {

// NOLINTBEGIN(modernize-avoid-c-arrays,portability-simd-intrinsics,misc-const-correctness): an
// operator of std::array could be emitted with this target.

#include "kinds/vector_quotient/kernels/bmi2.inl"

// How remainders of r bits come into lanes of 8 bits, all in one vector, or for r > 8 of 16, the
// first 32 in the first vector and the rest in the second. VPERMB brings to each 64-bit word the
// bytes that its lanes' remainders are in (r bytes for eight lanes of 8 bits; four lanes of 16
// begin at half a byte at the most), VPMULTISHIFTQB shifts each byte of a lane into place; what it
// brings above the r bits is masked away.
struct lane_tables {
  alignas(64) std::uint8_t bytes[2][64];
  alignas(64) std::uint8_t shifts[2][64];
};
constexpr unsigned min_lanes = 5;
constexpr unsigned max_lanes = 16;
struct all_lanes {
  lane_tables of[max_lanes - min_lanes + 1];
};
constexpr all_lanes find_lanes() {
  all_lanes all{};
  for (unsigned r = min_lanes; r <= max_lanes; ++r) {
    lane_tables& tables = all.of[r - min_lanes];
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
constexpr all_lanes lanes = find_lanes();

[[gnu::always_inline]] inline __m512i load_block(const void* at) {
  return _mm512_loadu_si512(at);  // borrowed bytes may begin anywhere
}

// Which slots of a block hold a remainder. Vectors: 0 for lanes of 8 bits, 1 or 2 for one or two of
// lanes of 16.
template <unsigned Vectors>
class comparer {
 public:
  explicit comparer(const vq_layout& layout)
      : slots_mask_((std::uint64_t{1} << layout.slots()) - 1) {
    const lane_tables& tables = lanes.of[layout.remainder_bits() - min_lanes];
    for (unsigned v = 0; v < 2; ++v) {
      bytes_[v] = load_block(tables.bytes[v]);
      shifts_[v] = load_block(tables.shifts[v]);
    }
    const auto ones = static_cast<int>((std::uint32_t{1} << layout.remainder_bits()) - 1);
    lane_ = Vectors == 0 ? _mm512_set1_epi8(static_cast<char>(ones))
                         : _mm512_set1_epi16(static_cast<short>(ones));
  }

  // One bit a slot: whether it holds the remainder, whatever its bucket.
  [[gnu::always_inline]] std::uint64_t equal(__m512i block, __m512i wanted) const {
    const __m512i x =
        _mm512_multishift_epi64_epi8(shifts_[0], _mm512_permutexvar_epi8(bytes_[0], block));
    if constexpr (Vectors == 0) {
      return _mm512_testn_epi8_mask(_mm512_xor_si512(x, wanted), lane_) & slots_mask_;
    } else {
      std::uint64_t found = _mm512_testn_epi16_mask(_mm512_xor_si512(x, wanted), lane_);
      if constexpr (Vectors == 2) {
        const __m512i y =
            _mm512_multishift_epi64_epi8(shifts_[1], _mm512_permutexvar_epi8(bytes_[1], block));
        found |= std::uint64_t{_mm512_testn_epi16_mask(_mm512_xor_si512(y, wanted), lane_)} << 32;
      }
      return found & slots_mask_;
    }
  }
  [[gnu::always_inline]] __m512i broadcast(std::uint64_t remainder) const {
    return Vectors == 0 ? _mm512_set1_epi8(static_cast<char>(remainder))
                        : _mm512_set1_epi16(static_cast<short>(remainder));
  }
  // Those of them in the run. A run ends before slot 64.
  [[gnu::always_inline]] static std::uint64_t in_run(std::uint64_t equal, vq_run run) {
    return _bzhi_u64(equal, run.end) >> run.begin;
  }

 private:
  std::uint64_t slots_mask_;
  __m512i bytes_[2];
  __m512i shifts_[2];
  __m512i lane_;
};

template <unsigned Vectors>
class ops : public vq_bmi2, public comparer<Vectors> {
 public:
  using comparer<Vectors>::equal;
  using comparer<Vectors>::broadcast;
  using comparer<Vectors>::in_run;

  explicit ops(const vq_layout& layout)
      : vq_bmi2(layout),
        comparer<Vectors>(layout),
        starts_(_mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448)),
        remainders_(below(layout.slots() * layout.remainder_bits())),
        last_(_mm512_andnot_si512(below((layout.slots() - 1) * layout.remainder_bits()),
                                  remainders_)),
        width_(_mm512_set1_epi64(static_cast<long long>(layout.remainder_bits()))) {}

  // vq_layout::place, eight keys at once, for numbers of blocks and tags below 2^32 each.
  [[gnu::always_inline]] void place(const hash64* hashes, std::size_t n, vq_places& places) const {
    if (layout_.blocks() >> 32 != 0) [[unlikely]] {
      vq_place_each(layout_, hashes, n, places);
      return;
    }
    const __m512i blocks = all(layout_.blocks());
    const __m512i tags = all(layout_.tags());
    const __m512i last_base = all(layout_.last_base());
    const __m512i last_size = all(layout_.blocks() - layout_.last_base());
    for (std::size_t i = 0; i < n; i += 8) {
      const auto some = static_cast<__mmask8>(n - i < 8 ? (1U << (n - i)) - 1 : 0xff);
      const __m512i h = _mm512_maskz_loadu_epi64(some, hashes + i);
      const __m512i first = upper_product(h, blocks);
      const __m512i tag = upper_product(_mm512_mullo_epi64(h, all(0x9e3779b97f4a7c15)), tags);
      const __mmask8 is_last = _mm512_cmpge_epu64_mask(first, last_base);
      const __m512i base = _mm512_mask_mov_epi64(
          _mm512_and_si512(first, all(~(vq_region_blocks - 1))), is_last, last_base);
      const __m512i size = _mm512_mask_mov_epi64(all(vq_region_blocks), is_last, last_size);
      __m512i g = _mm512_mullo_epi64(tag, all(0xbf58476d1ce4e5b9));
      g = _mm512_xor_si512(g, _mm512_srli_epi64(g, 32));
      g = _mm512_srli_epi64(_mm512_mullo_epi64(g, all(0x94d049bb133111eb)), 32);
      g = _mm512_srli_epi64(_mm512_mul_epu32(g, size), 32);
      const __m512i local = _mm512_sub_epi64(first, base);
      __m512i other = _mm512_sub_epi64(g, local);
      other = _mm512_mask_add_epi64(other, _mm512_cmplt_epu64_mask(g, local), other, size);
      _mm512_store_si512(places.first + i, first);
      _mm512_store_si512(places.second + i, _mm512_add_epi64(base, other));
      _mm512_store_si512(places.tag + i, tag);
    }
  }

  [[gnu::always_inline]] vq_seen look(const std::byte* block, unsigned bucket,
                                      std::uint64_t remainder) const {
    const std::uint64_t holding = equal(load_block(block), broadcast(remainder));
    const std::uint64_t z5 = layout_.ends(block, 5);
    const std::uint64_t z6 = layout_.ends(block, 6);
    const std::uint64_t z7 = layout_.ends(block, 7);
    const auto c5 = static_cast<unsigned>(__builtin_popcountll(z5));
    const auto c6 = c5 + static_cast<unsigned>(__builtin_popcountll(z6));
    const vq_run found = between(bucket, z5, z6, z7, c5, c6);
    const unsigned taken = vq_block_bits - layout_.ends_at() + 1 - c6 -
                           static_cast<unsigned>(__builtin_popcountll(z7));
    const std::uint64_t here = in_run(holding, found);
    return {static_cast<unsigned>(__builtin_popcountll(here)),
            found.begin + static_cast<unsigned>(_tzcnt_u64(here)), found.end, taken};
  }

  // The whole block in one vector. A shift count beyond 63, also a negative one, gives zero.
  [[gnu::always_inline]] void put(std::byte* block, unsigned bucket, unsigned end,
                                  std::uint64_t remainder) const {
    const unsigned at = end * layout_.remainder_bits();
    const unsigned end_at = layout_.ends_at() + end + bucket;
    const __m512i old = load_block(block);
    const __m512i lower = _mm512_alignr_epi64(old, _mm512_setzero_si512(), 7);  // words one down
    const __m512i by_width = _mm512_shldv_epi64(old, lower, width_);
    const __m512i by_one = _mm512_shldi_epi64(old, lower, 1);
    const __m512i above = from(at);
    const __m512i ends_above = from(end_at);
    // Above the gap what was moved; in it the remainder.
    const __m512i moved = _mm512_and_si512(from(at + layout_.remainder_bits()), remainders_);
    const __m512i changed = _mm512_or_si512(_mm512_and_si512(above, remainders_), ends_above);
    const __m512i value = _mm512_set1_epi64(static_cast<long long>(remainder));
    const __m512i offset = _mm512_sub_epi64(_mm512_set1_epi64(at), starts_);
    const __m512i placed =
        _mm512_or_si512(_mm512_sllv_epi64(value, offset),
                        _mm512_srlv_epi64(value, _mm512_sub_epi64(_mm512_setzero_si512(), offset)));
    const __m512i one = _mm512_sllv_epi64(_mm512_set1_epi64(1),
                                          _mm512_sub_epi64(_mm512_set1_epi64(end_at), starts_));
    __m512i fresh = _mm512_andnot_si512(changed, old);
    fresh = _mm512_ternarylogic_epi64(fresh, by_width, moved, 0xf8);  // a | (b & c)
    fresh = _mm512_ternarylogic_epi64(fresh, by_one, _mm512_andnot_si512(one, ends_above), 0xf8);
    fresh = _mm512_ternarylogic_epi64(fresh, placed, one, 0xfe);  // a | b | c
    _mm512_store_si512(block, fresh);
  }

  [[gnu::always_inline]] void take(std::byte* block, unsigned bucket, unsigned slot) const {
    const unsigned at = slot * layout_.remainder_bits();
    const unsigned end_at = layout_.ends_at() + slot + bucket;
    const __m512i old = load_block(block);
    const __m512i upper = _mm512_alignr_epi64(_mm512_setzero_si512(), old, 1);  // words one up
    const __m512i by_width = _mm512_shrdv_epi64(old, upper, width_);
    const __m512i by_one = _mm512_shrdi_epi64(old, upper, 1);
    const __m512i above = _mm512_and_si512(from(at), remainders_);
    const __m512i ends_above = from(end_at);
    __m512i fresh = _mm512_andnot_si512(_mm512_or_si512(above, ends_above), old);
    fresh = _mm512_ternarylogic_epi64(fresh, by_width, _mm512_andnot_si512(last_, above), 0xf8);
    fresh = _mm512_ternarylogic_epi64(fresh, by_one, ends_above, 0xf8);
    _mm512_store_si512(block, fresh);
  }

 private:
  [[gnu::always_inline]] static __m512i all(std::uint64_t x) {
    return _mm512_set1_epi64(static_cast<long long>(x));
  }
  // mulhi64 for n < 2^32.
  [[gnu::always_inline]] static __m512i upper_product(__m512i x, __m512i n) {
    const __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(x, n), 32);
    const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), n);
    return _mm512_srli_epi64(_mm512_add_epi64(high, low), 32);
  }

  // The bits from `at` on.
  [[gnu::always_inline]] __m512i from(unsigned at) const {
    const __m512i offset = _mm512_sub_epi64(_mm512_set1_epi64(at), starts_);
    return _mm512_sllv_epi64(_mm512_set1_epi64(-1),
                             _mm512_max_epi64(offset, _mm512_setzero_si512()));
  }
  [[gnu::always_inline]] __m512i below(unsigned at) const {
    return _mm512_andnot_si512(from(at), _mm512_set1_epi64(-1));
  }

  __m512i starts_;
  __m512i remainders_;  // the bits of all slots
  __m512i last_;        // those of the last one
  __m512i width_;
};

#include "kinds/vector_quotient/kernels/loops.inl"

// A block that holds an equal remainder somewhere: then its bucket's run has to be found.
struct candidate {
  const std::byte* block;
  std::uint64_t equal;
  std::size_t key;
};

// Keys of a batch that are looked at while the blocks of as many behind them come.
constexpr std::size_t find_group = 24;
static_assert(find_group <= vq_group);

// Into the second cache: a core has 16 lines under way to the first at once, and 48 to that
// (Intel's Golden Cove).
[[gnu::always_inline]] inline void fetch_far(const std::byte* blocks, const vq_places& places,
                                             std::size_t i) {
  constexpr int second_cache = 2;
  __builtin_prefetch(blocks + places.first[i] * vq_block_bytes, 0, second_cache);
  __builtin_prefetch(blocks + places.second[i] * vq_block_bytes, 0, second_cache);
}

// In two steps without branches that cannot be foretold: all blocks of a group are compared, and
// those that hold the remainder, a third of them at 7 bits and 1 in 25 at 10, are put on a list;
// then the list is gone through. The next group's blocks are fetched one key's by one between
// comparisons: all at once, they wait for each other, and comparisons behind them.
template <class Ops>
void find_loop(const vq_reader& filter, std::span<const hash64> hashes, bool* answers) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  const std::byte* const blocks = filter.blocks;
  const hash64* const h = hashes.data();
  const std::size_t n = hashes.size();
  vq_places places[2];
  candidate list[2 * find_group + 1];
  std::size_t now = n > find_group ? find_group : n;
  ops.place(h, now, places[0]);
  for (std::size_t i = 0; i < now; ++i) fetch_far(blocks, places[0], i);
  std::size_t at = 0;
  for (unsigned turn = 0; now != 0; turn ^= 1) {
    const std::size_t left = n - at - now;
    const std::size_t next = left > find_group ? find_group : left;
    const vq_places& here = places[turn];
    vq_places& behind = places[turn ^ 1];
    ops.place(h + at + now, next, behind);
    std::size_t listed = 0;
    for (std::size_t i = 0; i < now; ++i) {
      if (i < next) fetch_far(blocks, behind, i);
      const __m512i wanted = ops.broadcast(layout.remainder_of(here.tag[i]));
      const std::byte* const a = blocks + here.first[i] * vq_block_bytes;
      const std::byte* const b = blocks + here.second[i] * vq_block_bytes;
      const std::uint64_t in_a = ops.equal(load_block(a), wanted);
      const std::uint64_t in_b = ops.equal(load_block(b), wanted);
      list[listed] = {a, in_a, i};
      listed += in_a != 0;
      list[listed] = {b, in_b, i};
      listed += in_b != 0;
      answers[at + i] = false;
    }
    for (std::size_t i = 0; i < listed; ++i) {
      const candidate& c = list[i];
      const vq_run run = ops.run(c.block, layout.bucket_of(here.tag[c.key]));
      answers[at + c.key] |= ops.in_run(c.equal, run) != 0;
    }
    if (filter.stashed != 0) [[unlikely]] {
      for (std::size_t i = 0; i < now; ++i) {
        answers[at + i] |=
            vq_stashed_copies(filter, {here.first[i], here.second[i], here.tag[i]}) != 0;
      }
    }
    at += now;
    now = next;
  }
}

// NOLINTEND(modernize-avoid-c-arrays,portability-simd-intrinsics,misc-const-correctness)

// One key. Of those that are absent most meet no equal remainder if it is long, and then no run has
// to be found; if it is short, whether they do cannot be foretold.
template <unsigned Vectors>
bool holds_one(const vq_reader& filter, const vector_quotient_place& at) {
  const vq_layout& layout = *filter.layout;
  const comparer<Vectors> compared(layout);
  const __m512i wanted = compared.broadcast(layout.remainder_of(at.tag));
  const std::byte* const a = filter.blocks + at.first * vq_block_bytes;
  const std::byte* const b = filter.blocks + at.second * vq_block_bytes;
  const std::uint64_t in_a = compared.equal(load_block(a), wanted);
  const std::uint64_t in_b = compared.equal(load_block(b), wanted);
  if (layout.remainder_bits() < 8 || (in_a | in_b) != 0) {
    const vq_bmi2 with(layout);
    const unsigned bucket = layout.bucket_of(at.tag);
    if ((compared.in_run(in_a, with.run(a, bucket)) | compared.in_run(in_b, with.run(b, bucket))) !=
        0) {
      return true;
    }
  }
  return filter.stashed != 0 && vq_stashed_copies(filter, at) != 0;
}

// Lanes of 32 bits would hold longer remainders; they are left to the loops of AVX2.
bool holds(const vq_reader& filter, const vector_quotient_place& at) {
  const unsigned bits = filter.layout->remainder_bits();
  if (bits <= 8) return holds_one<0>(filter, at);
  if (bits > max_lanes) return avx2_quotient.holds(filter, at);
  return filter.layout->slots() <= 32 ? holds_one<1>(filter, at) : holds_one<2>(filter, at);
}
void may_contain(const vq_reader& filter, std::span<const hash64> hashes, bool* answers) {
  const unsigned bits = filter.layout->remainder_bits();
  if (bits <= 8) return find_loop<ops<0>>(filter, hashes, answers);
  if (bits > max_lanes) return avx2_quotient.may_contain(filter, hashes, answers);
  if (filter.layout->slots() <= 32) return find_loop<ops<1>>(filter, hashes, answers);
  return find_loop<ops<2>>(filter, hashes, answers);
}
insert_summary insert(const vq_writer& filter, std::span<const hash64> hashes) {
  const unsigned bits = filter.layout->remainder_bits();
  if (bits <= 8) return vq_insert_loop<ops<0>>(filter, hashes);
  if (bits > max_lanes) return avx2_quotient.insert(filter, hashes);
  if (filter.layout->slots() <= 32) return vq_insert_loop<ops<1>>(filter, hashes);
  return vq_insert_loop<ops<2>>(filter, hashes);
}
void erase(const vq_writer& filter, std::span<const hash64> hashes, bool* erased) {
  const unsigned bits = filter.layout->remainder_bits();
  if (bits <= 8) return vq_erase_loop<ops<0>>(filter, hashes, erased);
  if (bits > max_lanes) return avx2_quotient.erase(filter, hashes, erased);
  if (filter.layout->slots() <= 32) return vq_erase_loop<ops<1>>(filter, hashes, erased);
  return vq_erase_loop<ops<2>>(filter, hashes, erased);
}

}  // namespace
}  // namespace vq_avx512

const vq_kernels avx512_quotient = {vq_avx512::holds, vq_avx512::may_contain, vq_avx512::insert,
                                    vq_avx512::erase};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
