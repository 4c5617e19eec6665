#pragma once

// The distinct ones of many hashes.

#include <algorithm>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <span>
#include <vector>

namespace bloomset::dialects {

/// Keeps at most about twice as many hashes as are distinct, 8 bytes each. Hashes are sorted, so
/// that no choice of values makes it slow.
class distinct_hashes {
 public:
  void add(hash64 h) {
    if (hashes_.size() == limit_) {
      (void)sorted();
      limit_ = std::max(min_limit, 2 * hashes_.size());
    }
    hashes_.push_back(h);
  }

  /// All of them, each once.
  std::span<const hash64> sorted() {
    const auto less = [](hash64 a, hash64 b) { return a.value < b.value; };
    std::sort(hashes_.begin(), hashes_.end(), less);
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    return hashes_;
  }

 private:
  static constexpr std::size_t min_limit = std::size_t{1} << 20;

  std::vector<hash64> hashes_;
  std::size_t limit_ = min_limit;
};

}  // namespace bloomset::dialects
