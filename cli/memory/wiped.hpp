#pragma once

// Memory for secrets.

#include <array>
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

/// Overwrites what functions that have returned left on this thread's stack: a compiler may keep
/// parts of a secret there that no object knows of. A thread that hashed keys calls it last,
/// because the stacks of threads that have ended stay in memory.
[[gnu::noinline]] inline void wipe_stack() noexcept {
  std::array<char, std::size_t{1} << 18> below;
  wipe(below.data(), below.size());
}

using wiped_bytes = std::vector<char, wiping_allocator<char>>;

}  // namespace bloomset::cli
