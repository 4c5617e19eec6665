#pragma once

// Clocks, threads, and medians.

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench {

class stopwatch {
 public:
  double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// Seconds from when all threads stand ready to when the last is done: `work(t)` for t below
/// `threads`, the first in this one.
template <class Work>
double time_threads(unsigned threads, Work&& work) {
  if (threads == 1) {
    const stopwatch watch;
    work(0U);
    return watch.seconds();
  }
  std::barrier ready(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::jthread> helpers;
  for (unsigned t = 1; t < threads; ++t) {
    helpers.emplace_back([&ready, &work, t] {
      ready.arrive_and_wait();
      work(t);
    });
  }
  ready.arrive_and_wait();
  const stopwatch watch;
  work(0U);
  helpers.clear();
  return watch.seconds();
}

/// The t-th of `threads` equal parts.
template <class Span>
Span part_of(Span all, unsigned t, unsigned threads) {
  const std::size_t first = all.size() * t / threads;
  return all.subspan(first, all.size() * (t + 1) / threads - first);
}

/// Times of one cell of a table: seconds a key, of several runs.
class times {
 public:
  void add(double seconds, std::uint64_t count) {
    all_.push_back(seconds / static_cast<double>(count));
    spent_ += seconds;
  }
  std::size_t runs() const noexcept { return all_.size(); }
  double spent() const noexcept { return spent_; }
  double least() const { return *std::min_element(all_.begin(), all_.end()); }
  double median() const {
    auto sorted = all_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

 private:
  std::vector<double> all_;
  double spent_ = 0;
};

/// Keeps the optimizer from leaving out what computed a value.
template <class T>
void keep(const T& value) noexcept {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace bench
