#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace bloomery::server {

/// So many booleans in a row, which std::vector has not. Throws std::bad_alloc.
class bool_list {
 public:
  explicit bool_list(std::size_t size)
      : bools_(std::make_unique<bool[]>(size)),  // NOLINT(modernize-avoid-c-arrays)
        size_(size) {}

  std::span<bool> all() const noexcept { return {bools_.get(), size_}; }

 private:
  std::unique_ptr<bool[]> bools_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t size_;
};

}  // namespace bloomery::server
