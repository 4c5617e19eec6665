// Batches of integers from C++, as bench/python.py asks them from Python.
//   python_batches KEYS      prints the nanoseconds a key of an insert and of a query

#include <algorithm>
#include <bloomery/blocked_bloom.hpp>
#include <bloomery/plan/units.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

namespace {

template <class Work>
double seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const auto n = bloomery::parse_count(argc == 2 ? argv[1] : "");
  if (!n) {
    std::fprintf(stderr, "python_batches: %s\n", n.error().message.c_str());
    return 2;
  }
  std::vector<std::int64_t> keys(*n);
  std::iota(keys.begin(), keys.end(), 0);
  std::vector<std::int64_t> asked(*n);  // half of them members
  std::iota(asked.begin(), asked.end(), static_cast<std::int64_t>(*n / 2));
  const auto answers = std::make_unique<bool[]>(*n);
  bloomery::blocked_bloom f({.capacity = *n, .fpr = 0.01});
  const double inserting = seconds([&] { f.insert(keys); });
  const std::span<bool> into(answers.get(), *n);
  f.may_contain(asked, into);  // touches the answers' memory, as a second call from Python does
  const double asking = seconds([&] { f.may_contain(asked, into); });
  if (std::count(into.begin(), into.end(), true) * 2 < static_cast<std::ptrdiff_t>(*n)) return 1;
  std::printf("%.2f %.2f\n", inserting * 1e9 / static_cast<double>(*n),
              asking * 1e9 / static_cast<double>(*n));
}
