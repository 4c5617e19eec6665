#pragma once

// Work for several threads, and what they need to take turns. Where the C++ library has no threads,
// as in WebAssembly, one does all.

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bloomery::detail {

#if defined(__cpp_lib_jthread)

using mutex = std::mutex;

/// Threads that the machine can run at once, at least 1.
inline unsigned hardware_threads() noexcept {
  const unsigned known = std::thread::hardware_concurrency();
  return known == 0 ? 1 : known;
}

/// Lets another thread run while this one waits for it.
inline void give_way() noexcept {
  std::this_thread::yield();
}

/// Calls `work(t)` for t below `threads`, each in a thread of its own, the last in this one. Where
/// no thread can be had this one does all. `threads` is not 0. If calls throw, one of the
/// exceptions is thrown from here after all calls have ended.
template <class Work>
void in_threads(unsigned threads, Work&& work) {
  std::exception_ptr thrown;
  std::mutex telling;
  const auto call = [&](unsigned t) noexcept {
    try {
      work(t);
    } catch (...) {
      const std::lock_guard lock(telling);
      thrown = std::current_exception();
    }
  };
  std::vector<std::jthread> helpers;
  unsigned begun = 0;
  try {
    helpers.reserve(threads - 1);
    for (; begun + 1 < threads; ++begun) helpers.emplace_back(std::cref(call), begun);
  } catch (const std::exception&) {
    // No memory or no thread to be had: this one does what is left.
    static_cast<void>(begun);
  }
  for (; begun < threads; ++begun) call(begun);
  helpers.clear();  // which waits for them
  if (thrown) std::rethrow_exception(thrown);
}

#else

struct mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};

inline unsigned hardware_threads() noexcept {
  return 1;
}
inline void give_way() noexcept {}

template <class Work>
void in_threads(unsigned threads, Work&& work) {
  for (unsigned t = 0; t < threads; ++t) work(t);
}

#endif

/// The number of threads to use: `wanted`, or one per core if that is 0.
inline unsigned threads_for(unsigned wanted) noexcept {
  return wanted != 0 ? wanted : hardware_threads();
}

}  // namespace bloomery::detail
