#pragma once

// The answers of a filter for a batch.

#include <cstddef>
#include <memory>
#include <span>

namespace bloomset::cli {

/// A growing array of bool. std::vector<bool> packs bits, so it has no span.
class flags {
 public:
  /// An array of n elements. Their values are unspecified.
  std::span<bool> first(std::size_t n) {
    if (n > size_) {
      memory_ = std::make_unique<bool[]>(n);  // NOLINT(modernize-avoid-c-arrays)
      size_ = n;
    }
    return {memory_.get(), n};
  }
  const bool* data() const noexcept { return memory_.get(); }

 private:
  std::unique_ptr<bool[]> memory_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t size_ = 0;
};

}  // namespace bloomset::cli
