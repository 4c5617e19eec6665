#pragma once

// Throwing, and catching the exceptions of memory allocators. Both are compiled in the library,
// because a program may be compiled with -fno-exceptions.

#include <bloomset/result.hpp>
#include <type_traits>
#include <utility>

namespace bloomset::detail {

/// Throws std::bad_alloc if memory was short. Any other failure is a broken precondition, an error
/// of the program: the function prints the sentence and ends the program.
[[noreturn]] void stop(const failure& why);

/// The value, or stop().
template <class T>
T or_die(result<T> made) {
  if (!made) stop(made.error());
  return std::move(*made);
}

/// Calls work(context). Returns false if it threw std::bad_alloc.
bool has_memory_for(void (*work)(void* context), void* context);

/// Calls work(). Returns false if it threw std::bad_alloc. `work` must then own nothing that a
/// destructor would have to release.
template <class Work>
bool has_memory_for(Work&& work) {
  using work_type = std::remove_reference_t<Work>;
  return has_memory_for([](void* context) { (*static_cast<work_type*>(context))(); }, &work);
}

}  // namespace bloomset::detail
