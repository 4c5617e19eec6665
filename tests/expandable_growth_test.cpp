// The rate and the size of an expandable filter at every doubling.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/expandable_filters.hpp"

namespace bloomery::test {
namespace {

struct growth_case {
  double fpr;
  double hint;
  double most_bits;  // a key, from 1024 keys on
};

class expandable_growth : public ::testing::TestWithParam<growth_case> {};

TEST_P(expandable_growth, at_every_doubling_rate_and_size_are_as_promised_and_no_key_is_lost) {
  const auto [fpr, hint, most_bits] = GetParam();
  expandable f({.capacity = 64, .fpr = fpr, .growth = hint, .seed = 0});
  std::uint64_t at = 0;
  for (std::uint64_t n = 64; n <= std::uint64_t{1} << 20; n *= 2) {
    SCOPED_TRACE(fmt::format("{} keys", n));
    ASSERT_NO_FATAL_FAILURE(insert_up_to(f, at, n));
    EXPECT_EQ(f.size(), n);
    EXPECT_LE(f.current_fpr(), fpr);
    // `spent` is what the planner has given away; the entries' chance is in the last percents.
    EXPECT_LE(f.current_fpr(), f.params().spent * 1.05);
    EXPECT_LE(f.params().spent, fpr);
    ASSERT_NO_FATAL_FAILURE(expect_rate_as_said(f, 200'000));
    if (n >= 1024) {
      EXPECT_LE(bits_per_key(f), most_bits);
    }
    EXPECT_LE(bits_per_key(f), most_bits + 8);
    if (n <= 1 << 15 || n == 1 << 20) {
      ASSERT_NO_FATAL_FAILURE(expect_members(f, n));
    }
    // What the planner foretells, without a key.
    const auto foretold =
        grown_to(value_of(plan_expandable({.capacity = 64, .fpr = fpr, .growth = hint})),
                 f.params().entries);
    ASSERT_TRUE(foretold);
    EXPECT_EQ(foretold->cells(), f.params().cells());
    EXPECT_EQ(foretold->slot_bits, f.params().slot_bits);
    EXPECT_EQ(foretold->deep_slot_bits, f.params().deep_slot_bits);
    EXPECT_EQ(foretold->spent, f.params().spent);
    if (n >= 1024) {
      const auto entries = f.params().entries;
      EXPECT_NEAR(expandable_bits(*foretold, entries) / static_cast<double>(n), bits_per_key(f), 1);
    }
  }
  // An entry that is in several cells has no bits left and matches all strangers there: there are
  // no more of them than the rate allows.
  EXPECT_LE(static_cast<double>(f.params().entries - f.size()),
            fpr * static_cast<double>(f.params().cells()));
}

INSTANTIATE_TEST_SUITE_P(rates, expandable_growth,
                         ::testing::Values(growth_case{0.01, 0, 18.5},
                                           growth_case{0.01, 0x1p14, 17},
                                           growth_case{0.01, 0x1p21, 17.5}, growth_case{0.2, 0, 15},
                                           growth_case{0.001, 4, 26.5}, growth_case{1e-6, 0, 33}),
                         [](const auto& test) { return fmt::format("case_{}", test.index); });

}  // namespace
}  // namespace bloomery::test
