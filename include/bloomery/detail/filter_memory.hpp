#pragma once

// A filter's storage, and preconditions on it.

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// Whether bytes begin at a multiple of `unit`.
inline bool is_aligned(std::span<const std::byte> bytes, std::size_t unit) noexcept {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % unit == 0;
}

}  // namespace bloomery::detail
