#pragma once

// A set of hashes.

#include <algorithm>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace bloomset::cli {

/// Distinct hashes: open addressing, at most half full. A random multiplier chooses
/// the places, so that nobody can choose lines whose hashes crowd.
class hash_set {
 public:
  /// Returns whether the hash was not in the set.
  bool insert(hash64 h) {
    if (h.value == 0) return !std::exchange(has_zero_, true);
    if (2 * size_ >= places_.size()) grow();
    std::uint64_t& at = place_of(h.value);
    if (at == h.value) return false;
    at = h.value;
    ++size_;
    return true;
  }
  void clear() {
    std::fill(places_.begin(), places_.end(), 0);
    size_ = 0;
    has_zero_ = false;
  }

 private:
  std::uint64_t& place_of(std::uint64_t hash) noexcept {
    auto i = static_cast<std::size_t>(hash * multiplier_ >> shift_);
    while (places_[i] != 0 && places_[i] != hash) i = (i + 1) & (places_.size() - 1);
    return places_[i];
  }
  void grow() {
    const auto before =
        std::exchange(places_, std::vector<std::uint64_t>(std::size_t{1} << (64 - --shift_)));
    for (const std::uint64_t hash : before) {
      if (hash != 0) place_of(hash) = hash;
    }
  }

  std::vector<std::uint64_t> places_;  // 2^(64 - shift_) of them, or none
  unsigned shift_ = 51;
  std::uint64_t multiplier_ = 0x9e3779b97f4a7c15 * (2 * std::uint64_t{std::random_device()()} + 1);
  std::size_t size_ = 0;
  bool has_zero_ = false;
};

}  // namespace bloomset::cli
