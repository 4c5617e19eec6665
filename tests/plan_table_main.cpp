// Prints a hash of the plans of each kind (plan_table.hpp), for same_numbers.sh, which compiles
// this together with the planners by themselves. Exits with 1 if one differs from what is pinned.

#include <cstdio>

#include "tests/plan_table.hpp"

int main() {
  bool all_same = true;
  for (const bloomery::test::pinned_plans& each : bloomery::test::pinned) {
    const std::uint64_t hash = bloomery::test::hash_of_plans(each.kind);
    std::printf("%-16s 0x%016llx\n", each.kind.data(), static_cast<unsigned long long>(hash));
    all_same = all_same && hash == each.hash;
  }
  return all_same ? 0 : 1;
}
