#pragma once

// What a filter takes beside its bits, from the program's memory_source if it has set one
// (memory_source.hpp): of a filter of a few keys that is the larger part.

#include <bloomery/result.hpp>
#include <cstddef>
#include <limits>
#include <vector>

namespace bloomery::detail {

/// That there is no memory, in that sentence, or in two words if there is none for a sentence.
tl::unexpected<failure> no_memory(const char* sentence) noexcept;

/// Throws std::bad_alloc.
void* take_memory(std::size_t size);
/// What take_memory() gave for that size.
void give_back_memory(void* at, std::size_t size) noexcept;

template <class T>
struct source_allocator {
  using value_type = T;

  source_allocator() noexcept = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): as allocators are
  source_allocator(const source_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    // More than there can be is asked for as the most: this throws, not the program's own code.
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    return static_cast<T*>(take_memory(n > most / sizeof(T) ? most : n * sizeof(T)));
  }
  void deallocate(T* at, std::size_t n) noexcept { give_back_memory(at, n * sizeof(T)); }

  friend bool operator==(source_allocator, source_allocator) noexcept { return true; }
};

template <class T>
using source_vector = std::vector<T, source_allocator<T>>;

}  // namespace bloomery::detail
