#pragma once

// The payload of a fuse filter: its queries and its validation.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/fuse/layout.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/plan/fuse_plan.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// A shard, as a query uses it. Another program may overwrite a mapped file after its check, so the
/// shard is bounded again when it is read: its places are inside the fingerprints in any case.
struct fuse_range {
  std::uint64_t first = 0;   ///< its first slot among all
  std::uint64_t length = 0;  ///< slots that first places are in
  std::uint64_t seed = 0;

  /// Precondition: `starts` segments of the table can be the first of a place.
  static fuse_range at(const std::byte* entry, std::uint64_t starts,
                       unsigned segment_log2) noexcept {
    const auto shard = load<fuse_shard>(entry);
    const auto own = detail::min<std::uint64_t>(shard.starts, starts);
    const auto first = detail::min<std::uint64_t>(shard.first, starts - own);
    return {first << segment_log2, own << segment_log2, shard.seed};
  }
};

/// A filter of at least one shard, read-only.
struct fuse_table {
  const std::byte* directory = nullptr;
  const std::byte* fingerprints = nullptr;
  std::uint64_t size = 0;  // of both, in bytes
  std::uint64_t shards = 0;
  std::uint64_t starts = 1;  // segments that first places are in, of all shards
  fuse_range front;          // the first shard
  unsigned arity = 3;
  unsigned fingerprint_bits = 8;
  unsigned segment_log2 = 2;

  // Member by member: a copy of `first_shard` as a whole would go through memory in each query.
  [[gnu::always_inline]] fuse_table(const fuse_params& params, std::span<const std::byte> payload,
                                    const fuse_range& first_shard) noexcept
      : directory(payload.data()),
        fingerprints(payload.data() + params.directory_bytes()),
        size(payload.size()),
        shards(params.shards),
        starts(params.starts()),
        front{0, first_shard.length, first_shard.seed},
        arity(params.arity),
        fingerprint_bits(params.fingerprint_bits),
        segment_log2(params.segment_log2) {}

  /// The shard of a hash. A query of a filter of one shard does not read the directory.
  [[gnu::always_inline]] fuse_range shard(hash64 h) const noexcept {
    if (shards == 1) [[likely]]
      return {front.first, front.length, front.seed};
    return fuse_range::at(directory + mulhi64(h.value, shards) * sizeof(fuse_shard), starts,
                          segment_log2);
  }

  /// The first byte of a fingerprint. Word is that of with_fuse_shape.
  template <class Word>
  const std::byte* address(std::uint64_t slot) const noexcept {
    return fingerprints + (sizeof(Word) == 1 ? slot : slot * fingerprint_bits / 8);
  }
  /// A fingerprint, with any bits above its w bits.
  template <class Word>
  std::uint32_t fingerprint(std::uint64_t slot) const noexcept {
    const std::uint64_t shift = sizeof(Word) == 1 ? 0 : slot * fingerprint_bits % 8;
    return static_cast<std::uint32_t>(load<Word>(address<Word>(slot)) >> shift);
  }
  /// Whether the w bits of a sum of fingerprints are zero.
  bool is_zero(std::uint32_t sum) const noexcept { return sum << (32 - fingerprint_bits) == 0; }

  /// Calls `use(slot)` for the slots of a hash. Returns its fingerprint.
  template <unsigned Arity, class Word, class Use>
  [[gnu::always_inline]] std::uint32_t find(hash64 h, Use&& use) const noexcept {
    const fuse_range in = shard(h);
    const std::uint64_t mixed = fuse_mix(h, in.seed);
    fuse_places<Arity>(mixed, in.first, in.length, segment_log2, use);
    return fuse_fingerprint(mixed, sizeof(Word) == 1 ? 8 : fingerprint_bits);
  }

  // Always inlined, so that a loop of queries reads the members of the table once.
  template <unsigned Arity, class Word>
  [[gnu::always_inline]] bool may_contain(hash64 h) const noexcept {
    std::uint32_t sum = 0;
    const std::uint32_t own = find<Arity, Word>(
        h,
        [&](std::uint64_t slot) __attribute__((always_inline)) { sum ^= fingerprint<Word>(slot); });
    return sizeof(Word) == 1 ? sum == own : is_zero(sum ^ own);
  }
};

/// Calls `use.operator()<Arity, Word>()` with the smallest word for fingerprints of w bits that
/// begin anywhere in a byte, which takes w + 7 bits. Fingerprints of 8 bits are bytes. A larger
/// word would more often reach into a cache line that was not prefetched: 64 bits for one slot in
/// nine.
template <class Use>
[[gnu::always_inline]] constexpr decltype(auto) with_fuse_shape(unsigned arity, unsigned w,
                                                                Use&& use) noexcept {
  const auto with_arity = [&]<class Word>(Word) __attribute__((always_inline)) {
    return arity == 3 ? use.template operator()<3, Word>() : use.template operator()<4, Word>();
  };
  if (w == 8) return with_arity(std::uint8_t{});
  if (w <= 9) return with_arity(std::uint16_t{});
  if (w <= 25) return with_arity(std::uint32_t{});
  return with_arity(std::uint64_t{});
}

/// The loop over a batch of queries, which each instruction set has (src/kinds/fuse/kernels/).
struct fuse_kernels {
  /// Precondition: the table has one shard and less than 2^32 bits.
  void (*may_contain)(const fuse_table& table, std::span<const hash64> hashes,
                      bool* answers) noexcept;

  [[gnu::visibility("hidden")]] static const fuse_kernels scalar, vector128, vector256, vector512;
};

/// A batch, which prefetches the fingerprints of up to a hundred later keys.
void fuse_may_contain(const fuse_table& table, std::span<const hash64> hashes,
                      bool* answers) noexcept;

/// Fails with corrupt unless the payload can be that of `count` keys: its size is right, every
/// place of the directory's shards is inside the fingerprints, and the padding is zero. O(shards).
result<void> check_fuse_payload(const fuse_params& params, std::span<const std::byte> payload,
                                std::uint64_t count);

/// The result of a build.
struct built_fuse {
  fuse_params params;
  owned_storage payload;
  std::uint64_t count = 0;
};

}  // namespace bloomset::detail
