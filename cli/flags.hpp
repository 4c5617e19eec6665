#pragma once

// Answers of a filter, as many as a batch has keys.

#include <cstddef>
#include <memory>
#include <span>

namespace bloomery::cli {

/// Memory for bools that grows, which std::vector<bool> is not.
class flags {
 public:
  /// So many of them; what they were is lost.
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

}  // namespace bloomery::cli
