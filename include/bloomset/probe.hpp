#pragma once

/// Probe rules: from a hash to the place of probe i (of k) among m places. Every rule is a pure
/// function with the same result on every machine. `id` is its number in files.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace bloomset {

/// Numbers of probe rules in files. A number never changes its meaning.
enum class probe_id : std::uint16_t {
  double_hashing = 1,
  salted_hashing = 2,
  md5_hashing = 3,
  fnv_murmur = 4,
  caller = 0xffff,  ///< the caller's own functions; only the same type reads such a file
};

/// How a rule reduces a word to m places: floor(word m / 2^64), or word mod m. Filters whose rule
/// has the member `reduced_by` can be folded.
enum class reduction : std::uint8_t { upper_half, remainder };

/// A probe rule. `position(h, i, m)` is in [0, m) for every hash, every i and every m in [1,
/// max_places]. `max_hashes` is the largest number of functions. A rule has no state, except the
/// caller's own functions.
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
/// mixing it equals that of independent functions, within measurement (tests/rate_test.cpp).
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
    return g * 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio (Knuth, TAOCP 3, 6.4)
  }
};

/// k independent functions, as the textbooks assume: XXH3 of the key with k seeds. Each probe reads
/// the key again, so a query costs up to k hashes.
struct salted_hashing {
  using hash_type = key_ref;
  using hasher_type = key_ref_hasher;
  static constexpr probe_id id = probe_id::salted_hashing;
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
/// modulo m. Many course notes use this construction. It is for teaching, since MD5 is slow.
struct md5_hashing {
  using hash_type = key_ref;
  using hasher_type = key_ref_hasher;
  static constexpr probe_id id = probe_id::md5_hashing;
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
/// This rule is for teaching. It meets the planned rate from about 1000 keys on, with texts or
/// random numbers (tests/rate_test.cpp). In small filters the places of a key are an arithmetic
/// progression modulo m, and two keys with one common place share others too. The measured rate,
/// relative to the planned one:
///     7 keys, 0.1%, texts                        7
///     7 keys, 0.1%, regular 8-byte integers      up to 43
///     1000 keys, 10%, regular 8-byte integers    2
struct fnv_murmur_hashing {
  using hash_type = hash32_pair;
  using hasher_type = fnv_murmur_hasher;
  static constexpr probe_id id = probe_id::fnv_murmur;
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

/// The caller's own functions of an element, each taken modulo m. A lecture's whole example:
///
///     auto f = bloomset::bloom_of(10, [](auto x) { return x + 3; },
///                                 [](auto x) { return 3 * x + 1; },
///                                 [](auto x) { return x * x + 2; });
///     f.insert(25);
template <class... Functions>
  requires(std::is_nothrow_copy_constructible_v<Functions> && ...)
class function_family {
 public:
  using hash_type = element;
  using hasher_type = element_hasher;
  static constexpr probe_id id = probe_id::caller;
  static constexpr std::string_view name = "caller";
  static constexpr reduction reduced_by = reduction::remainder;
  static constexpr std::uint64_t max_places = std::numeric_limits<std::uint64_t>::max();

  explicit function_family(Functions... functions) : functions_(std::move(functions)...) {}

  static constexpr unsigned max_hashes() noexcept { return sizeof...(Functions); }
  /// The place of probe i among m.
  std::uint64_t position(element x, unsigned i, std::uint64_t m) const noexcept {
    std::uint64_t at = 0;
    unsigned index = 0;
    std::apply(
        [&](const Functions&... function) {
          ((index++ == i ? void(at = static_cast<std::uint64_t>(function(x.value)) % m) : void()),
           ...);
        },
        functions_);
    return at;
  }

 private:
  std::tuple<Functions...> functions_;
};

}  // namespace bloomset
