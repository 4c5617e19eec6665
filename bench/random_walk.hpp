#pragma once

// The textbook's cuckoo filter, as the comparison for what an insert costs: buckets of 4 slots, a
// random victim when both are full, up to 500 moves (Fan, Andersen, Kaminsky, Mitzenmacher, CoNEXT
// 2014, algorithm 1). 16-bit fingerprints in whole words, so that nothing but the moves costs.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

class random_walk_cuckoo {
 public:
  /// A power of two of buckets.
  explicit random_walk_cuckoo(std::size_t buckets) : slots_(buckets * slots), mask_(buckets - 1) {}

  /// False when the walk was given up; then some key is lost, as in the paper.
  bool insert(bloomset::hash64 h) noexcept {
    auto fingerprint = static_cast<std::uint16_t>(h.value | 1);
    std::size_t at = h.value >> 16 & mask_;
    if (put(at, fingerprint) || put(at = other(at, fingerprint), fingerprint)) return true;
    for (unsigned moves = 0; moves < max_moves; ++moves) {
      random_ = random_ * 6364136223846793005 + 1442695040888963407;  // Knuth, MMIX
      std::swap(fingerprint, slots_[at * slots + (random_ >> 62)]);
      if (put(at = other(at, fingerprint), fingerprint)) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t slots = 4;
  static constexpr unsigned max_moves = 500;

  std::size_t other(std::size_t bucket, std::uint16_t fingerprint) const noexcept {
    return (bucket ^ bloomset::detail::remix64(fingerprint)) & mask_;
  }
  bool put(std::size_t bucket, std::uint16_t fingerprint) noexcept {
    for (std::size_t i = bucket * slots; i < (bucket + 1) * slots; ++i) {
      if (slots_[i] != 0) continue;
      slots_[i] = fingerprint;
      return true;
    }
    return false;
  }

  std::vector<std::uint16_t> slots_;
  std::size_t mask_;
  std::uint64_t random_ = 1;
};

}  // namespace bench
