#pragma once

/// Plans of the kind exact: the sections that answer all keys of a universe.

#include <bloomset/detail/retrieval/level.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. A build computes everything from the keys and needs only the seed. A plan needs the
/// number of members and of all keys.
struct exact_spec {
  std::uint64_t capacity = 0;  ///< members, for a plan
  double fpr = 0;              ///< must be 0: the rate follows from the numbers of keys
  std::uint64_t bits = 0;      ///< must be 0, as the size does
  hash_seed seed = {};
  std::uint64_t universe = 0;  ///< members and other keys, for a plan
  /// For a plan: partitions of which each has the same share of both; 0: no partitions.
  std::uint64_t partitions = 0;
  unsigned threads = 1;  ///< of a build; 0: one per core. The bytes are the same
};

/// A section: retrieval of this many bits per key. Without levels it has none and passes all keys.
struct exact_section {
  std::uint32_t columns = 0;
  std::vector<detail::retrieval_level> levels = {};
};

/// The most columns of the first section. 2^24 other keys per member are more than it needs.
inline constexpr std::uint32_t max_first_columns = 24;

/// The parameters that fix the layout.
struct exact_params {
  hash_seed seed = {};
  /// Whether the sections hold the other keys, which are fewer than the members, so that a key is a
  /// member unless they have it.
  bool negated = false;
  std::uint64_t stored = 0;  ///< keys of the last section: held, or passing the other two
  exact_section first;       ///< the lowest bits of a fingerprint, windows of 128 slots
  exact_section guided;      ///< the next bits, windows of 64 slots
  exact_section last;        ///< one bit: whether a key is held, windows of 128 slots

  std::uint64_t payload_bytes() const noexcept;
  /// The rate at which a key outside the universe passes as a member.
  double unknown_rate() const noexcept;
  /// Whether all values are in their ranges for this number of members.
  bool possible(std::uint64_t count) const noexcept;

  /// The parameter block of a file (docs/reference/format.md, "exact").
  std::vector<std::byte> encode() const;
  /// Reads it. Fails with corrupt or unsupported if a value is out of range.
  static result<exact_params> decode(const filter_header& header, std::span<const std::byte> block);
};

/// A plan. The size of a build differs by about 1%.
struct exact_plan {
  std::uint64_t capacity = 0;  ///< members
  std::uint64_t universe = 0;
  std::uint64_t partitions = 0;  ///< 0: none
  double fpr = 0;                ///< of keys outside the universe
  std::uint64_t bytes = 0;       ///< of the payload
  double information_bits = 0;   ///< log2 C(universe, capacity), the least possible
};

/// Fails with invalid_argument if a number is missing or too large, or if a rate or size is given.
result<exact_plan> plan_exact(const exact_spec& spec);

namespace detail {

/// Whether another column of the first section is worth its memory: `others` keys pass it.
constexpr bool needs_first_column(std::uint64_t held, std::uint64_t others) noexcept {
  return others >= 10 * held;
}

/// The columns of the guided section, 0 to 2, for `others` keys that pass the first section.
std::uint32_t guided_columns(std::uint64_t held, std::uint64_t others) noexcept;

/// A level of the guided section for n keys, with free slots for this number of other keys per key,
/// without its seed. `attempt` is as in plan_retrieval_level.
retrieval_level plan_guided_level(std::uint64_t n, double others_per_key, std::uint32_t columns,
                                  unsigned attempt) noexcept;

}  // namespace detail
}  // namespace bloomset
