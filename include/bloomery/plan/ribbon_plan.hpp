#pragma once

/// Sizing a ribbon filter: columns for the rate, slots for the keys.

#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

/// What is asked for; zero means "find it". A plan needs two of capacity, fpr and bits; a build has
/// its number of keys from the keys, and needs a rate, or capacity and bits to find it by.
struct ribbon_spec {
  std::uint64_t capacity = 0;  ///< n, distinct keys, at most 2^48; a build does not need it
  double fpr = 0;              ///< eps, in [2^-32, 1)
  std::uint64_t bits = 0;      ///< at most; in a build a promise that is checked
  std::uint64_t seed = 0;      ///< of the hash function
  unsigned threads = 1;        ///< that build, 0 for one a core; the result is the same
};

/// A level holds the keys that all levels before it bumped, in shards of equal shape, each a system
/// of linear equations of its own. The starts of windows are counted through all shards; those
/// below the cut have `columns` bits a slot, the others one more, so that their mean rate may be
/// any. A shard with the cut inside is two systems.
struct ribbon_level {
  std::uint64_t seed = 0;  ///< below 2^63; 0 takes the hash of the level before as it is
  std::uint64_t shards = 1;
  std::uint64_t starts = 1;   ///< a shard; a multiple of 16 if there are several
  std::uint64_t cut = 0;      ///< 0 .. all_starts(); if keys are bumped all or a multiple of 16
  std::uint32_t columns = 0;  ///< r, 0 .. 31
  bool bumps = false;         ///< whether keys may be in the next level

  std::uint64_t all_starts() const noexcept { return shards * starts; }
  /// Groups of `columns` columns and of one more. Each system has 7 more of them than starts.
  std::uint64_t lower_groups() const noexcept;
  std::uint64_t upper_groups() const noexcept;
  std::uint64_t slots() const noexcept { return 8 * (lower_groups() + upper_groups()); }
  /// 2 bits a bucket of 16 starts.
  std::uint64_t code_bytes() const noexcept { return bumps ? (all_starts() + 63) / 64 : 0; }
  std::uint64_t data_bytes() const noexcept {
    return lower_groups() * columns + upper_groups() * (columns + 1);
  }
  std::uint64_t bytes() const noexcept { return code_bytes() + data_bytes(); }
  /// The share of strangers that pass, were none bumped.
  double fpr() const noexcept;
};

inline constexpr std::size_t max_ribbon_levels = 32;
inline constexpr std::uint64_t max_ribbon_keys = std::uint64_t{1} << 48;

/// Everything that fixes a ribbon filter's layout, and what it promises. The number of keys is the
/// filter's count, since it is known exactly.
struct ribbon_params {
  double fpr = 0;  ///< the one asked for; that of the filter is at most it
  std::uint64_t seed = 0;
  std::vector<ribbon_level> levels;  ///< none for no keys; all but the last bump

  std::uint64_t payload_bytes() const noexcept;
  /// Whether there can be a filter of these levels, of so many keys.
  bool possible(std::uint64_t count) const noexcept;

  /// The parameter block of a file (docs/format.md, "ribbon").
  std::vector<std::byte> encode() const;
  /// Reads it; a value out of range is corrupt or unsupported.
  static result<ribbon_params> decode(const filter_header& header,
                                      std::span<const std::byte> block);
};

/// What a request comes to before there are keys. The size is that of the built filter within 1%
/// beyond ten thousand keys, within 3% and 40 bytes below.
struct ribbon_plan {
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t bytes = 0;  ///< of the payload
};

/// Finds what `spec` leaves open. Fails with invalid_argument, saying which value is out of range,
/// missing or contradicts the others. O(log), microseconds.
result<ribbon_plan> plan_ribbon(const ribbon_spec& spec);

namespace detail {

/// The part of a plan that a build needs before it knows its keys: the rate.
result<double> ribbon_rate_for(const ribbon_spec& spec);

/// Fails with invalid_argument where n keys cannot have so low a rate.
result<void> check_ribbon_rate(double eps, std::uint64_t n);

/// Whether so few keys make a last level, which bumps none.
bool is_last_ribbon_level(std::uint64_t keys) noexcept;

/// The level for n >= 1 keys whose rate is at most eps (2^-32 where that is less). A last one is
/// the smaller the more likely it is that no solution exists; `attempt` counts from 0 and makes it
/// larger every few times. The seed is left open.
ribbon_level plan_ribbon_level(std::uint64_t n, double eps, unsigned attempt = 0) noexcept;

}  // namespace detail
}  // namespace bloomery
