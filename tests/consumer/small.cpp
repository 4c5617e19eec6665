// A program that needs one kind (tests/source/small_program.py looks at its size).

#include <bloomset/blocked_bloom.hpp>
#include <cstdio>

int main(int count, char** words) {
  bloomset::blocked_bloom seen({.capacity = 1'000'000, .fpr = 0.01});
  for (int i = 0; i < count; ++i) seen.insert(words[i]);
  std::puts(seen.may_contain("bob@example.com") ? "maybe" : "no");
}
