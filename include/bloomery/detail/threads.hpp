#pragma once

// Work for several threads.

#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace bloomery::detail {

/// Calls `work(t)` for t below `threads`, each in a thread of its own, the last in this one. Where
/// no thread can be had this one does all. `work` must not throw, and `threads` is not 0.
template <class Work>
void in_threads(unsigned threads, Work&& work) {
  std::vector<std::jthread> helpers;
  unsigned begun = 0;
  try {
    helpers.reserve(threads - 1);
    for (; begun + 1 < threads; ++begun) helpers.emplace_back(std::cref(work), begun);
  } catch (const std::exception&) {
    // No memory or no thread to be had: this one does what is left.
    static_cast<void>(begun);
  }
  for (; begun < threads; ++begun) work(begun);
}

}  // namespace bloomery::detail
