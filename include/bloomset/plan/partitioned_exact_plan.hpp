#pragma once

/// The parameters of exact filters with partitions.

#include <bloomset/hash.hpp>
#include <bloomset/image.hpp>
#include <bloomset/plan/exact_plan.hpp>
#include <bloomset/result.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {
namespace detail {

/// How a partition is stored, in the one byte that the directory has for it.
class partition_class {
 public:
  partition_class() = default;
  /// A partition whose keys are in sections with so many columns.
  static constexpr partition_class of(std::uint32_t first, std::uint32_t guided,
                                      bool negated) noexcept {
    return partition_class(
        static_cast<std::uint8_t>(first | guided << 5 | std::uint32_t{negated} << 7));
  }
  /// A partition that holds no key, because all its keys have the same answer.
  static constexpr partition_class constant(bool answer) noexcept {
    return of(no_section, 0, answer);
  }
  static constexpr partition_class of_byte(std::byte byte) noexcept {
    return partition_class(std::to_integer<std::uint8_t>(byte));
  }

  constexpr std::byte byte() const noexcept { return std::byte{bits_}; }
  constexpr bool is_constant() const noexcept { return first() == no_section; }
  /// The columns of its first section, unless it is constant.
  constexpr std::uint32_t first() const noexcept { return bits_ & 0x1f; }
  constexpr std::uint32_t guided() const noexcept { return bits_ >> 5 & 3; }
  /// The answer for keys that are not held.
  constexpr bool negated() const noexcept { return bits_ >> 7 != 0; }
  /// The rate at which keys outside the universe pass as members.
  double unknown_rate() const noexcept;

  friend constexpr auto operator<=>(const partition_class&, const partition_class&) = default;

 private:
  static constexpr std::uint32_t no_section = 31;

  constexpr explicit partition_class(std::uint8_t bits) noexcept : bits_(bits) {}

  std::uint8_t bits_ = 0;
};

}  // namespace detail

/// The parameters that fix the layout. Partitions with the same number of columns share a section.
struct partitioned_exact_params {
  hash_seed seed = {};
  std::uint64_t partitions = 0;
  std::uint64_t stored = 0;           ///< keys of the last section
  std::vector<exact_section> first;   ///< by ascending columns, windows of 128 slots
  std::vector<exact_section> guided;  ///< by ascending columns, windows of 64 slots
  exact_section last;                 ///< one bit: whether a key is held, windows of 128 slots

  /// The bytes of the directory, which precedes the sections: 9 per partition, rounded up to 8.
  std::uint64_t directory_bytes() const noexcept;
  std::uint64_t payload_bytes() const noexcept;
  /// Whether all values are in their ranges for this number of members.
  bool possible(std::uint64_t count) const noexcept;

  /// The parameter block of a file (docs/reference/format.md, "exact").
  std::vector<std::byte> encode() const;
  /// Reads it. Fails with corrupt or unsupported if a value is out of range.
  static result<partitioned_exact_params> decode(const filter_header& header,
                                                 std::span<const std::byte> block);
};

/// The most partitions of a filter.
inline constexpr std::uint64_t max_partitions = std::uint64_t{1} << 31;

}  // namespace bloomset
