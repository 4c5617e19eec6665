// The plan of a vector quotient filter, and the validation of its parameters.

#include <gtest/gtest.h>

#include <bloomset/advise.hpp>
#include <bloomset/vector_quotient.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

double bits_a_key(const vector_quotient_params& plan) {
  return 8.0 * static_cast<double>(plan.payload_bytes()) / static_cast<double>(plan.capacity);
}

TEST(vector_quotient_plan, takes_what_the_literature_says_of_such_blocks) {
  // Bits per key for a million keys, at least 512 / (0.965 S).
  const auto one = value_of(plan_vector_quotient({.capacity = 1'000'000, .fpr = 0.01}));
  EXPECT_LE(bits_a_key(one), 10.1);
  const auto half = value_of(plan_vector_quotient({.capacity = 1'000'000, .fpr = 0.0045}));
  EXPECT_LE(bits_a_key(half), 11.1);
  const auto tenth = value_of(plan_vector_quotient({.capacity = 1'000'000, .fpr = 0.001}));
  EXPECT_LE(bits_a_key(tenth), 13.7);
}

TEST(vector_quotient_plan, keeps_the_rate_and_takes_no_more_blocks_than_another_shape_would) {
  for (const std::uint64_t n : {1ULL, 2ULL, 7ULL, 100ULL, 1000ULL, 100'003ULL, 10'000'000'000ULL}) {
    for (const double eps : {0.5, 0.1, 0.01, 0.0045, 0.001, 1e-5, 1e-7}) {
      const auto plan = plan_vector_quotient({.capacity = n, .fpr = eps});
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_LE(plan->fpr, eps);
      EXPECT_GE(plan->capacity, n);
      EXPECT_LE(plan->load(), n <= 63 ? 1.0 : 0.965);
      EXPECT_TRUE(plan->possible());
      for (unsigned bits = 5; bits <= 32; ++bits) {
        const auto other =
            plan_vector_quotient({.capacity = n, .fpr = eps, .remainder_bits = bits});
        if (other) {
          EXPECT_LE(plan->blocks, other->blocks) << n << " at " << eps << " by " << bits;
        }
      }
    }
  }
}

// Planned keys do not fit with a chance below 1 in 10,000. All sets fit here, of 100 sizes with 200
// sets each and some larger ones; fewer failures than that cannot be told from none.
TEST(vector_quotient_plan, planned_keys_fit) {
  std::mt19937_64 random(5);
  const auto fits = [&](std::uint64_t n, double eps) {
    auto f = make<vector_quotient>(n, eps);
    std::vector<hash64> members(n);
    for (hash64& h : members) h.value = random();
    return f.insert(std::span<const hash64>(members)).done == n;
  };
  for (std::uint64_t n = 1; n <= 100; ++n) {
    for (int set = 0; set < 200; ++set) ASSERT_TRUE(fits(n, set % 2 == 0 ? 0.01 : 1e-6)) << n;
  }
  for (const std::uint64_t n : {150U, 333U, 1000U, 5000U}) {
    for (int set = 0; set < 300; ++set) ASSERT_TRUE(fits(n, set % 2 == 0 ? 0.01 : 1e-8)) << n;
  }
  ASSERT_TRUE(fits(1'000'000, 0.005));
}

TEST(vector_quotient_plan, any_sufficient_two) {
  const auto by_rate = value_of(plan_vector_quotient({.capacity = 1'000'000, .fpr = 0.01}));
  const std::uint64_t bits = 8 * by_rate.payload_bytes();
  const auto by_bits = value_of(plan_vector_quotient({.fpr = 0.01, .bits = bits}));
  EXPECT_GE(by_bits.capacity, 1'000'000U);
  EXPECT_LE(8 * by_bits.payload_bytes(), bits);
  const auto by_both = value_of(plan_vector_quotient({.capacity = 1'000'000, .bits = bits}));
  EXPECT_LE(by_both.fpr, by_rate.fpr);
  EXPECT_TRUE(plan_vector_quotient({.capacity = 1'000'000, .fpr = by_rate.fpr, .bits = bits}));
  EXPECT_TRUE(plan_vector_quotient({.capacity = 1000, .remainder_bits = 8}));
  EXPECT_TRUE(plan_vector_quotient({.bits = 80'000, .slots = 48, .remainder_bits = 8}));
}

TEST(vector_quotient_plan, says_what_is_wrong) {
  using spec = vector_quotient_spec;
  for (const auto& [bad, hint] : {
           std::pair{spec{}, "two of capacity"},
           {spec{.capacity = 10}, "two of capacity"},
           {spec{.bits = 10000}, "two of capacity"},
           {spec{.capacity = std::uint64_t{1} << 60, .fpr = 0.1}, "capacity of"},
           {spec{.capacity = 10, .fpr = 1.0}, "rate of 1"},
           {spec{.capacity = 10, .fpr = std::nan("")}, "rate of nan"},
           {spec{.capacity = 10, .fpr = 0.1, .slots = 64}, "1 to 63"},
           {spec{.capacity = 10, .remainder_bits = 4}, "5 to 32"},
           {spec{.capacity = 10, .slots = 60, .remainder_bits = 20}, "do not fit into a block"},
           {spec{.capacity = 10, .slots = 20, .remainder_bits = 24}, "leave one of slots"},
           {spec{.capacity = 10, .bits = 500}, "at least 1024"},
           {spec{.fpr = 0.1, .bits = (std::uint64_t{1} << 62) + 1}, "2^62"},
           {spec{.capacity = 1000, .fpr = 1e-14}, "give a higher rate"},
           {spec{.capacity = 1000, .bits = 5000}, "has no room for 1,000 keys"},
           {spec{.capacity = 1000, .fpr = 1e-6, .bits = 24000}, "leave one"},
           {spec{.fpr = 1e-15, .bits = 12000}, "hold no key"},
           {spec{.capacity = 800'000'000, .remainder_bits = 32}, ""},
       }) {
    const auto plan = plan_vector_quotient(bad);
    ASSERT_FALSE(plan) << hint;
    EXPECT_EQ(plan.error().code, errc::invalid_argument);
    EXPECT_NE(plan.error().message.find(hint), std::string::npos) << plan.error().message;
  }
}

TEST(vector_quotient_plan, hostile_parameters_are_refused) {
  const auto good = value_of(plan_vector_quotient({.capacity = 1000, .fpr = 0.01}));
  const auto header = vector_quotient({.capacity = 1, .fpr = 0.1}).image().header;
  const auto decodes = [&](const vector_quotient_params& params) {
    return vector_quotient_params::decode(header, params.encode()).has_value();
  };
  ASSERT_TRUE(decodes(good));
  const auto with = [&](auto change) {
    vector_quotient_params params = good;
    change(params);
    return params;
  };
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  for (const auto& bad : {
           with([](auto& p) { p.capacity = 0; }),
           with([](auto& p) { p.capacity = huge; }),
           with([](auto& p) { p.fpr = std::nan(""); }),
           with([](auto& p) { p.fpr = 1.5; }),
           with([](auto& p) { p.blocks = 0; }),
           with([](auto& p) { p.blocks = huge; }),
           with([](auto& p) { p.blocks = std::uint64_t{1} << 58; }),  // its bytes are 0 mod 2^64
           with([](auto& p) { p.slots = 0; }),
           with([](auto& p) { p.slots = 64; }),
           with([](auto& p) { p.buckets = 0; }),
           with([](auto& p) { p.buckets = 10; }),
           with([](auto& p) { p.buckets = 200; }),
           with([](auto& p) { p.remainder_bits = 4; }),
           with([](auto& p) { p.remainder_bits = 9; }),
           with([](auto& p) { p.remainder_bits = 33; }),
           with([](auto& p) { p.overflow_entries = 3; }),
           with([](auto& p) { p.overflow_entries = std::uint64_t{1} << 60; }),
       }) {
    EXPECT_FALSE(decodes(bad));
    EXPECT_FALSE(vector_quotient::open(bad, owned_storage(), 0));
  }
  auto newer = header;
  newer.kind_version = 2;
  EXPECT_EQ(vector_quotient_params::decode(newer, good.encode()).error().code, errc::unsupported);
}

TEST(vector_quotient_plan, is_recommended_for_deletion_and_for_counting) {
  for (const needs& wanted : {needs{.deletable = true}, needs{.counting = true},
                              needs{.deletable = true, .counting = true}}) {
    for (const double eps : {0.01, 0.0045, 0.001, 1e-4}) {
      const auto found = advise({.capacity = 1'000'000, .fpr = eps}, wanted);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(found->recommended().kind->kind, filter_kind::vector_quotient) << eps;
    }
  }
}

TEST(vector_quotient_plan, the_registry_row_takes_its_options_and_refuses_hashes) {
  const kind_info& row = *value_of(find_kind("vector_quotient"));
  plan_request request;
  request.capacity = 1000;
  request.fpr = 0.01;
  request.options = {{"slots", "30"}, {"remainder_bits", "12"}};
  const auto info = value_of(row.create(request)).info();
  EXPECT_EQ(extra<std::uint64_t>(info.extras, "slots"), 30U);
  EXPECT_EQ(extra<std::uint64_t>(info.extras, "remainder_bits"), 12U);
  EXPECT_EQ(extra<std::uint64_t>(info.extras, "buckets"), 512U - 30 * 13);
  EXPECT_EQ(extra<std::uint64_t>(info.extras, "stashed"), 0U);
  request.hashes = 3;
  EXPECT_NE(row.plan(request).error().message.find("number of hash functions does not apply"),
            std::string::npos);
  request.hashes = 0;
  for (const auto& bad : {std::pair<std::string, std::string>{"slots", "0"},
                          {"slots", "x"},
                          {"remainder_bits", "33"},
                          {"remainders", "8"}}) {
    request.options = {bad};
    EXPECT_FALSE(row.plan(request)) << bad.first << bad.second;
    EXPECT_FALSE(row.create(request));
  }
}

}  // namespace
}  // namespace bloomset::test
