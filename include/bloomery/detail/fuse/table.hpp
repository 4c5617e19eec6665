#pragma once

// The payload of a fuse filter: its queries and its validation.

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/fuse/layout.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan/fuse_plan.hpp>
#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// A filter of at least one shard, read-only.
struct fuse_table {
  const std::byte* directory = nullptr;
  const std::byte* fingerprints = nullptr;
  std::uint64_t size = 0;  // of both, in bytes
  std::uint64_t shards = 0;
  unsigned arity = 3;
  unsigned fingerprint_bits = 8;
  unsigned segment_log2 = 2;

  fuse_table(const fuse_params& params, std::span<const std::byte> payload) noexcept
      : directory(payload.data()),
        fingerprints(payload.data() + params.directory_bytes()),
        size(payload.size()),
        shards(params.shards),
        arity(params.arity),
        fingerprint_bits(params.fingerprint_bits),
        segment_log2(params.segment_log2) {}

  fuse_shard shard(std::uint64_t i) const noexcept {
    return load<fuse_shard>(directory + i * sizeof(fuse_shard));
  }

  /// The first byte of a fingerprint.
  const std::byte* address(std::uint64_t slot) const noexcept {
    return fingerprints + slot * fingerprint_bits / 8;
  }
  /// A fingerprint, with any bits above its w bits. Word has at least w + 7 bits.
  template <class Word>
  std::uint32_t fingerprint(std::uint64_t slot) const noexcept {
    return static_cast<std::uint32_t>(load<Word>(address(slot)) >> (slot * fingerprint_bits % 8));
  }
  /// Whether the w bits of a sum of fingerprints are zero.
  bool is_zero(std::uint32_t sum) const noexcept { return sum << (32 - fingerprint_bits) == 0; }

  template <unsigned Arity, class Word>
  bool may_contain(hash64 h) const noexcept;
  bool may_contain(hash64 h) const noexcept;
};

/// Calls `use(Word{})` with the smallest word for fingerprints of w bits. A larger one would more
/// often reach into a cache line that was not prefetched: 64 bits for one slot in nine.
template <class Use>
[[gnu::always_inline]] constexpr decltype(auto) with_fuse_word(unsigned w, Use&& use) noexcept {
  if (w <= 9) return use(std::uint16_t{});
  if (w <= 25) return use(std::uint32_t{});
  return use(std::uint64_t{});
}

// Always inlined, so that a loop of queries does not read the members of the table each time: 34 ns
// instead of 43 among 100 M keys with fingerprints of 8 bits.
template <unsigned Arity, class Word>
[[gnu::always_inline]] inline bool fuse_table::may_contain(hash64 h) const noexcept {
  const fuse_shard in = shard(mulhi64(h.value, shards));
  const std::uint64_t mixed = fuse_mix(h, in.seed);
  const std::uint64_t first = std::uint64_t{in.first} << segment_log2;
  std::uint32_t sum = fuse_fingerprint(mixed, fingerprint_bits);
  fuse_places<Arity>(mixed, in.starts, segment_log2, [&](std::uint64_t place) noexcept {
    sum ^= fingerprint<Word>(first + place);
  });
  return is_zero(sum);
}

[[gnu::always_inline]] inline bool fuse_table::may_contain(hash64 h) const noexcept {
  return with_fuse_word(fingerprint_bits, [&](auto word) __attribute__((always_inline)) {
    using word_type = decltype(word);
    return arity == 3 ? may_contain<3, word_type>(h) : may_contain<4, word_type>(h);
  });
}

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

}  // namespace bloomery::detail
