#pragma once

// What only the library can do for a program that is compiled with -fno-exceptions: throw, and
// catch what the memory's allocators throw.

#include <bloomery/result.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace bloomery::detail {

/// Throws std::bad_alloc where memory was short. Any other failure is a broken precondition, the
/// program's own error: prints its sentence and ends the program.
[[noreturn]] void stop(const failure& why);

/// The value, or stop().
template <class T>
T or_die(result<T> made) {
  if (!made) stop(made.error());
  return std::move(*made);
}

/// Calls work(context); false where it threw std::bad_alloc.
bool has_memory_for(void (*work)(void* context), void* context);

/// Calls work(); false where it threw std::bad_alloc. It keeps nothing that a destructor would have
/// to give back then.
template <class Work>
bool has_memory_for(Work&& work) {
  using work_type = std::remove_reference_t<Work>;
  return has_memory_for([](void* context) { (*static_cast<work_type*>(context))(); },
                        std::addressof(work));
}

}  // namespace bloomery::detail
