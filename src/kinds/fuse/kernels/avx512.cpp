// Batches of queries to a fuse filter of one shard, eight keys at a time.

#if defined(__x86_64__)

#include <algorithm>
#include <array>
#include <bloomery/detail/fuse/table.hpp>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"
#include "kinds/fuse/kernels/kernels.hpp"

BLOOMERY_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace {

// NOLINTBEGIN(portability-simd-intrinsics)

constexpr std::size_t lanes = 8;
static_assert(fuse_group % lanes == 0);

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

  const std::byte* address(std::uint64_t bit) const noexcept { return fingerprints_ + bit / 8; }

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
void query_cached(const fuse_table& table, const hash64* hashes, std::size_t n,
                  bool* answers) noexcept {
  const probe probes(table);
  for (std::size_t i = 0; i < n; i += lanes) {
    __m512i sum = _mm512_setzero_si512();
    const __m512i own = probes.find<Arity>(load(hashes + i, n - i), [&](unsigned, __m512i bits) {
      sum = _mm512_xor_si512(sum, probes.fingerprints(bits));
    });
    store(answers + i, n - i, probes.equal(sum, own));
  }
}

/// The first bits of a group's fingerprints, and the keys' own fingerprints.
template <unsigned Arity>
struct alignas(64) group_places {
  std::array<std::array<std::uint64_t, Arity * lanes>, fuse_group / lanes> bits;
  std::array<std::array<std::uint64_t, lanes>, fuse_group / lanes> own;
};

template <unsigned Arity>
void find_group(const probe& probes, const hash64* hashes, std::size_t n,
                group_places<Arity>& group) noexcept {
  for (std::size_t i = 0; i < n; i += lanes) {
    auto& at = group.bits[i / lanes];
    const __m512i own = probes.find<Arity>(load(hashes + i, n - i), [&](unsigned j, __m512i bits) {
      _mm512_store_si512(at.data() + j * lanes, bits);
    });
    _mm512_store_si512(group.own[i / lanes].data(), own);
    // Into the second-level cache, to which a core can have more fetches under way.
    for (const std::uint64_t bit : at) prefetch_line<0, 2>(probes.address(bit));
  }
}

template <unsigned Arity>
void compare_group(const probe& probes, const group_places<Arity>& group, std::size_t n,
                   bool* answers) noexcept {
  for (std::size_t i = 0; i < n; i += lanes) {
    const auto& at = group.bits[i / lanes];
    __m512i sum = _mm512_setzero_si512();
    for (unsigned j = 0; j < Arity; ++j) {
      sum = _mm512_xor_si512(sum, probes.fingerprints(_mm512_load_si512(at.data() + j * lanes)));
    }
    store(answers + i, n - i, probes.equal(sum, _mm512_load_si512(group.own[i / lanes].data())));
  }
}

template <unsigned Arity>
void query_prefetched(const fuse_table& table, const hash64* hashes, std::size_t n,
                      bool* answers) noexcept {
  const probe probes(table);
  std::array<group_places<Arity>, 2> groups;
  const auto size_at = [n](std::size_t at) { return std::min(fuse_group, n - at); };
  unsigned now = 0;
  find_group<Arity>(probes, hashes, size_at(0), groups[now]);
  for (std::size_t at = 0; at < n; at += fuse_group, now ^= 1) {
    const std::size_t next = at + fuse_group;
    if (next < n) find_group<Arity>(probes, hashes + next, size_at(next), groups[now ^ 1]);
    compare_group<Arity>(probes, groups[now], size_at(at), answers + at);
  }
}

template <unsigned Arity>
void query(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  (table.size <= fuse_cached_bytes
       ? query_cached<Arity>
       : query_prefetched<Arity>)(table, hashes.data(), hashes.size(), answers);
}

// NOLINTEND(portability-simd-intrinsics)

}  // namespace

void fuse_may_contain_avx512(const fuse_table& table, std::span<const hash64> hashes,
                             bool* answers) noexcept {
  table.arity == 3 ? query<3>(table, hashes, answers) : query<4>(table, hashes, answers);
}

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
