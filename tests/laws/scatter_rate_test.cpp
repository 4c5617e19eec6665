// The scatter of one filter's rate around the planned rate, the mean of all filters.

#include <gtest/gtest.h>

#include <bloomset/blocked_bloom.hpp>
#include <bloomset/bloom.hpp>
#include <bloomset/plan/formulas.hpp>
#include <random>
#include <vector>

namespace bloomset {
namespace {

constexpr int filters = 2000;
constexpr double deviations_of_95 = 1.6448536269514722;

/// The share of filters of the plan, filled to capacity, whose own rate is above a bound.
template <class Filter, class Spec>
double share_above(const Spec& spec, double bound, unsigned seed) {
  std::mt19937_64 random(seed);
  int above = 0;
  Filter filter = Filter::make(spec).value();
  for (int i = 0; i < filters; ++i) {
    filter.clear();
    std::vector<hash64> keys(spec.capacity);
    for (hash64& key : keys) key.value = random();
    filter.insert(keys);
    above += filter.current_fpr() > bound;
  }
  return static_cast<double>(above) / filters;
}

template <class Filter, class Spec, class Params>
void expect_one_in_twenty_above(const Spec& spec, const Params& plan, unsigned seed) {
  const double bound = formulas::fpr_at(plan.fpr, plan.scatter(), deviations_of_95);
  const double share = share_above<Filter>(spec, bound, seed);
  // One in twenty if the lognormal form were exact; 0.035 to 0.065 allows for its error. Five
  // standard deviations of 2000 filters are 0.02 to 0.028 more: a false alarm in 10^6.
  EXPECT_GT(share, 0.035 - 0.020) << plan.capacity << " keys at " << spec.fpr;
  EXPECT_LT(share, 0.065 + 0.028) << plan.capacity << " keys at " << spec.fpr;
}

TEST(scatter, one_filter_in_twenty_is_above_the_95_percent_point) {
  unsigned seed = 1;
  for (const double fpr : {0.01, 1e-4, 1e-6}) {
    for (const std::uint64_t n : {100, 1000}) {
      const blocked_bloom_spec blocked{.capacity = n, .fpr = fpr};
      expect_one_in_twenty_above<blocked_bloom>(blocked, plan_blocked_bloom(blocked).value(),
                                                seed++);
      const bloom_spec bits{.capacity = n, .fpr = fpr};
      expect_one_in_twenty_above<bloom>(bits, plan_bloom(bits).value(), seed++);
    }
  }
}

TEST(scatter, with_a_confidence_that_share_of_filters_keeps_within_the_rate) {
  for (const double fpr : {0.01, 1e-6}) {
    const blocked_bloom_spec blocked{.capacity = 1000, .fpr = fpr, .confidence = 0.95};
    // The mean alone is planned for without: more than a tenth of the filters are above it.
    EXPECT_LT(share_above<blocked_bloom>(blocked, fpr, 71), 0.065 + 0.028);
    blocked_bloom_spec mean = blocked;
    mean.confidence = 0;
    EXPECT_GT(share_above<blocked_bloom>(mean, fpr, 71), 0.1);
    const bloom_spec bits{.capacity = 1000, .fpr = fpr, .confidence = 0.95};
    EXPECT_LT(share_above<bloom>(bits, fpr, 72), 0.065 + 0.028);
  }
  // The fewest keys, too, where memory and rate are given.
  const auto keys = [](double confidence) {
    return plan_blocked_bloom({.fpr = 1e-4, .bits = 40'000, .confidence = confidence})
        .value()
        .capacity;
  };
  EXPECT_LT(keys(0.95), keys(0));
  EXPECT_LT(keys(0.99), keys(0.95));
  for (const double wrong : {0.2, 1.0, -0.5}) {
    EXPECT_EQ(plan_blocked_bloom({.capacity = 9, .fpr = 0.01, .confidence = wrong}).error().code,
              errc::invalid_argument);
    EXPECT_EQ(plan_bloom({.capacity = 9, .fpr = 0.01, .confidence = wrong}).error().code,
              errc::invalid_argument);
  }
}

TEST(scatter, the_normal_quantile_is_that_of_tables) {
  EXPECT_NEAR(formulas::normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(formulas::normal_quantile(0.95), 1.6448536269514722, 1e-12);
  EXPECT_NEAR(formulas::normal_quantile(0.999), 3.090232306167813, 1e-12);
}

}  // namespace
}  // namespace bloomset
