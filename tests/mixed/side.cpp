#include "tests/mixed/side.hpp"

#include <memory>
#include <string>

namespace bloomset::test::BLOOMSET_SIDE_NAME {
namespace {

// Long enough that XXH3 uses vectors.
std::string text(int i) {
  return std::string(300, 'x') + std::to_string(i);
}

template <class F>
void insert_all(F& f, int first, int n) {
  std::vector<int> numbers;
  for (int i = first; i < first + n; ++i) {
    f.insert(text(i));
    if (i % 2 == 0) {
      f.insert(i);
    } else {
      numbers.push_back(i);
    }
  }
  f.insert(numbers);
}

template <class F>
int count_members(const F& f, int first, int n) {
  int found = 0;
  std::vector<std::string> texts;
  for (int i = first; i < first + n; ++i) {
    found += f.may_contain(i);
    texts.push_back(text(i));
  }
  const auto answers = std::make_unique<bool[]>(texts.size());
  f.may_contain(texts, {answers.get(), texts.size()});
  for (int i = 0; i < n; ++i) found += answers[static_cast<std::size_t>(i)];
  return found;
}

}  // namespace

filters make() {
  return {blocked_bloom({.capacity = 40'000, .fpr = 1e-4}), expandable({.fpr = 1e-4})};
}

void insert(filters& f, int first, int n) {
  insert_all(f.blocked, first, n);
  insert_all(f.growing, first, n);
}

int members(const filters& f, int first, int n) {
  return count_members(f.blocked, first, n) + count_members(f.growing, first, n);
}

}  // namespace bloomset::test::BLOOMSET_SIDE_NAME
