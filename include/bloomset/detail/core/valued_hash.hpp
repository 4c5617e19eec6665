#pragma once

// Hashes with values, from which retrieval is built.

#include <bloomset/hash.hpp>
#include <bloomset/hash_source.hpp>
#include <compare>
#include <cstdint>

namespace bloomset::detail {

/// A hash and the value of its key. 12 bytes, of which builds hold many.
class valued_hash {
 public:
  valued_hash() = default;
  constexpr valued_hash(hash64 h, std::uint32_t value) noexcept
      : low_(static_cast<std::uint32_t>(h.value)),
        high_(static_cast<std::uint32_t>(h.value >> 32)),
        value_(value) {}

  constexpr hash64 hash() const noexcept { return {std::uint64_t{high_} << 32 | low_}; }
  constexpr std::uint32_t value() const noexcept { return value_; }

  /// By hash, then by value.
  friend constexpr auto operator<=>(const valued_hash& a, const valued_hash& b) noexcept {
    const auto order = a.hash().value <=> b.hash().value;
    return order != 0 ? order : a.value_ <=> b.value_;
  }
  friend bool operator==(const valued_hash&, const valued_hash&) = default;

 private:
  std::uint32_t low_ = 0;
  std::uint32_t high_ = 0;
  std::uint32_t value_ = 0;
};

using valued_hash_source = basic_hash_source<valued_hash>;

}  // namespace bloomset::detail
