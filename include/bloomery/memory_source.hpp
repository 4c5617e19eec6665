#pragma once

/// Memory from a host that counts it: the source of filters' bits, and of the memory that an
/// any_filter needs beside them.

#include <cstddef>

namespace bloomery {

/// Two functions. Any thread may call them, and they do not throw.
struct memory_source {
  /// Returns `size` zero bytes, aligned for any object, or null.
  void* (*allocate)(std::size_t size) noexcept = nullptr;
  /// Takes back memory that `allocate` returned for this size.
  void (*release)(void* at, std::size_t size) noexcept = nullptr;
};

/// A host that moves its allocations, to reduce the holes between them.
struct memory_mover {
  /// Moves memory that `allocate` returned to another place, with the same bytes, and takes the old
  /// place back. Returns null if the memory stays where it is.
  void* (*move)(void* at, void* context) noexcept = nullptr;
  void* context = nullptr;
};

/// Makes `source` the origin of filters' memory. Call it once, before the first filter is made:
/// memory is released to the source that is set at that moment.
void use_memory_source(const memory_source& source) noexcept;

}  // namespace bloomery
