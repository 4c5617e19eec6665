#pragma once

// Allocation of the memory that a filter needs besides its bits. It comes from the program's
// memory_source if there is one (memory_source.hpp). In a filter of a few keys this is the larger
// part of its memory.

#include <bloomset/result.hpp>
#include <cstddef>
#include <limits>
#include <vector>

namespace bloomset::detail {

/// The failure out_of_memory with that sentence, or with two words if there is no memory for a
/// sentence.
failure no_memory(const char* sentence) noexcept;

/// Allocates. Throws std::bad_alloc.
void* take_memory(std::size_t size);
/// Releases memory that take_memory() returned for that size.
void give_back_memory(void* at, std::size_t size) noexcept;

template <class T>
struct source_allocator {
  using value_type = T;

  source_allocator() noexcept = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): as allocators are
  source_allocator(const source_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    // A size beyond the largest number becomes the largest number, so that take_memory() throws and
    // not the program's own code.
    constexpr std::size_t max_size = std::numeric_limits<std::size_t>::max();
    return static_cast<T*>(take_memory(n > max_size / sizeof(T) ? max_size : n * sizeof(T)));
  }
  void deallocate(T* at, std::size_t n) noexcept { give_back_memory(at, n * sizeof(T)); }

  friend bool operator==(source_allocator, source_allocator) noexcept { return true; }
};

template <class T>
using source_vector = std::vector<T, source_allocator<T>>;

}  // namespace bloomset::detail
