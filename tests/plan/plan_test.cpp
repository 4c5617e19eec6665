// The formulas and the Bloom filter's planner, against the literature's figures and against a
// direct computation of the rate's definition.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/plan/bloom_plan.hpp>
#include <bloomset/plan/formulas.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

namespace f = bloomset::formulas;
using bloomset::bloom_spec;
using bloomset::errc;
using bloomset::plan_bloom;

// The rate by its definition: throws n*k balls at m places one by one, computes the distribution of
// the number of hit places, and returns the mean of (X/m)^k.
double rate_by_definition(std::uint64_t n, std::uint64_t m, unsigned k) {
  std::vector<double> p(m + 1, 0.0);
  p[0] = 1;
  const auto places = static_cast<double>(m);
  for (std::uint64_t t = 0; t < n * k; ++t) {
    for (std::uint64_t d = std::min(m, t + 1); d > 0; --d) {
      p[d] = p[d] * static_cast<double>(d) / places +
             p[d - 1] * static_cast<double>(m - d + 1) / places;
    }
    p[0] = 0;
  }
  double mean = 0;
  for (std::uint64_t d = 0; d <= m; ++d) {
    mean += p[d] * std::pow(static_cast<double>(d) / places, k);
  }
  return mean;
}

TEST(formulas, the_textbooks_table_of_rates) {
  // (m/n, k, rate): the table of P. Cao, "Bloom Filters - the math", after Fan et al., 2000.
  struct row {
    double bits_per_key;
    unsigned k;
    double rate;
  };
  for (const row& r : {row{2, 1, 0.393}, row{4, 3, 0.147}, row{5, 3, 0.092}, row{6, 4, 0.0561},
                       row{8, 4, 0.024}, row{8, 5, 0.0217}, row{8, 6, 0.0216}, row{10, 7, 0.00819},
                       row{12, 8, 0.00314}, row{16, 8, 0.000574}}) {
    EXPECT_NEAR(f::bloom_fpr_classic(1, r.bits_per_key, r.k), r.rate, 0.006 * r.rate)
        << r.bits_per_key << " bits/key, k = " << r.k;
  }
}

TEST(formulas, ideal_rates_at_whole_bits_a_key) {
  const std::vector<std::pair<double, double>> percents = {{1, 62}, {2, 38}, {3, 24},   {4, 15},
                                                           {5, 9},  {8, 2},  {16, 0.05}};
  for (const auto& [y, percent] : percents) {
    const double unit = percent < 1 ? 0.01 : 1;
    EXPECT_DOUBLE_EQ(std::round(100 * f::ideal_fpr(y) / unit) * unit, percent) << y;
    EXPECT_NEAR(f::ideal_fpr(y), std::pow(0.6185, y), 1e-3 * f::ideal_fpr(y)) << y;
  }
}

TEST(formulas, bounds_and_optima) {
  EXPECT_NEAR(f::information_bound(0.01), 6.64, 0.005);
  EXPECT_NEAR(f::information_bound(0.001), 9.97, 0.005);
  EXPECT_NEAR(f::ideal_fpr(9.585), 0.01, 2e-6);
  EXPECT_NEAR(f::ideal_fpr(14.378), 0.001, 2e-7);
  EXPECT_NEAR(f::optimal_hashes(1000, 8000), 5.55, 0.005);
  // Fan et al., 2014: 12-bit fingerprints in buckets of four, 95% full.
  EXPECT_NEAR(f::cuckoo_fpr(4, 12, 0.955), 0.0019, 0.0001);
}

TEST(formulas, the_rate_is_the_definitions) {
  for (const std::uint64_t m : {1U, 2U, 3U, 8U, 10U, 29U, 64U, 129U, 300U, 800U, 4095U}) {
    for (const std::uint64_t n : {1U, 2U, 3U, 7U, 20U}) {
      for (const unsigned k : {1U, 2U, 3U, 5U, 7U, 10U, 14U, 20U, 28U}) {
        const double truth = rate_by_definition(n, m, k);
        EXPECT_NEAR(f::bloom_fpr(static_cast<double>(n), m, k), truth, 2e-5 * truth)
            << "n = " << n << ", m = " << m << ", k = " << k;
      }
    }
  }
}

TEST(formulas, the_expansion_for_large_arrays_keeps_its_error) {
  struct shape {
    std::uint64_t n, m;
    unsigned k;
  };
  for (const shape& s :
       {shape{425, 4096, 7}, shape{4096, 4096, 1}, shape{205, 4096, 14}, shape{100, 4200, 28},
        shape{1000, 5000, 3}, shape{1, 4096, 6}, shape{3, 5000, 10}}) {
    const double truth = rate_by_definition(s.n, s.m, s.k);
    EXPECT_NEAR(f::bloom_fpr(static_cast<double>(s.n), s.m, s.k), truth, 4e-4 * truth)
        << "n = " << s.n << ", m = " << s.m << ", k = " << s.k;
  }
}

TEST(formulas, the_classic_rate_is_a_lower_bound) {  // Bose et al., 2008
  for (const std::uint64_t m : {16U, 100U, 1000U, 100'000U}) {
    for (const unsigned k : {2U, 3U, 7U, 12U}) {
      const double n = std::max(1.0, std::round(static_cast<double>(m) / 10));
      EXPECT_GT(f::bloom_fpr(n, m, k), f::bloom_fpr_classic(n, static_cast<double>(m), k))
          << "m = " << m << ", k = " << k;
    }
  }
}

TEST(bloom_plan, a_thousand_keys_in_eight_thousand_bits) {
  const auto plan = plan_bloom({.capacity = 1000, .bits = 8000});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->hashes, 6U);
  EXPECT_NEAR(plan->fpr, 0.022, 0.0005);
}

TEST(bloom_plan, one_percent_takes_ten_bits_a_key_less_a_bit) {
  const auto plan = plan_bloom({.capacity = 1'000'000, .fpr = 0.01});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_NEAR(static_cast<double>(plan->bits) / 1e6, 9.6, 0.05);
  EXPECT_EQ(plan->hashes, 7U);
  const auto urls = plan_bloom({.capacity = 100'000'000, .fpr = 0.01});
  ASSERT_TRUE(urls) << urls.error().message;
  EXPECT_NEAR(static_cast<double>(urls->bits) / 8e6, 120, 0.5);  // MB
}

TEST(bloom_plan, a_thousand_million_addresses_in_a_gigabyte) {
  const auto plan = plan_bloom({.capacity = 1'000'000'000, .bits = 8'000'000'000});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->hashes, 6U);
  EXPECT_NEAR(plan->fpr, 0.02, 0.002);
}

TEST(bloom_plan, small_filters_meet_the_rate_with_the_fewest_bits) {
  for (const std::uint64_t n : {1U, 2U, 3U, 7U, 20U}) {
    for (const double eps : {0.5, 0.1, 0.03, 0.01, 0.001, 1e-4}) {
      const auto plan = plan_bloom({.capacity = n, .fpr = eps});
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_LE(rate_by_definition(n, plan->bits, plan->hashes), eps * (1 + 1e-5))
          << n << " keys at " << eps;
      if (plan->bits == 1) continue;
      for (unsigned k = 1; k <= 20; ++k) {
        EXPECT_GT(rate_by_definition(n, plan->bits - 1, k), eps * (1 - 1e-5))
            << n << " keys at " << eps << ": a bit less would do with k = " << k;
      }
    }
  }
}

TEST(bloom_plan, more_bits_never_raise_the_rate_and_more_keys_never_lower_it) {
  for (const std::uint64_t n : {1U, 7U, 100U, 600U}) {
    double last = 1;
    for (std::uint64_t m = 1; m <= 6000; m += 1 + m / 97) {
      const auto plan = plan_bloom({.capacity = n, .bits = m});
      ASSERT_TRUE(plan) << plan.error().message;
      // The exact formula below 4096 bits and the expansion above meet within 4e-4.
      EXPECT_LE(plan->fpr, last * (1 + 4e-4)) << n << " keys, " << m << " bits";
      last = plan->fpr;
    }
  }
  double last = 0;
  for (std::uint64_t n = 1; n < 100'000'000; n = n * 5 / 4 + 1) {
    const auto plan = plan_bloom({.capacity = n, .bits = 1'000'000});
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_GE(plan->fpr, last * (1 - 1e-9)) << n << " keys";
    last = plan->fpr;
  }
}

TEST(bloom_plan, any_two_give_the_third_again) {
  for (const std::uint64_t n : {1U, 2U, 3U, 7U, 1000U, 100'003U, 10'000'000U}) {
    for (const double eps : {0.1, 0.01, 0.001, 1e-9}) {
      const auto sized = plan_bloom({.capacity = n, .fpr = eps});
      ASSERT_TRUE(sized) << sized.error().message;
      EXPECT_LE(sized->fpr, eps);
      const auto filled = plan_bloom({.fpr = eps, .bits = sized->bits});
      ASSERT_TRUE(filled) << filled.error().message;
      EXPECT_GE(filled->capacity, n) << eps;
      EXPECT_LE(filled->fpr, eps);
      const auto rated = plan_bloom({.capacity = n, .bits = sized->bits});
      ASSERT_TRUE(rated) << rated.error().message;
      EXPECT_LE(rated->fpr, sized->fpr * (1 + 1e-12));
    }
  }
}

TEST(bloom_plan, a_number_of_functions_with_capacity_or_bits_fills_half) {
  const auto sized = plan_bloom({.capacity = 1000, .hashes = 7});
  ASSERT_TRUE(sized) << sized.error().message;
  EXPECT_NEAR(static_cast<double>(sized->bits), 7000 / std::log(2.0), 1);
  const auto filled = plan_bloom({.bits = 8000, .hashes = 6});
  ASSERT_TRUE(filled) << filled.error().message;
  EXPECT_NEAR(static_cast<double>(filled->capacity), 8000 * std::log(2.0) / 6, 1);
}

TEST(bloom_plan, what_is_not_sufficient_or_cannot_be_is_refused) {
  const std::vector<bloom_spec> refused = {
      {},
      {.capacity = 1000},
      {.fpr = 0.01},
      {.bits = 1000},
      {.hashes = 3},
      {.fpr = 0.01, .hashes = 3},
      {.capacity = 1000, .fpr = 0.01, .bits = 1000},  // contradict each other
      {.capacity = 1000, .fpr = 1},
      {.capacity = 1000, .fpr = -0.1},
      {.capacity = 1000, .fpr = std::nan("")},
      {.capacity = 1000, .fpr = 1e-300},
      {.capacity = 1000, .fpr = 0.01, .hashes = 65},
      {.capacity = ~std::uint64_t{0}, .fpr = 0.01},
      {.capacity = 1000, .bits = ~std::uint64_t{0}},
      {.fpr = 1e-9, .bits = 1},
  };
  for (const bloom_spec& spec : refused) {
    const auto plan = plan_bloom(spec);
    ASSERT_FALSE(plan) << spec.capacity << ' ' << spec.fpr << ' ' << spec.bits << ' '
                       << spec.hashes;
    EXPECT_EQ(plan.error().code, errc::invalid_argument);
    EXPECT_FALSE(plan.error().message.empty());
  }
}

}  // namespace
