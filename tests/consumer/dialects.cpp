#include <array>
#include <bloomset/dialects/dialect.hpp>
#include <cstdio>
#include <string_view>

int main() {
  namespace dialects = bloomset::dialects;
  auto seen = dialects::create(*dialects::find("dcso").value(), {.capacity = 1000, .fpr = 0.01});
  const std::array<std::string_view, 1> keys = {"alice@example.com"};
  if (!seen || !seen->insert(keys)) return 1;
  std::puts(seen->may_contain("alice@example.com") ? "maybe" : "no");
  std::puts(seen->may_contain("bob@example.com") ? "maybe" : "no");
}
