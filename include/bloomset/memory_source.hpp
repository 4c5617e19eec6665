#pragma once

/// Memory from the host program, for example to count it. Filters use it for their bits, and
/// any_filter also for the memory that it needs besides them.

#include <cstddef>

namespace bloomset {

/// Two functions. Any thread may call them, and they do not throw.
struct memory_source {
  /// Returns `size` zero bytes, aligned for any object, or null.
  void* (*allocate)(std::size_t size) noexcept = nullptr;
  /// Frees memory that `allocate` returned for this size.
  void (*release)(void* at, std::size_t size) noexcept = nullptr;
};

/// A host that moves its allocations, to reduce the holes between them.
struct memory_mover {
  /// Moves memory that `allocate` returned: copies the bytes to a new place, frees the old place,
  /// and returns the new one. Returns null if the memory stays where it is.
  void* (*move)(void* at, void* context) noexcept = nullptr;
  void* context = nullptr;
};

/// Makes `source` the origin of filters' memory. Call it once, before the first filter is made:
/// memory is released to the source that is set at that moment.
void use_memory_source(const memory_source& source) noexcept;

}  // namespace bloomset
