#pragma once

// A broken precondition is the program's own error: say it and stop.

#include <bloomery/result.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace bloomery::detail {

/// The value; std::bad_alloc where memory was short; else the end of the program, with the
/// sentence.
template <class T>
T or_die(result<T> made) {
  if (made) return std::move(*made);
  if (made.error().code == errc::out_of_memory) throw std::bad_alloc();
  (void)std::fprintf(stderr, "bloomery: %s\n", made.error().message.c_str());
  std::abort();
}

}  // namespace bloomery::detail
