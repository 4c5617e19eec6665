// Rate and size of an expandable filter at every doubling.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/kinds/expandable/expandable_filters.hpp"

namespace bloomset::test {
namespace {

struct growth_case {
  double fpr;
  double hint;
  double max_bits;  // a key
};

class expandable_growth : public ::testing::TestWithParam<growth_case> {};

TEST_P(expandable_growth, at_every_doubling_rate_and_size_are_as_promised_and_no_key_is_lost) {
  const auto [fpr, hint, max_bits] = GetParam();
  expandable f({.capacity = 64, .fpr = fpr, .growth = hint, .seed = 0});
  std::uint64_t at = 0;
  for (std::uint64_t n = 64; n <= std::uint64_t{1} << 20; n *= 2) {
    SCOPED_TRACE(fmt::format("{} keys", n));
    ASSERT_NO_FATAL_FAILURE(insert_up_to(f, at, n));
    EXPECT_EQ(f.size(), n);
    EXPECT_LE(f.current_fpr(), fpr);
    // `spent` is the planned rate; chance adds a few per cent.
    EXPECT_LE(f.current_fpr(), f.params().spent * 1.05);
    EXPECT_LE(f.params().spent, fpr);
    ASSERT_NO_FATAL_FAILURE(expect_rate_as_said(f, 200'000));
    EXPECT_LE(bits_per_key(f), max_bits);
    if (n <= 1 << 15 || n == 1 << 20) {
      ASSERT_NO_FATAL_FAILURE(expect_members(f, n));
    }
    // The planner computes the same state without keys.
    const auto foretold =
        grown_to(value_of(plan_expandable({.capacity = 64, .fpr = fpr, .growth = hint})),
                 f.params().entries);
    ASSERT_TRUE(foretold);
    EXPECT_EQ(foretold->cells(), f.params().cells());
    EXPECT_EQ(foretold->slot_bits, f.params().slot_bits);
    EXPECT_EQ(foretold->split_slot_bits, f.params().split_slot_bits);
    EXPECT_EQ(foretold->spent, f.params().spent);
    if (n >= 1024) {
      const auto entries = f.params().entries;
      // The planner counts half of the gaps. At one size nearly none or nearly all may be left.
      const double bits = expandable_bits(*foretold, entries) / static_cast<double>(n);
      EXPECT_NEAR(bits, bits_per_key(f), hint == 0 ? 0.3 + bits / 12 : 1);
    }
  }
  // An entry in several cells has no remainder and matches its whole cell. The rate limits their
  // number.
  EXPECT_LE(static_cast<double>(f.params().entries - f.size()),
            fpr * static_cast<double>(f.params().cells()));
}

// Beyond the planned growth slots get longer, and at high rates entries lose all their bits.
// Neither ends growth, in batches or by single keys, and the filter can be saved and opened at any
// time.
TEST(expandable_growth, goes_on_at_any_rate_far_beyond_what_was_foretold) {
  for (const double fpr : {0.95, 0.8, 0.6, 0.4, 0.25, 0.05, 0.007, 0.004, 0.001}) {
    for (const double growth : {0.0, 1.0, 16.0}) {
      for (const std::uint64_t capacity : {64U, 8192U, 16384U}) {
        SCOPED_TRACE(fmt::format("{} for {} keys, growth {}", fpr, capacity, growth));
        expandable f({.capacity = capacity, .fpr = fpr, .growth = growth});
        std::uint64_t at = 0;
        for (const std::uint64_t n : {11'000U, 20'000U, 25'000U, 40'000U, 70'000U}) {
          for (; at < n && at % 1000 != 0; ++at) ASSERT_TRUE(is_contained(f.insert(hash_of(at))));
          while (at + 1000 <= n) {
            ASSERT_EQ(f.insert(hashes_from(at, 1000)).done, 1000U) << at;
            at += 1000;
          }
          for (; at < n + 10; ++at) ASSERT_TRUE(is_contained(f.insert(hash_of(at)))) << at;
          EXPECT_LE(f.current_fpr(), fpr * 1.02);
          EXPECT_EQ(file_bytes(reopen<owned_storage>(f).filter), file_bytes(f));
          ASSERT_NO_FATAL_FAILURE(expect_members(f, at));
        }
      }
    }
  }
  // The same near the lowest rates of 64-bit hashes, until growth ends.
  for (const double fpr : {1e-12, 1e-14}) {
    for (const std::uint64_t capacity : {64U, 16384U, 24576U}) {
      SCOPED_TRACE(fmt::format("{} for {} keys", fpr, capacity));
      expandable f({.capacity = capacity, .fpr = fpr, .growth = 1});
      for (std::uint64_t at = 0; at < 60'000; at += 1000) {
        if (f.insert(hashes_from(at, 1000)).done != 1000) break;
        EXPECT_EQ(file_bytes(reopen<owned_storage>(f).filter), file_bytes(f)) << at;
      }
      EXPECT_GE(f.size(), capacity);
    }
  }
  for (const double fpr : {0.004, 0.007, 0.01, 0.03}) {
    expandable f({.capacity = 64, .fpr = fpr, .growth = 1});
    std::uint64_t at = 0;
    for (; at < 1'000'000; at += 1000) {
      ASSERT_EQ(f.insert(hashes_from(at, 1000)).done, 1000U) << at << " keys at " << fpr;
    }
    EXPECT_LE(f.current_fpr(), fpr);
  }
}

INSTANTIATE_TEST_SUITE_P(rates, expandable_growth,
                         ::testing::Values(growth_case{0.01, 0, 18.2},
                                           growth_case{0.01, 0x1p14, 16},
                                           growth_case{0.01, 0x1p21, 16.1},
                                           growth_case{0.2, 0, 14.2}, growth_case{0.001, 4, 26.5},
                                           growth_case{1e-6, 0, 32.8}),
                         [](const auto& test) { return fmt::format("case_{}", test.index); });

}  // namespace
}  // namespace bloomset::test
