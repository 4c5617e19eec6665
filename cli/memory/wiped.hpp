#pragma once

// Memory for secrets.

#include <cstddef>
#include <memory>
#include <vector>

#include "terminal/system.hpp"

namespace bloomset::cli {

/// Overwrites memory before it is freed, also when a vector grows.
template <class T>
struct wiping_allocator : std::allocator<T> {
  wiping_allocator() noexcept = default;
  template <class U>
  explicit wiping_allocator(const wiping_allocator<U>&) noexcept {}

  void deallocate(T* memory, std::size_t n) noexcept {
    wipe(memory, n * sizeof(T));
    std::allocator<T>::deallocate(memory, n);
  }
};

using wiped_bytes = std::vector<char, wiping_allocator<char>>;

}  // namespace bloomset::cli
