// Eight queries to segments at once. A query with an unusual block, such as a code of more than 128
// bits, is left to the kernel for single queries.

#if defined(__x86_64__)

#include <bit>
#include <bloomset/detail/expandable/segment_kernels.hpp>
#include <cstddef>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN(
    "avx512f,avx512vl,avx512dq,avx512bw,avx512cd,avx512vbmi2,avx512vpopcntdq,avx2,bmi,bmi2,popcnt")

namespace bloomset::detail {
namespace {

constexpr std::size_t lanes = 8;
// Bits of slots that 8 bytes always contain, if the slots end in the last byte.
constexpr unsigned word_bits = 57;
// Entries of a cell that are compared here. One cell in fifty has more, at two entries per cell.
constexpr std::uint64_t max_entries = 4;

static_assert(sizeof(segment_query) == 32 && offsetof(segment_query, bytes) == 0 &&
              offsetof(segment_query, size) == 8 && offsetof(segment_query, remainder) == 16 &&
              offsetof(segment_query, cell) == 24 && offsetof(segment_query, slot_bits) == 28);

__m512i all_lanes(std::uint64_t x) noexcept {
  return _mm512_set1_epi64(static_cast<long long>(x));
}
__m512i gather(__mmask8 lanes_to_read, __m512i addresses) noexcept {
  return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes_to_read, addresses, nullptr, 1);
}

struct eight_queries {
  __m512i bytes, size, remainder, cell, slot_bits;

  explicit eight_queries(const segment_query* from) noexcept {
    const auto read_two = [&](int i) noexcept { return _mm512_loadu_si512(from + i); };
    const __m512i first_words = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
    const __m512i last_words = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i a = _mm512_permutex2var_epi64(read_two(0), first_words, read_two(2));
    const __m512i b = _mm512_permutex2var_epi64(read_two(4), first_words, read_two(6));
    const __m512i c = _mm512_permutex2var_epi64(read_two(0), last_words, read_two(2));
    const __m512i d = _mm512_permutex2var_epi64(read_two(4), last_words, read_two(6));
    bytes = _mm512_shuffle_i64x2(a, b, 0x44);
    size = _mm512_shuffle_i64x2(a, b, 0xee);
    remainder = _mm512_shuffle_i64x2(c, d, 0x44);
    const __m512i both = _mm512_shuffle_i64x2(c, d, 0xee);
    cell = _mm512_and_si512(both, all_lanes(0xffffffff));
    slot_bits = _mm512_srli_epi64(both, 32);
  }
};

// The place of one number k (from 0) of each word, by halves. Precondition: it has more than k
// ones.
__m512i select_ones(__m512i words, __m512i k) noexcept {
  __m512i place = _mm512_setzero_si512();
  for (unsigned half = 32; half != 0; half /= 2) {
    const __m512i low = _mm512_and_si512(words, all_lanes((std::uint64_t{1} << half) - 1));
    const __m512i ones = _mm512_popcnt_epi64(low);
    const __mmask8 is_above = _mm512_cmpge_epu64_mask(k, ones);
    k = _mm512_mask_sub_epi64(k, is_above, k, ones);
    words = _mm512_mask_srli_epi64(words, is_above, words, half);
    place = _mm512_mask_add_epi64(place, is_above, place, all_lanes(half));
  }
  return place;
}

// The runs of eight cells in the codes of blocks of so many bits.
struct eight_runs {
  __mmask8 found;  // runs within the block and 128 bits, of fewer than 62 entries
  __m512i first;
  __m512i size;

  eight_runs(__mmask8 asked, __m512i codes, __m512i bits, __m512i cell) noexcept {
    const __m512i low = gather(asked, codes);
    const __m512i high = gather(asked, _mm512_add_epi64(codes, all_lanes(8)));
    const __m512i all = all_lanes(~std::uint64_t{0});
    const __m512i below = _mm512_popcnt_epi64(_mm512_xor_si512(low, all));  // zeros in the low word
    const __mmask8 in_low = _mm512_cmplt_epu64_mask(cell, below);
    const __m512i word = _mm512_mask_mov_epi64(high, in_low, low);
    const __m512i zeros = _mm512_xor_si512(word, all);
    const __m512i k = _mm512_mask_mov_epi64(_mm512_sub_epi64(cell, below), in_low, cell);
    found = asked & _mm512_cmplt_epu64_mask(k, _mm512_popcnt_epi64(zeros));
    const __m512i place = select_ones(zeros, k);
    // The bits behind the zero, 63 of them.
    const __m512i above = _mm512_maskz_mov_epi64(in_low, high);
    const __m512i behind = _mm512_srli_epi64(_mm512_shrdv_epi64(word, above, place), 1);
    size = _mm512_popcnt_epi64(
        _mm512_and_si512(behind, _mm512_sub_epi64(_mm512_xor_si512(behind, all), all_lanes(1))));
    const __m512i in_code = _mm512_mask_add_epi64(_mm512_add_epi64(place, all_lanes(64)), in_low,
                                                  place, _mm512_setzero_si512());
    found = found & _mm512_cmplt_epu64_mask(size, all_lanes(62)) &
            _mm512_cmplt_epu64_mask(_mm512_add_epi64(_mm512_add_epi64(in_code, size), all_lanes(1)),
                                    _mm512_min_epu64(bits, all_lanes(128)));
    first = _mm512_sub_epi64(in_code, cell);
  }
};

// is_match() for eight entries.
__mmask8 match(__m512i entries, __m512i remainder) noexcept {
  const __m512i differing =
      _mm512_sllv_epi64(_mm512_xor_si512(entries, remainder), _mm512_lzcnt_epi64(entries));
  return _mm512_testn_epi64_mask(differing, all_lanes(~std::uint64_t{0} >> 1)) &
         _mm512_test_epi64_mask(entries, entries);
}

// The answers, and the queries without one.
struct eight_answers {
  __mmask8 yes;
  __mmask8 unsure;
};

eight_answers ask_eight(const segment_shape& shape, const segment_query* queries) noexcept {
  const eight_queries q(queries);
  const __m512i block = _mm512_srli_epi64(q.cell, block_cell_bits);
  const __m512i cell = _mm512_and_si512(q.cell, all_lanes(block_cells - 1));
  // Both offsets of a block are in 32 bits.
  const __m512i offsets = _mm512_cvtepu32_epi64(
      _mm512_i64gather_epi32(_mm512_add_epi64(q.bytes, _mm512_slli_epi64(block, 1)), nullptr, 1));
  const __m512i begins = _mm512_and_si512(offsets, all_lanes(0xffff));
  const __m512i ends = _mm512_srli_epi64(offsets, 16);
  const __m512i room = _mm512_sub_epi64(q.size, all_lanes(shape.offset_bytes()));
  const __mmask8 inside =
      _mm512_cmple_epu64_mask(begins, ends) &
      _mm512_cmple_epu64_mask(ends, _mm512_sub_epi64(room, all_lanes(shape.padding()))) &
      _mm512_cmple_epu64_mask(begins, _mm512_sub_epi64(room, all_lanes(code_read)));
  const __m512i area = _mm512_add_epi64(q.bytes, all_lanes(shape.offset_bytes()));
  const __m512i end_bits = _mm512_slli_epi64(ends, 3);
  const eight_runs runs(inside, _mm512_add_epi64(area, begins),
                        _mm512_sub_epi64(end_bits, _mm512_slli_epi64(begins, 3)), cell);

  // The 8 bytes that end with the cell's first entry.
  const __m512i before = _mm512_mul_epu32(runs.first, q.slot_bits);
  const __m512i taken = _mm512_mul_epu32(_mm512_add_epi64(runs.first, runs.size), q.slot_bits);
  const __m512i slots_end = _mm512_sub_epi64(end_bits, before);
  const __mmask8 sure = runs.found & _mm512_cmple_epu64_mask(taken, end_bits) &
                        _mm512_cmpge_epu64_mask(slots_end, all_lanes(64));
  const __m512i last = _mm512_srli_epi64(_mm512_add_epi64(slots_end, all_lanes(7)), 3);
  const __m512i word = gather(sure, _mm512_add_epi64(area, _mm512_sub_epi64(last, all_lanes(8))));

  __m512i slots = _mm512_sllv_epi64(word, _mm512_sub_epi64(_mm512_slli_epi64(last, 3), slots_end));
  const __m512i top = _mm512_sub_epi64(all_lanes(64), q.slot_bits);
  __m512i read = q.slot_bits;
  __mmask8 yes = 0;
  __mmask8 more = _mm512_cmpgt_epu64_mask(runs.size, all_lanes(max_entries));
  for (std::uint64_t i = 0; i < max_entries; ++i) {
    const __mmask8 has = _mm512_cmpgt_epu64_mask(runs.size, all_lanes(i));
    const __mmask8 is_read = _mm512_cmple_epu64_mask(read, all_lanes(word_bits));
    yes = yes | (has & is_read & match(_mm512_srlv_epi64(slots, top), q.remainder));
    more = more | (has & ~is_read);
    slots = _mm512_sllv_epi64(slots, q.slot_bits);
    read = _mm512_add_epi64(read, q.slot_bits);
  }
  yes = yes & sure;
  return {yes, static_cast<__mmask8>(~sure | (more & ~yes))};
}

}  // namespace

void segment_kernels::contains_by_eights(unsigned cell_bits, std::span<const segment_query> queries,
                                         std::span<const segment_query> to_prefetch,
                                         bool* answers) noexcept {
  const segment_shape shape{cell_bits, 0};
  std::size_t i = 0;
  for (; i + lanes <= queries.size(); i += lanes) {
    if (i + lanes <= to_prefetch.size()) {
      segment_kernels::vector256.prefetch(cell_bits, {to_prefetch.data() + i, lanes});
    }
    const auto [yes, unsure] = ask_eight(shape, &queries[i]);
    for (unsigned k = 0; k < lanes; ++k) answers[i + k] = (yes >> k & 1) != 0;
    for (unsigned left = unsure; left != 0; left &= left - 1) {
      const auto k = static_cast<unsigned>(std::countr_zero(left));
      answers[i + k] = segment_kernels::vector256.contains(cell_bits, queries[i + k]);
    }
  }
  // The last queries, and the blocks that are not prefetched yet.
  const std::size_t prefetched = to_prefetch.size() < i ? to_prefetch.size() / lanes * lanes : i;
  segment_kernels::vector256.contains_batch(
      cell_bits, {queries.data() + i, queries.size() - i},
      {to_prefetch.data() + prefetched, to_prefetch.size() - prefetched}, answers + i);
}

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
