#pragma once

// Probe rules of lectures and tutorials. No file of the library has them: they are for examples
// that somebody wants to follow by hand.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/probe.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace bloomset::teach {

/// Two 32-bit hashes of one key.
struct hash32_pair {
  std::uint32_t first;
  std::uint32_t second;
};

/// The pair of hashes of a well-known tutorial. The first is FNV-1 as a JavaScript page computes
/// it: products are doubles, the exclusive-or has 32 bits, and the sign is dropped. The second is
/// MurmurHash2 with seed 0.
class fnv_murmur_hasher {
 public:
  using hash_type = hash32_pair;
  static constexpr hash_id id() noexcept { return hash_id::none; }

  constexpr explicit fnv_murmur_hasher(std::uint64_t = 0) noexcept {}

  std::uint64_t seed() const noexcept { return 0; }
  hash32_pair operator()(std::span<const std::byte> bytes) const noexcept;
};

/// k independent functions, as the textbooks assume: XXH3 of the key with k seeds. Each probe reads
/// the key again, so a query costs up to k hashes.
struct salted_hashing {
  using hash_type = key_ref;
  using hasher_type = key_ref_hasher;
  static constexpr probe_id id = probe_id::caller;
  static constexpr std::string_view name = "salted";
  static constexpr reduction reduced_by = reduction::upper_half;
  static constexpr std::uint64_t max_places = std::numeric_limits<std::uint64_t>::max();

  static constexpr unsigned max_hashes() noexcept { return max_hash_functions; }
  /// The place of probe i among m.
  static std::uint64_t position(key_ref key, unsigned i, std::uint64_t m) noexcept {
    return detail::mulhi64(word(key, i), m);
  }
  /// The 64-bit value before the reduction.
  static std::uint64_t word(key_ref key, unsigned i) noexcept {
    return xxh3_hasher(key.seed + detail::remix64(i + 1))(key.bytes).value;
  }
};

/// h_i(x) = MD5(x followed by the decimal digits of i), the first eight bytes read big-endian,
/// modulo m. Many course notes use this construction.
struct md5_hashing {
  using hash_type = key_ref;
  using hasher_type = key_ref_hasher;
  static constexpr probe_id id = probe_id::caller;
  static constexpr std::string_view name = "md5";
  static constexpr reduction reduced_by = reduction::remainder;
  static constexpr std::uint64_t max_places = std::numeric_limits<std::uint64_t>::max();

  static constexpr unsigned max_hashes() noexcept { return max_hash_functions; }
  /// The place of probe i among m.
  static std::uint64_t position(key_ref key, unsigned i, std::uint64_t m) noexcept {
    return word(key, i) % m;
  }
  /// The 64-bit value before the reduction.
  static std::uint64_t word(key_ref key, unsigned i) noexcept;
};

/// FNV-1 for the first probe, MurmurHash2 for the second, and double hashing of the two from the
/// third on:
///
///     g_0 = a, g_1 = b, g_i = a + i b, each modulo m.
///
/// The hashes have 32 bits, so there are at most 2^32 places, and n keys cannot have a rate below
/// about n / 2^32.
///
/// In small filters the places of a key are an arithmetic progression modulo m, and two keys with
/// one common place share others too: with 7 keys, planned for 0.1%, the measured rate is 7 times
/// the planned one with texts, and up to 43 times with regular 8-byte integers.
struct fnv_murmur_hashing {
  using hash_type = hash32_pair;
  using hasher_type = fnv_murmur_hasher;
  static constexpr probe_id id = probe_id::caller;
  static constexpr std::string_view name = "fnv-murmur";
  static constexpr reduction reduced_by = reduction::remainder;
  static constexpr std::uint64_t max_places = std::uint64_t{1} << 32;

  static constexpr unsigned max_hashes() noexcept { return max_hash_functions; }
  /// The place of probe i among m.
  static constexpr std::uint64_t position(hash32_pair h, unsigned i, std::uint64_t m) noexcept {
    const std::uint64_t a = h.first;
    const std::uint64_t b = h.second;
    return (i == 0 ? a : i == 1 ? b : a + i * b) % m;
  }
};

}  // namespace bloomset::teach
