#pragma once

// Bloom filters over the caller's own functions of a number, as lectures give them:
//
//     auto f = bloomset::test::bloom_of(10, [](auto x) { return x + 3; },
//                                        [](auto x) { return 3 * x + 1; });
//     f.insert(25);

#include <bloomset/bloom.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/probe.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace bloomset::test {

/// A whole number that is not hashed, for families of functions of numbers (function_family).
struct element {
  std::uint64_t value;
};

/// Passes integer keys on as they are. Byte keys are hashed by XXH3 with seed 0, so that functions
/// of numbers accept words too.
class element_hasher {
 public:
  using hash_type = element;
  static constexpr hash_id id() noexcept { return hash_id::none; }

  constexpr explicit element_hasher(std::uint64_t = 0) noexcept {}

  std::uint64_t seed() const noexcept { return 0; }
  template <integer_key K>
  constexpr element operator()(K k) const noexcept {
    return {static_cast<std::uint64_t>(k)};
  }
  element operator()(std::span<const std::byte> bytes) const noexcept {
    return {xxh3_hasher(0)(bytes).value};
  }
};

/// The caller's own functions of an element, each taken modulo m.
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

/// A Bloom filter of m bits over the caller's own functions of an element, each taken modulo m.
/// Precondition: m >= 1, and 1 to 64 functions.
template <class... Functions>
basic_bloom<function_family<Functions...>> bloom_of(std::uint64_t m, Functions... functions) {
  return basic_bloom<function_family<Functions...>>(
      {.bits = m, .hashes = static_cast<unsigned>(sizeof...(Functions))},
      function_family<Functions...>(std::move(functions)...));
}

}  // namespace bloomset::test
