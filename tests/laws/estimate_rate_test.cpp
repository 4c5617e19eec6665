// estimate_size() of every kind, against the number of inserted keys.
//
// Each cell of a table is the mean over S >= 50 filters with different keys. It may be off by 1% of
// n, or by 7.5 standard errors of the mean, estimated from the S filters. Student's t with 49
// degrees of freedom exceeds these once in 10^9, so the false-alarm chance of all cells is below
// 10^-6. The keys are fixed, so every run has the same result.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/bloomset.hpp>
#include <bloomset/plan/formulas.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A different set of keys for each number.
std::vector<std::uint64_t> keys_of(std::uint64_t number, std::uint64_t n) {
  std::mt19937_64 random(number);
  std::vector<std::uint64_t> keys(n);
  std::ranges::generate(keys, random);
  return keys;
}

class samples {
 public:
  void add(double estimate) {
    ++size_;
    sum_ += estimate;
    squares_ += estimate * estimate;
  }
  bool any_infinite() const { return !std::isfinite(sum_); }
  double mean() const { return sum_ / size_; }
  double tolerance(double n) const {
    const double variance = std::max(0.0, squares_ / size_ - mean() * mean()) / (size_ - 1);
    return std::max(0.01 * n, 7.5 * std::sqrt(variance));
  }

 private:
  double size_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

void expect_mean(const samples& all, double n, const std::string& where) {
  EXPECT_NEAR(all.mean(), n, all.tolerance(n)) << where << ": instead of " << n;
}

/// Few filters of many keys, many of few.
std::uint64_t filters_for(std::uint64_t n) {
  return std::clamp<std::uint64_t>(20'000 / n, 50, 200);
}

/// Inserts until one finds no room; how many.
template <class F>
std::uint64_t fill(F& filter, const std::vector<std::uint64_t>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!is_contained(filter.insert(keys[i]))) return i;
  }
  return keys.size();
}

// One type of each kind: the estimate depends on the number of bits or entries, not on the hash
// rule.
template <template <class> class Can>
using kinds_that = only<Can, kind_types>::type;
template <class F>
class estimate : public ::testing::Test {};
TYPED_TEST_SUITE(estimate, kinds_that<can_insert>, filter_names);
template <class F>
class estimate_of_copies : public ::testing::Test {};
TYPED_TEST_SUITE(estimate_of_copies, kinds_that<can_count>, filter_names);
template <class F>
class estimate_of_merged : public ::testing::Test {};
TYPED_TEST_SUITE(estimate_of_merged, kinds_that<can_merge>, filter_names);
template <class F>
class estimate_of_common : public ::testing::Test {};
TYPED_TEST_SUITE(estimate_of_common, kinds_that<can_intersect>, filter_names);

TEST(throws_behind, is_the_sum_of_the_mean_waits_for_each_place) {
  for (const int m : {1, 2, 3, 15, 16, 17, 100, 5000}) {
    double sum = 0;
    for (int hit = 0; hit < m; ++hit) {
      EXPECT_NEAR(formulas::throws_behind(hit, m), sum, 1e-9 * (1 + sum)) << hit << " of " << m;
      sum += static_cast<double>(m) / (m - hit);
    }
    EXPECT_EQ(formulas::throws_behind(m, m), infinity);
  }
  EXPECT_NEAR(formulas::throws_behind(1e9, 0x1p62), 1e9 + 1e18 / 0x1p63, 1e-5);
}

TYPED_TEST(estimate, is_the_number_of_keys_at_every_fill) {
  for (const std::uint64_t n : {1U, 5U, 50U, 2000U}) {
    for (const double fpr : {0.25, 0.1, 0.01, 0.0001}) {
      for (const double load : {0.2, 1.0, 2.5}) {
        const auto wanted = static_cast<std::uint64_t>(static_cast<double>(n) * load);
        // Filters of few bits may have all of them set when they are overfull.
        if (wanted == 0 || (load > 1 && n < 50)) continue;
        samples estimates;
        samples truth;
        auto f = make<TypeParam>(n, fpr);
        for (std::uint64_t s = 0; s < filters_for(n); ++s) {
          f.clear();
          truth.add(static_cast<double>(fill(f, keys_of(1000 * n + s, wanted))));
          estimates.add(f.estimate_size());
        }
        ASSERT_FALSE(estimates.any_infinite());
        expect_mean(estimates, truth.mean(), fmt::format("{} keys at {}, load {}", n, fpr, load));
      }
    }
  }
}

TYPED_TEST(estimate, of_keys_that_are_only_inserted_if_absent_is_that_of_those_offered) {
  for (const double fpr : {0.25, 0.1, 0.01}) {
    const std::uint64_t n = 2000;
    samples estimates;
    for (std::uint64_t s = 0; s < 50; ++s) {
      auto f = make<TypeParam>(n, fpr, s);
      for (const std::uint64_t key : keys_of(s, n)) {
        if (!f.may_contain(key)) f.insert(key);
      }
      estimates.add(f.estimate_size());
    }
    expect_mean(estimates, static_cast<double>(n), fmt::format("at {}", fpr));
  }
}

// A deviation of one filter's estimate is below 0.67 sqrt(n) / (1 - eps) keys, 0.3% of 200,000, and
// that of the mean of four 0.15%: 1% is more than six of them.
TYPED_TEST(estimate, of_a_filter_that_has_grown_is_that_of_all_its_keys) {
  if constexpr (grows<TypeParam>) {
    constexpr std::uint64_t n = 200'000;
    for (const double fpr : {0.5, 0.25, 0.01}) {
      for (const bool only_absent : {false, true}) {
        double sum = 0;
        for (std::uint64_t s = 0; s < 4; ++s) {
          auto f = make<TypeParam>(64, fpr, s);
          for (const std::uint64_t key : keys_of(s, n)) {
            if (!only_absent || !f.may_contain(key)) f.insert(key);
          }
          sum += f.estimate_size();
        }
        EXPECT_NEAR(sum / 4, n, 0.01 * n) << fpr << ", absent only: " << only_absent;
      }
    }
  }
}

TYPED_TEST(estimate_of_copies, counts_each_key_once_and_not_what_was_erased) {
  for (const double fpr : {0.25, 0.01}) {
    samples twice;
    samples left;
    for (std::uint64_t s = 0; s < 50; ++s) {
      auto f = make<TypeParam>(4000, fpr, s);
      const auto keys = keys_of(s, 1500);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        for (std::size_t copy = 0; copy <= i % 2; ++copy) {
          ASSERT_TRUE(is_contained(f.insert(keys[i])));
        }
      }
      twice.add(f.estimate_size());
      for (std::size_t i = 0; i < keys.size() / 2; ++i) {
        for (std::size_t copy = 0; copy <= i % 2; ++copy) ASSERT_TRUE(f.erase(keys[i]));
      }
      left.add(f.estimate_size());
    }
    expect_mean(twice, 1500, fmt::format("copies at {}", fpr));
    expect_mean(left, 750, fmt::format("erased at {}", fpr));
  }
}

TYPED_TEST(estimate_of_merged, counts_what_both_have_once) {
  for (const double fpr : {0.25, 0.01}) {
    samples estimates;
    for (std::uint64_t s = 0; s < 50; ++s) {
      auto a = make<TypeParam>(4000, fpr, s);
      auto b = make<TypeParam>(4000, fpr, s);
      const auto keys = keys_of(s, 1500);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i < 1000) a.insert(keys[i]);
        if (i >= 500) b.insert(keys[i]);
      }
      if constexpr (grows<TypeParam>) {  // a union needs the sum of both rates
        auto both = make<TypeParam>(4000, 2 * fpr, s);
        value_of(both.merge(a));
        a = std::move(both);
      }
      value_of(a.merge(b));
      estimates.add(a.estimate_size());
    }
    expect_mean(estimates, 1500, fmt::format("at {}", fpr));
  }
}

// Intersections ---------------------------------------------------------------------------------

/// Filters of [0, n) and [n - common, 2n - common), intersected.
template <class F>
F intersected(std::uint64_t n, std::uint64_t common, double fpr, std::uint64_t s) {
  auto a = make<F>(n, fpr, s);
  auto b = make<F>(n, fpr, s);
  const auto keys = keys_of(s + 7, 2 * n - common);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i < n) a.insert(keys[i]);
    if (i >= n - common) b.insert(keys[i]);
  }
  value_of(a.intersect(b));
  return a;
}

TYPED_TEST(estimate_of_common, is_the_number_of_common_keys) {
  for (const double fpr : {0.25, 0.01, 0.0001}) {
    for (const std::uint64_t common : {0U, 100U, 1000U, 2000U}) {
      samples estimates;
      for (std::uint64_t s = 0; s < 50; ++s) {
        estimates.add(intersected<TypeParam>(2000, common, fpr, s).estimate_size());
      }
      // What is left out below zero raises the mean of no common keys by 0.4 deviations, of some
      // 100 keys at 25%.
      const double slack = common == 0 ? 100 : 0;
      EXPECT_NEAR(estimates.mean(), static_cast<double>(common),
                  std::max(slack, estimates.tolerance(2000)))
          << fpr;
    }
  }
}

TYPED_TEST(estimate_of_common, of_two_large_disjoint_sets_is_near_zero) {
  auto f = intersected<TypeParam>(100'000, 0, 0.01, 1);
  // A deviation is that of the union's estimate, about 200 keys.
  EXPECT_LE(f.estimate_size(), 1300);
  EXPECT_LE(f.size(), 1300U);
}

TYPED_TEST(estimate_of_common, survives_a_file_and_inserts_and_ends_with_clear) {
  auto f = intersected<TypeParam>(5000, 1000, 0.01, 3);
  const double before = f.estimate_size();
  EXPECT_NEAR(before, 1000, 400);
  const auto again = reopen<owned_storage>(f);
  EXPECT_EQ(again.filter.estimate_size(), before);
  EXPECT_EQ(file_bytes(again.filter), file_bytes(f));
  fill(f, keys_of(99, 2000));
  EXPECT_NEAR(f.estimate_size(), before + 2000, 300);
  f.clear();
  EXPECT_EQ(f.estimate_size(), 0);
  EXPECT_EQ(file_bytes(f), file_bytes(make<TypeParam>(5000, 0.01, 3)));
}

TYPED_TEST(estimate_of_common, of_equal_sets_changes_nothing) {
  auto a = make<TypeParam>(5000, 0.01);
  fill(a, keys_of(1, 3000));
  auto b = make<TypeParam>(5000, 0.01);
  value_of(b.merge(a));
  const auto before = file_bytes(a);
  value_of(a.intersect(b));
  EXPECT_EQ(file_bytes(a), before);
}

// Bits that chance has left of one intersection may be common with another filter's because the
// same keys made them: then nothing tells how many keys are left.
TYPED_TEST(estimate_of_common, of_an_intersection_with_a_third_set_cannot_be_known) {
  auto f = intersected<TypeParam>(5000, 1000, 0.01, 3);
  const double before = f.estimate_size();
  const auto same = reopen<owned_storage>(f);
  value_of(f.intersect(same.filter));
  value_of(f.merge(same.filter));
  value_of(f.merge(make<TypeParam>(5000, 0.01, 3)));
  EXPECT_EQ(f.estimate_size(), before) << "the bits are the same, and so are the keys";
  auto other = make<TypeParam>(5000, 0.01, 3);
  fill(other, keys_of(5, 3000));
  auto both = reopen<owned_storage>(f);
  value_of(f.intersect(other));
  EXPECT_EQ(f.estimate_size(), infinity);
  const auto again = reopen<owned_storage>(f);
  EXPECT_EQ(again.filter.estimate_size(), infinity);
  value_of(other.merge(both.filter));
  EXPECT_EQ(other.estimate_size(), infinity);
}

TYPED_TEST(estimate_of_common, of_filters_too_full_to_tell_is_not_known) {
  auto a = make<TypeParam>(10, 0.25);
  auto b = make<TypeParam>(10, 0.25);
  fill(a, keys_of(1, 20'000));
  fill(b, keys_of(2, 10));
  ASSERT_EQ(a.estimate_size(), infinity);
  value_of(b.intersect(a));
  EXPECT_EQ(b.estimate_size(), infinity);
  EXPECT_LE(b.size(), 10U);
}

// Static kinds ----------------------------------------------------------------------------------

template <class F>
class estimate_of_static : public ::testing::Test {};
TYPED_TEST_SUITE(estimate_of_static, static_filter_types, filter_names);

TYPED_TEST(estimate_of_static, is_the_number_of_different_keys) {
  for (const std::uint64_t n : {1U, 100U, 20'000U}) {
    std::vector<hash64> hashes;
    for (int copy = 0; copy < 3; ++copy) {
      for (const std::uint64_t key : keys_of(n, n)) hashes.push_back(hash64{key});
    }
    const auto f = built_of<TypeParam>(hashes, 0.01);
    EXPECT_EQ(f.estimate_size(), static_cast<double>(n));
  }
}

}  // namespace
}  // namespace bloomset::test
