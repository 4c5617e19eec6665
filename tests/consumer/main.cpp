#include <bloomset/bloomset.hpp>
#include <cstdio>

int main() {
  bloomset::bloom seen({.capacity = 1'000'000, .fpr = 0.01});
  seen.insert("alice@example.com");
  std::puts(seen.may_contain("alice@example.com") ? "maybe" : "no");
  std::puts(seen.may_contain("bob@example.com") ? "maybe" : "no");
}
