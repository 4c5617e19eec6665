#pragma once

/// Keys with partitions, such as the serial number of a certificate with its issuer.
///
/// Such a key is a text of two parts with a tab between them, "ISSUER\tSERIAL". The part before the
/// first tab is the partition. A key without a tab has the empty partition.

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/hash_source.hpp>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset {

/// The byte after the partition of a key.
inline constexpr std::byte partition_separator{'\t'};

/// The hash of a partition, and the hash of the rest of a key, which is without the separator.
struct partitioned_hash {
  hash64 partition;
  hash64 rest;

  /// One hash of both. Equal rests of different partitions have different ones.
  constexpr hash64 joined() const noexcept {
    return {detail::remix64(rest.value ^ detail::remix64(partition.value))};
  }
  friend constexpr auto operator<=>(const partitioned_hash&, const partitioned_hash&) = default;
};

/// Hashes of keys with partitions, from which a filter is built.
using partitioned_hash_source = basic_hash_source<partitioned_hash>;

/// Hashes partition and rest of a key with the same seed or secret key. Precondition of a call: the
/// seed is not locked.
class partition_hasher {
 public:
  using hash_type = partitioned_hash;

  constexpr explicit partition_hasher(const hash_seed& seed = {}) noexcept : hash_(seed) {}

  /// True for the functions that a hasher of this type can be.
  static constexpr bool is_one(hash_id id) noexcept {
    return id == hash_id::xxh3_partitioned || id == hash_id::siphash_partitioned;
  }
  hash_id id() const noexcept {
    return settings().is_keyed() ? hash_id::siphash_partitioned : hash_id::xxh3_partitioned;
  }
  /// The seed, or the identifier of the secret key.
  std::uint64_t seed() const noexcept { return hash_.seed(); }
  const hash_seed& settings() const noexcept { return hash_.settings(); }

  partitioned_hash operator()(std::span<const std::byte> key) const noexcept {
    const auto tab = std::find(key.begin(), key.end(), partition_separator);
    const auto size = static_cast<std::size_t>(tab - key.begin());
    if (size == key.size()) return {hash_({}), hash_(key)};
    return {hash_(key.first(size)), hash_(key.subspan(size + 1))};
  }

 private:
  filter_hasher hash_;
};

}  // namespace bloomset
