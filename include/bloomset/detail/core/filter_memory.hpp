#pragma once

// The storage of a filter, and two preconditions on it.

#include <bloomset/memory_source.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomset::detail {

/// A filter that was moved from may only be destroyed or assigned to. Its bytes belong to another
/// filter, so every other call finds it without bytes.
[[gnu::always_inline]] inline void expect_not_moved_from([[maybe_unused]] bool has_bytes) noexcept {
  assert(has_bytes && "the filter was moved from: it may only be destroyed or assigned to");
}

/// Whether bytes begin at a multiple of `unit`.
inline bool is_aligned(std::span<const std::byte> bytes, std::size_t unit) noexcept {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % unit == 0;
}

/// The storage of a filter whose kind always has bytes.
template <storage Storage>
class filter_memory {
 public:
  explicit filter_memory(Storage memory) : memory_(std::move(memory)) {}

  [[gnu::always_inline]] std::span<const std::byte> bytes() const noexcept {
    const auto all = memory_.bytes();
    expect_not_moved_from(!all.empty());
    return all;
  }
  [[gnu::always_inline]] std::span<std::byte> writable_bytes() noexcept
    requires writable_storage<Storage>
  {
    const auto all = memory_.writable_bytes();
    expect_not_moved_from(!all.empty());
    return all;
  }
  void relocate(const memory_mover& mover) noexcept
    requires relocatable_storage<Storage>
  {
    memory_.relocate(mover);
  }

 private:
  Storage memory_;
};

}  // namespace bloomset::detail
