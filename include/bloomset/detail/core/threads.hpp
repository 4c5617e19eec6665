#pragma once

// Work for several threads, and a mutex for them. Where the C++ library has no threads, as in
// WebAssembly, one thread does all the work.

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bloomset::detail {

#if defined(__cpp_lib_jthread)

using mutex = std::mutex;

/// The number of threads that the machine can run at the same time, at least 1.
inline unsigned hardware_threads() noexcept {
  const unsigned known = std::thread::hardware_concurrency();
  return known == 0 ? 1 : known;
}

/// Lets another thread run while this one waits for it.
inline void give_way() noexcept {
  std::this_thread::yield();
}

/// Calls `work(t)` for each t below `threads`: the last in this thread, each other in a thread of
/// its own. If no thread can be created, this thread makes the remaining calls. If calls throw, one
/// of the exceptions is thrown from here once all calls have ended. Precondition: `threads` is not
/// 0.
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
    // No memory or no thread is available: this thread does the rest.
    static_cast<void>(begun);
  }
  for (; begun < threads; ++begun) call(begun);
  helpers.clear();  // waits for them
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

}  // namespace bloomset::detail
