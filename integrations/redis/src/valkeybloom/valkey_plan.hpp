#pragma once

// The sizes of valkey-bloom's filters. The facts come from comparisons with its files and replies
// (docs/use/moving-from-valkey-bloom.md has the layouts).

#include <cstdint>
#include <optional>

#include "server/limits.hpp"
#include "valkeybloom/valkey_spec.hpp"

namespace bloomset::server {

/// Capacities are numbers of 63 bits.
inline constexpr std::uint64_t max_valkey_capacity = (std::uint64_t{1} << 63) - 1;

/// Bytes of valkey-bloom's objects on a 64-bit machine: of a filter, of a pointer to a sub-filter,
/// and of a sub-filter without its bits. They are part of the size that it reports and limits.
inline constexpr std::uint64_t valkey_object_bytes = 48;
inline constexpr std::uint64_t valkey_pointer_bytes = 8;
inline constexpr std::uint64_t valkey_sub_filter_bytes = 208;

/// Bytes of bits of a sub-filter: ceil(n ln p / (-8 ln^2 2)). At most 2^62.
std::uint64_t valkey_bit_bytes(std::uint64_t capacity, double error_rate) noexcept;
/// Hash functions: round(m/n ln 2), at least 1, with m = 8 * bit_bytes.
std::uint32_t valkey_hash_functions(std::uint64_t bit_bytes, std::uint64_t capacity) noexcept;

/// The rate of sub-filter i: p t^i with the tightening ratio t. None if it is not above the
/// smallest normal double.
std::optional<double> valkey_rate(double error_rate, double ratio, std::uint64_t i) noexcept;

/// How far a filter of this specification can grow.
struct valkey_growth {
  std::uint64_t capacity = 0;                  ///< of all sub-filters together
  stop_reason stopped_by = stop_reason::none;  ///< none: `target` was reached
};
/// Adds sub-filters until the capacity reaches `target`, or until bf.bloom-memory-usage-limit or a
/// rate of 0 comes first. The filter grows.
valkey_growth simulate_growth(const valkey_spec& spec, std::uint64_t target) noexcept;

}  // namespace bloomset::server
