// Batches of queries to a fuse filter of one shard, eight keys at a time. Without prefetching: such
// a filter fits into the third-level cache, and the gathers of several vectors overlap.

#if defined(__x86_64__)

#include <bloomery/detail/fuse/table.hpp>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMERY_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace {

// NOLINTBEGIN(portability-simd-intrinsics)

constexpr std::size_t lanes = 8;

inline __m512i all(std::uint64_t value) noexcept {
  return _mm512_set1_epi64(static_cast<long long>(value));
}

/// floor(x m / 2^32) for m below 2^32.
inline __m512i multiply_high(__m512i x, __m512i m) noexcept {
  const __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(x, m), 32);
  return _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(x, 32), m), low);
}

/// remix64 (detail/core/bits.hpp).
inline __m512i remix(__m512i x) noexcept {
  const __m512i factor = all(0x0e9846af9b1a615d);
  x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), factor);
  x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), factor);
  return _mm512_xor_si512(x, _mm512_srli_epi64(x, 28));
}

/// The table, as vectors that all keys of a batch use.
class probe {
 public:
  /// Precondition: the table has one shard.
  explicit probe(const fuse_table& table) noexcept
      : probe(table, table.front, table.segment_log2) {}

  /// Calls `use(j, bits)` with the first bit of the fingerprints at places j; returns the keys' own
  /// fingerprints, in the upper w bits.
  template <unsigned Arity, class Use>
  __m512i find(__m512i hashes, Use&& use) const noexcept {
    const __m512i x = remix(_mm512_xor_si512(hashes, seed_));
    // mulhi64(x, starts << s) is floor(x starts / 2^32) / 2^(32 - s).
    __m512i slot = _mm512_srl_epi64(multiply_high(x, starts_), start_shift_);
    use(0U, _mm512_mullo_epi64(slot, bits_));
    for (unsigned j = 1; j < Arity; ++j) {
      slot = _mm512_add_epi64(slot, segment_);
      const __m128i by = _mm_cvtsi32_si128(static_cast<int>((Arity - 1 - j) * segment_log2_));
      const __m512i offset = _mm512_and_si512(_mm512_srl_epi64(x, by), mask_);
      use(j, _mm512_mullo_epi64(_mm512_xor_si512(slot, offset), bits_));
    }
    return _mm512_mullo_epi64(x, all(0x9e3779b97f4a7c15));
  }

  /// The fingerprints at these first bits, in the lower w bits.
  __m512i fingerprints(__m512i bits) const noexcept {
    const __m512i words = _mm512_i64gather_epi64(_mm512_srli_epi64(bits, 3), fingerprints_, 1);
    return _mm512_srlv_epi64(words, _mm512_and_si512(bits, all(7)));
  }

  /// The lanes whose lower w bits of `sum` equal the upper w bits of `fingerprints`.
  __mmask8 equal(__m512i sum, __m512i fingerprints) const noexcept {
    return _mm512_testn_epi64_mask(_mm512_xor_si512(sum, _mm512_srl_epi64(fingerprints, top_)),
                                   low_bits_);
  }

 private:
  probe(const fuse_table& table, const fuse_range& shard, unsigned segment_log2) noexcept
      : bits_(all(table.fingerprint_bits)),
        low_bits_(all((std::uint64_t{1} << table.fingerprint_bits) - 1)),
        seed_(all(shard.seed)),
        starts_(all(shard.length >> segment_log2)),
        segment_(all(std::uint64_t{1} << segment_log2)),
        mask_(all((std::uint64_t{1} << segment_log2) - 1)),
        start_shift_(_mm_cvtsi32_si128(32 - static_cast<int>(segment_log2))),
        top_(_mm_cvtsi32_si128(64 - static_cast<int>(table.fingerprint_bits))),
        fingerprints_(table.fingerprints),
        segment_log2_(segment_log2) {}

  __m512i bits_;
  __m512i low_bits_;
  __m512i seed_;
  __m512i starts_;
  __m512i segment_;
  __m512i mask_;
  __m128i start_shift_;
  __m128i top_;
  const std::byte* fingerprints_;
  unsigned segment_log2_;
};

inline __mmask8 first_lanes(std::size_t n) noexcept {
  return static_cast<__mmask8>(n >= lanes ? 0xff : (1U << n) - 1);
}

/// Up to eight hashes, and zeros, which have places too.
inline __m512i load(const hash64* hashes, std::size_t n) noexcept {
  return _mm512_maskz_loadu_epi64(first_lanes(n), hashes);
}

inline void store(bool* answers, std::size_t n, __mmask8 equal) noexcept {
  _mm_mask_storeu_epi8(answers, first_lanes(n), _mm_maskz_set1_epi8(equal, 1));
}

template <unsigned Arity>
void query(const fuse_table& table, std::span<const hash64> all_hashes, bool* answers) noexcept {
  const probe probes(table);
  const hash64* const hashes = all_hashes.data();
  const std::size_t n = all_hashes.size();
  for (std::size_t i = 0; i < n; i += lanes) {
    __m512i sum = _mm512_setzero_si512();
    const __m512i own = probes.find<Arity>(load(hashes + i, n - i), [&](unsigned, __m512i bits) {
      sum = _mm512_xor_si512(sum, probes.fingerprints(bits));
    });
    store(answers + i, n - i, probes.equal(sum, own));
  }
}

// NOLINTEND(portability-simd-intrinsics)

}  // namespace

void fuse_may_contain_by_eights(const fuse_table& table, std::span<const hash64> hashes,
                                bool* answers) noexcept {
  table.arity == 3 ? query<3>(table, hashes, answers) : query<4>(table, hashes, answers);
}

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
