#include <bloomset/bloomset.hpp>
#include <bloomset/keys/reader.hpp>
#include <cstdio>

int main() {
  namespace keys = bloomset::keys;
  bloomset::blocked_bloom seen({.capacity = 1'000, .fpr = 0.01});
  const auto emails = keys::make_reader("email");
  keys::key_list list;
  if (!emails || !(*emails)->read("alice@EXAMPLE.com", list)) return 1;
  for (const auto key : list.all()) seen.insert(key);
  std::puts(seen.may_contain("alice@example.com") ? "maybe" : "no");
  std::puts(seen.may_contain("bob@example.com") ? "maybe" : "no");
}
