// Batches from C++, as bench/jobs/python.py asks them from Python: integers, and texts like
// user7@example.com.
//   python_batches KEYS      prints the nanoseconds per key of an insert and of a query, for both

#include <algorithm>
#include <bloomset/blocked_bloom.hpp>
#include <bloomset/plan/units.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

template <class Work>
double seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Nanoseconds per key of an insert of `keys` and of a query of `asked`, half of which are members.
template <class Key>
std::pair<double, double> measure(const std::vector<Key>& keys, const std::vector<Key>& asked) {
  const auto n = static_cast<double>(keys.size());
  const auto answers = std::make_unique<bool[]>(asked.size());
  const std::span<bool> into(answers.get(), asked.size());
  bloomset::blocked_bloom f({.capacity = keys.size(), .fpr = 0.01});
  const double inserting = seconds([&] { f.insert(std::span<const Key>(keys)); });
  // A first query touches the memory of the answers, as in Python.
  f.may_contain(std::span<const Key>(asked), into);
  const double asking = seconds([&] { f.may_contain(std::span<const Key>(asked), into); });
  if (std::count(into.begin(), into.end(), true) * 2 < static_cast<std::ptrdiff_t>(keys.size())) {
    std::exit(1);
  }
  return {inserting * 1e9 / n, asking * 1e9 / n};
}

/// user1@example.com and so on, one after the other as in a column of Arrow.
class texts {
 public:
  texts(std::uint64_t first, std::uint64_t count) {
    std::vector<std::size_t> ends;
    for (std::uint64_t i = first; i < first + count; ++i) {
      bytes_ += "user" + std::to_string(i) + "@example.com";
      ends.push_back(bytes_.size());
    }
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      keys.push_back(std::string_view(bytes_).substr(begin, end - begin));
      begin = end;
    }
  }
  std::vector<std::string_view> keys;

 private:
  std::string bytes_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto n = bloomset::parse_count(argc == 2 ? argv[1] : "");
  if (!n) {
    std::fprintf(stderr, "python_batches: %s\n", n.error().message.c_str());
    return 2;
  }
  std::vector<std::int64_t> keys(*n);
  std::iota(keys.begin(), keys.end(), 0);
  std::vector<std::int64_t> asked(*n);
  std::iota(asked.begin(), asked.end(), static_cast<std::int64_t>(*n / 2));
  const auto integers = measure(keys, asked);
  const texts members(0, *n);
  const texts others(*n / 2, *n);
  const auto strings = measure(members.keys, others.keys);
  std::printf("%.2f %.2f %.2f %.2f\n", integers.first, integers.second, strings.first,
              strings.second);
}
