#pragma once

// A fuse filter's bytes: how they are queried, and whether they can be those of a filter.

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

/// A filter's bytes, to be asked. At least one shard.
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

  template <unsigned Arity, class Bits>
  bool may_contain(hash64 h) const noexcept;
  bool may_contain(hash64 h) const noexcept;
};

/// How fingerprints are read: those of 8 bits need no shift.
struct fuse_bytes {
  static const std::byte* address(const fuse_table& table, std::uint64_t slot) noexcept {
    return table.fingerprints + slot;
  }
  static std::uint32_t at(const fuse_table& table, std::uint64_t slot) noexcept {
    return load<std::uint8_t>(address(table, slot));
  }
  static bool is_zero(const fuse_table&, std::uint32_t sum) noexcept { return sum == 0; }
};

/// Those of w bits that begin anywhere in a byte, by the smallest Word that holds w and seven bits
/// before them. A larger one would more often reach into another cache line: 64 bits for one slot
/// in nine.
template <class Word>
struct fuse_bits {
  static const std::byte* address(const fuse_table& table, std::uint64_t slot) noexcept {
    return table.fingerprints + slot * table.fingerprint_bits / 8;
  }
  /// Above the w bits stands anything.
  static std::uint32_t at(const fuse_table& table, std::uint64_t slot) noexcept {
    const std::uint64_t bit = slot * table.fingerprint_bits;
    return static_cast<std::uint32_t>(load<Word>(table.fingerprints + bit / 8) >> (bit % 8));
  }
  static bool is_zero(const fuse_table& table, std::uint32_t sum) noexcept {
    return sum << (32 - table.fingerprint_bits) == 0;
  }
};

/// Calls `use(bits)` with the struct by which fingerprints of w bits are read.
template <class Use>
[[gnu::always_inline]] constexpr decltype(auto) with_fuse_bits(unsigned w, Use&& use) noexcept {
  if (w == 8) return use(fuse_bytes());
  if (w <= 25) return use(fuse_bits<std::uint32_t>());
  return use(fuse_bits<std::uint64_t>());
}

// Inlined in whatever calls it, or each of a loop's queries would read the table's members again:
// at 100 M keys 43 ns instead of 34 with fingerprints of 8 bits.
template <unsigned Arity, class Bits>
[[gnu::always_inline]] inline bool fuse_table::may_contain(hash64 h) const noexcept {
  const fuse_shard in = shard(mulhi64(h.value, shards));
  const std::uint64_t mixed = fuse_mix(h, in.seed);
  const std::uint64_t first = std::uint64_t{in.first} << segment_log2;
  std::uint32_t sum = fuse_fingerprint(mixed, fingerprint_bits);
  fuse_places<Arity>(mixed, in.starts, segment_log2,
                     [&](std::uint64_t place) noexcept { sum ^= Bits::at(*this, first + place); });
  return Bits::is_zero(*this, sum);
}

[[gnu::always_inline]] inline bool fuse_table::may_contain(hash64 h) const noexcept {
  return with_fuse_bits(fingerprint_bits, [&](auto bits) __attribute__((always_inline)) {
    using read_by = decltype(bits);
    return arity == 3 ? may_contain<3, read_by>(h) : may_contain<4, read_by>(h);
  });
}

/// A batch: the fingerprints of up to a hundred keys further on are fetched ahead.
void fuse_may_contain(const fuse_table& table, std::span<const hash64> hashes,
                      bool* answers) noexcept;

/// Whether the payload is one of so many keys: its size right, the directory one for which every
/// place lies inside the fingerprints, and zeros where the format has them; else corrupt.
/// O(shards).
result<void> check_fuse_payload(const fuse_params& params, std::span<const std::byte> payload,
                                std::uint64_t count);

/// What a build made.
struct built_fuse {
  fuse_params params;
  owned_storage payload;
  std::uint64_t count = 0;
};

}  // namespace bloomery::detail
