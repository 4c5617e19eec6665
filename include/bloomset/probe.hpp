#pragma once

/// Probe rules: from a hash to the place of probe i (of k) among m places. Every rule is a pure
/// function with the same result on every machine. `id` is its number in files.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>

namespace bloomset {

/// Numbers of probe rules in files. A number never changes its meaning.
enum class probe_id : std::uint16_t {
  double_hashing = 1,
  caller = 0xffff,  ///< a rule of the caller's; only the same type reads such a file
};

/// How a rule reduces a word to m places: floor(word m / 2^64), or word mod m. Filters whose rule
/// has the member `reduced_by` can be folded.
enum class reduction : std::uint8_t { upper_half, remainder };

/// A probe rule. `position(h, i, m)` is in [0, m) for every hash, every i and every m in [1,
/// max_places]. `max_hashes` is the largest number of functions. The library's files have the rule
/// double_hashing; others are for filters of other programs, and for a caller's own functions.
template <class P>
concept probe_scheme =
    std::copyable<P> && hasher<typename P::hasher_type> &&
    requires(const P& p, const typename P::hash_type& h, unsigned i, std::uint64_t m) {
      requires std::same_as<typename P::hash_type, typename P::hasher_type::hash_type>;
      { P::id } -> std::convertible_to<probe_id>;
      { P::name } -> std::convertible_to<std::string_view>;
      { P::max_places } -> std::convertible_to<std::uint64_t>;
      { p.max_hashes() } noexcept -> std::same_as<unsigned>;
      { p.position(h, i, m) } noexcept -> std::same_as<std::uint64_t>;
    };

/// The largest number of functions in any filter: a rate of 2^-64 is below the chance that 64-bit
/// hashes are equal.
inline constexpr unsigned max_hash_functions = 64;

/// Double hashing (Kirsch and Mitzenmacher, "Less Hashing, Same Performance", 2006): one 64-bit
/// hash gives the pair (h1, h2), and
///
///     g_i = h1 + i h2 modulo 2^64.
///
/// A bijection of words mixes g_i before it is reduced to m places. Without it the k places of a
/// key are an arithmetic progression, and two keys with similar pairs share most of them (Dillinger
/// and Manolios, "Bloom Filters in Probabilistic Verification", 2004, describe the effect). With
/// n = 100, k = 13 and m = 1920 the rate is then 2.2 times that of independent functions. With the
/// mixing it equals that of independent functions, within measurement (tests/laws/rate_test.cpp).
struct double_hashing {
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  static constexpr probe_id id = probe_id::double_hashing;
  static constexpr std::string_view name = "double";
  static constexpr reduction reduced_by = reduction::upper_half;
  static constexpr std::uint64_t max_places = std::numeric_limits<std::uint64_t>::max();

  static constexpr unsigned max_hashes() noexcept { return max_hash_functions; }
  /// The place of probe i among m.
  static constexpr std::uint64_t position(hash64 h, unsigned i, std::uint64_t m) noexcept {
    return detail::mulhi64(word(h, i), m);
  }
  /// h2, the factor of i. It is odd, so no two g_i are equal.
  static constexpr std::uint64_t step(hash64 h) noexcept { return detail::remix64(h.value) | 1; }
  /// The 64-bit value before the reduction. It does not depend on m.
  static constexpr std::uint64_t word(hash64 h, unsigned i) noexcept {
    std::uint64_t g = h.value + i * step(h);
    g ^= g >> 32;
    return g * detail::golden64;
  }
};

}  // namespace bloomset
