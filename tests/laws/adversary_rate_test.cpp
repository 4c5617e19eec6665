// Filters with a secret key against an adversary who sees all answers. `bloomset_bench attack`
// takes ten times as many steps.

#include <gtest/gtest.h>

#include "tests/support/adaptive_adversary.hpp"

namespace bloomset::test {
namespace {

class adversary : public ::testing::TestWithParam<std::string_view> {};

// More than 500,000 new keys are asked. More than twice the planned rate pass with a
// probability below 1e-300. A filter's own rate differs from the planned one by a few hundredths of
// it.
TEST_P(adversary, sees_answers_and_makes_no_filter_with_a_key_worse) {
  const kind_info& kind = **find_kind(GetParam());
  for (const std::uint64_t seed : {1U, 2U}) {
    const auto seen = attack_keyed(kind, 1'000'000, seed);
    EXPECT_GT(seen.asked, 500'000U);
    EXPECT_LE(seen.rate(), 2 * seen.planned_fpr);
    EXPECT_EQ(seen.lost, 0U);
    EXPECT_EQ(seen.not_erased, 0U);
    EXPECT_EQ(seen.refused, 0U);
    // A found positive stays one, unless the key by which it passed was erased.
    if (kind.can.erase) {
      EXPECT_GT(seen.erased, 10'000U);
    } else {
      EXPECT_EQ(seen.still, seen.repeated);
    }
    EXPECT_GT(seen.repeated, 1000U);
  }
}

INSTANTIATE_TEST_SUITE_P(kinds, adversary, ::testing::ValuesIn(kind_names()),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace bloomset::test
