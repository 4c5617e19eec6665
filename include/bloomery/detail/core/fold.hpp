#pragma once

// Folding: the bits of a filter of 1/factor of the size, from the bits of the filter. A position
// that is the upper half of a product, floor(h m / 2^64), becomes floor(position / factor) for m /
// factor positions. One that is a remainder, h mod m, becomes position mod (m / factor).

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/probe.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::detail {

/// Block j of `to` is the union of blocks factor j to factor j + factor - 1 of `from`.
/// Preconditions: blocks of a multiple of 8 bytes; `to` has 1/factor of the size.
void fold_blocks(std::span<const std::byte> from, std::span<std::byte> to, std::size_t block_bytes,
                 std::uint64_t factor) noexcept;

/// Sets the bits of `to`, which are clear and at least bits / factor. Precondition: factor divides
/// `bits`.
void fold_bits(std::span<const std::byte> from, std::span<std::byte> to, std::uint64_t bits,
               std::uint64_t factor, reduction how) noexcept;

/// Factors from here on are not tried, so that every size takes 30 ms at most.
inline constexpr std::uint64_t max_tried_factor = std::uint64_t{1} << 21;

/// The numbers that divide n, in ascending order. A factor of n without a divisor below
/// max_tried_factor counts as a prime, which it always is for n < 2^42. Precondition: n >= 1.
std::vector<std::uint64_t> divisors_of(std::uint64_t n);

/// The number from n to 0.5% more with the most divisors, or for a large n nearly the most. Below
/// 3200: from n to 16 more, but at most an eighth more. At most 305 numbers are tried.
std::uint64_t foldable_size(std::uint64_t n) noexcept;

/// The chance_keys of a fold: unknown if there were any.
constexpr double folded_chance_keys(double keys, std::uint64_t factor) noexcept {
  return keys != 0 && factor != 1 ? std::numeric_limits<double>::infinity() : keys;
}

/// Fails with invalid_argument unless factor divides the number of `units`, such as "blocks".
result<void> check_factor(std::uint64_t factor, std::uint64_t size, std::string_view units);

}  // namespace bloomery::detail
