#pragma once

// Hashes with values, from which retrieval is built.

#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <compare>
#include <cstdint>
#include <functional>
#include <span>

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

/// What a hash_source is for hashes.
struct valued_hash_source {
  using sink = std::function<result<void>(std::span<const valued_hash>)>;

  std::uint64_t size = 0;  ///< all hashes, repetitions included
  /// Passes all hashes to `use`, many at a time and in the same order on each call, until `use`
  /// fails. Returns that failure, or its own.
  std::function<result<void>(const sink& use)> for_each;
  /// Optional: those whose first 8 bits are `part`.
  std::function<result<void>(unsigned part, const sink& use)> for_each_in_part = nullptr;
  /// Optional: called often, from the calling thread. If it fails, the build ends so.
  std::function<result<void>()> check_cancelled = nullptr;

  /// The hashes of a span, which must outlive the source.
  static valued_hash_source of(std::span<const valued_hash> hashes) {
    return {hashes.size(), [hashes](const sink& use) { return use(hashes); }};
  }
};

}  // namespace bloomset::detail
