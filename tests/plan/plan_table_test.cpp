// The plans of plan_table.hpp have the pinned hash. If this fails, the planners' numbers depend on
// the machine, or a plan was changed. In the second case pin the new hash, and describe the change
// in CHANGELOG.md.

#include "tests/support/plan_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/any_filter.hpp>

namespace bloomset::test {
namespace {

TEST(plan_table, ten_thousand_plans_are_the_same_on_every_machine) {
  static_assert(pinned.size() * table_keys.size() * table_rates.size() >= 10'000);
  for (const pinned_plans& each : pinned) {
    EXPECT_EQ(hash_of_plans(each.kind), each.hash) << each.kind;
  }
}

TEST(plan_table, has_a_row_for_each_kind) {
  for (const kind_info& row : kinds()) {
    EXPECT_TRUE(std::ranges::any_of(pinned, [&](const auto& each) {
      return each.kind == row.name;
    })) << row.name;
  }
}

}  // namespace
}  // namespace bloomset::test
