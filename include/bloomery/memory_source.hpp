#pragma once

/// For programs whose host counts memory: where filters get their bits, and what an any_filter
/// takes beside them.

#include <cstddef>

namespace bloomery {

/// Two functions that are called from any thread and do not throw.
struct memory_source {
  /// That many zero bytes, aligned as for any object, or null.
  void* (*allocate)(std::size_t size) noexcept = nullptr;
  /// Takes back what `allocate` gave for that size.
  void (*release)(void* at, std::size_t size) noexcept = nullptr;
};

/// A host that moves its allocations, to have fewer holes between them.
struct memory_mover {
  /// Gives what `allocate` gave another place, with the same bytes, and takes the old one back;
  /// null: it stays where it is.
  void* (*move)(void* at, void* context) noexcept = nullptr;
  void* context = nullptr;
};

/// Takes filters' memory from there. Call it once, before the first filter is made:
/// bytes go back to the source that is set when they are released.
void use_memory_source(const memory_source& source) noexcept;

}  // namespace bloomery
