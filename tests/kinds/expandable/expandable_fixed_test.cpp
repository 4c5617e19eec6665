// Growth 1: at its capacity a filter uses the rate that it was given, and it may grow all the same.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/kinds/expandable/expandable_filters.hpp"

namespace bloomset::test {
namespace {

constexpr expandable_spec fixed_spec(std::uint64_t capacity, double fpr) {
  return {.capacity = capacity, .fpr = fpr, .growth = 1};
}

expandable fixed_of(std::uint64_t first, std::uint64_t n, const expandable_spec& spec) {
  expandable f(spec);
  std::uint64_t at = first;
  insert_up_to(f, at, first + n);
  return f;
}

TEST(ExpandableFixed, ThePlanUsesTheRate) {
  for (std::uint64_t n = 1; n < std::uint64_t{1} << 36; n += 1 + n / 9) {
    for (const double fpr : {0.5, 0.1, 0.05, 0.03, 0.01, 0.004, 0.001, 1e-4, 1e-5, 1e-6}) {
      const auto plan = value_of(plan_expandable(fixed_spec(n, fpr)));
      const double part = plan.spent / fpr;
      ASSERT_LE(part, 1) << n << " keys at " << fpr;
      ASSERT_EQ(plan.max_entries(), n);
      if (n >= 100) {
        ASSERT_GE(part, n >= 4000 ? 0.8 : 0.47) << n << " keys at " << fpr;
        ASSERT_LE(expandable_bits(plan, n),
                  expandable_bits(value_of(plan_expandable({.capacity = n, .fpr = fpr})), n));
      }
    }
  }
}

TEST(ExpandableFixed, TheRateIsMeasuredAsPlanned) {
  for (const std::uint64_t n : {100U, 3000U, 10'500U, 20'000U, 150'000U, 400'000U}) {
    for (const double fpr : {0.05, 0.01, 0.001}) {
      SCOPED_TRACE(fmt::format("{} keys at {}", n, fpr));
      const expandable f = fixed_of(0, n, fixed_spec(n, fpr));
      ASSERT_TRUE(f.params().is_fixed());
      // The plan has room for one key more. Entries that overlap count once. The entries of split
      // segments are a binomial share of all, so that the rate's standard deviation is below 1.3 /
      // sqrt(n) of it. Six of them are exceeded with a chance of 2e-9.
      const double chance = f.params().split == 0 ? 1e-9 : 7.8 / std::sqrt(n);
      const double planned = f.params().spent * static_cast<double>(n) / static_cast<double>(n + 1);
      EXPECT_LE(f.current_fpr(), planned * (1 + chance));
      EXPECT_GE(f.current_fpr(), planned * (1 - fpr - chance));
      ASSERT_NO_FATAL_FAILURE(expect_rate_as_said(f, 200'000));
      ASSERT_NO_FATAL_FAILURE(expect_members(f, n));
    }
  }
}

TEST(ExpandableFixed, KeysBeyondTheCapacityKeepTheRate) {
  for (const std::uint64_t n : {1U, 50U, 3000U, 9000U, 20'000U, 60'000U}) {
    for (const double fpr : {0.3, 0.01, 1e-5}) {
      SCOPED_TRACE(fmt::format("{} keys at {}", n, fpr));
      expandable f(fixed_spec(n, fpr));
      const auto empty = file_bytes(f);
      std::uint64_t at = 0;
      ASSERT_NO_FATAL_FAILURE(insert_up_to(f, at, n));
      // Every further key is inserted, one by one.
      for (; at < n + 20; ++at) ASSERT_TRUE(is_contained(f.insert(hash_of(at))));
      EXPECT_TRUE(!f.params().is_fixed() || fpr == 0.3);
      for (const std::uint64_t end : {n + 20, 2 * n + 20, 5 * n + 20}) {
        ASSERT_NO_FATAL_FAILURE(insert_up_to(f, at, end));
        EXPECT_LE(f.current_fpr(), fpr);
        EXPECT_LE(f.params().spent, fpr);
        EXPECT_EQ(file_bytes(reopen<owned_storage>(f).filter), file_bytes(f));
        ASSERT_NO_FATAL_FAILURE(expect_members(f, at));
        const auto foretold =
            grown_to(value_of(plan_expandable(fixed_spec(n, fpr))), f.params().entries);
        ASSERT_TRUE(foretold);
        EXPECT_EQ(foretold->slot_bits, f.params().slot_bits);
        EXPECT_EQ(foretold->spent, f.params().spent);
      }
      ASSERT_NO_FATAL_FAILURE(erase_all(f, hashes_from(0, at)));
      EXPECT_EQ(file_bytes(f), empty);
    }
  }
}

TEST(ExpandableFixed, ALargeBatchFillsTheFilterFirst) {
  expandable f(fixed_spec(150'000, 0.01));
  ASSERT_EQ(f.insert(hashes_from(0, 149'000)).done, 149'000U);
  EXPECT_TRUE(f.params().is_fixed());
  ASSERT_EQ(f.insert(hashes_from(149'000, 351'000)).done, 351'000U);
  EXPECT_LE(f.current_fpr(), 0.01);
  ASSERT_NO_FATAL_FAILURE(expect_members(f, 500'000));
}

TEST(ExpandableFixed, UnionsAreRefusedOnlyIfTheyCannotKeepTheRate) {
  constexpr std::uint64_t n = 20'000;
  // Within the capacity, and beyond it as long as the entries' rate allows.
  for (const std::uint64_t theirs : {n / 2, n / 2 + 200}) {
    expandable f = fixed_of(0, n / 2, fixed_spec(n, 0.01));
    value_of(f.merge(fixed_of(n / 2, theirs, fixed_spec(n, 0.01))));
    EXPECT_EQ(f.params().is_fixed(), theirs == n / 2);
    std::uint64_t at = n / 2 + theirs;
    ASSERT_NO_FATAL_FAILURE(expect_members(f, at));
    ASSERT_NO_FATAL_FAILURE(insert_up_to(f, at, 3 * n));
    EXPECT_LE(f.current_fpr(), 0.01);
    ASSERT_NO_FATAL_FAILURE(expect_members(f, at));
  }
  // Few keys of a higher rate: there is room, but longer slots are needed for the keys to come.
  expandable f = fixed_of(0, n / 2, fixed_spec(n, 0.01));
  value_of(f.merge(fixed_of(n / 2, n / 10, fixed_spec(n / 10, 0.0045))));
  EXPECT_FALSE(f.params().is_fixed());
  std::uint64_t at = n / 2 + n / 10;
  ASSERT_NO_FATAL_FAILURE(insert_up_to(f, at, 2 * n));
  EXPECT_LE(f.current_fpr(), 0.01);
  ASSERT_NO_FATAL_FAILURE(expect_members(f, at));
  // Two full filters.
  expandable full = fixed_of(0, n, fixed_spec(n, 0.01));
  const auto before = file_bytes(full);
  EXPECT_EQ(full.merge(fixed_of(n, n, fixed_spec(n, 0.01))).error().code, errc::incompatible);
  EXPECT_EQ(file_bytes(full), before);
}

}  // namespace
}  // namespace bloomset::test
