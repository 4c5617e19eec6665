// The plan of a cuckoo filter, and the validation of its parameters.

#include <gtest/gtest.h>

#include <bloomset/bloomset.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "tests/support/words.hpp"

namespace {

using bloomset::cuckoo;
using bloomset::cuckoo_params;
using bloomset::errc;
using bloomset::test::extra;

TEST(cuckoo_plan, hostile_parameters_are_refused) {
  const auto good = bloomset::plan_cuckoo({.capacity = 1000, .fpr = 0.01}).value();
  const auto header = cuckoo({.capacity = 1, .fpr = 0.1}).image().header;
  const auto decodes = [&](const cuckoo_params& params) {
    const auto block = params.encode();
    return cuckoo_params::decode(header, block).has_value();
  };
  ASSERT_TRUE(decodes(good));
  const auto with = [&](auto change) {
    cuckoo_params params = good;
    change(params);
    return params;
  };
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  for (const auto& bad : {
           with([](auto& p) { p.capacity = 0; }),
           with([](auto& p) { p.capacity = huge; }),
           with([](auto& p) { p.fpr = std::nan(""); }),
           with([](auto& p) { p.fpr = 1.5; }),
           with([](auto& p) { p.buckets = 0; }),
           with([](auto& p) { p.buckets = huge; }),
           with([](auto& p) { p.buckets = std::uint64_t{1} << 61; }),  // product is 0 modulo 2^64
           with([](auto& p) { p.slots = 0; }),
           with([](auto& p) { p.slots = 3; }),
           with([](auto& p) { p.slots = 16; }),
           with([](auto& p) { p.fingerprint_bits = 3; }),
           with([](auto& p) { p.fingerprint_bits = 33; }),
       }) {
    EXPECT_FALSE(decodes(bad));
    EXPECT_FALSE(cuckoo::open(bad, bloomset::owned_storage(), 0));
  }
  for (const std::uint16_t version : std::initializer_list<std::uint16_t>{1, 3}) {
    auto other = header;
    other.kind_version = version;
    EXPECT_EQ(cuckoo_params::decode(other, good.encode()).error().code, errc::unsupported);
  }
}

TEST(cuckoo_plan, any_sufficient_two) {
  const auto by_rate = bloomset::plan_cuckoo({.capacity = 1000000, .fpr = 0.01});
  ASSERT_TRUE(by_rate);
  EXPECT_EQ(by_rate->fingerprint_bits, 10U);
  const std::uint64_t bits = 8 * by_rate->payload_bytes();
  EXPECT_NEAR(static_cast<double>(bits) / 1e6, 10 / 0.95, 0.01);

  const auto by_bits = bloomset::plan_cuckoo({.fpr = 0.01, .bits = bits});
  ASSERT_TRUE(by_bits);
  EXPECT_GE(by_bits->capacity, 1000000U);
  EXPECT_LE(8 * by_bits->payload_bytes(), bits);
  const auto by_both = bloomset::plan_cuckoo({.capacity = 1000000, .bits = bits});
  ASSERT_TRUE(by_both);
  EXPECT_LE(by_both->fpr, by_rate->fpr);
  EXPECT_TRUE(bloomset::plan_cuckoo({.capacity = 1000000, .fpr = by_rate->fpr, .bits = bits}));
  EXPECT_TRUE(bloomset::plan_cuckoo({.capacity = 1000, .fingerprint_bits = 8}));
  EXPECT_TRUE(bloomset::plan_cuckoo({.bits = 80000, .slots = 2, .fingerprint_bits = 8}));
  EXPECT_EQ(bloomset::plan_cuckoo({.capacity = 1000, .fpr = 0.5, .slots = 8})->slots, 8U);
}

TEST(cuckoo_plan, keeps_the_requested_rate_and_takes_no_bit_more_than_another_fingerprint_would) {
  for (const unsigned slots : {2U, 4U, 8U}) {
    for (const std::uint64_t n : {1ULL, 2ULL, 3ULL, 7ULL, 1000ULL, 100003ULL, 10'000'000'000ULL}) {
      for (const double eps : {0.5, 0.1, 0.03, 0.01, 0.001, 1e-5, 1e-7}) {
        const auto plan = bloomset::plan_cuckoo({.capacity = n, .fpr = eps, .slots = slots});
        ASSERT_TRUE(plan) << plan.error().message;
        EXPECT_LE(plan->fpr, eps);
        for (unsigned f = 4; f <= 32; ++f) {
          const auto other = bloomset::plan_cuckoo(
              {.capacity = n, .fpr = eps, .slots = slots, .fingerprint_bits = f});
          if (!other) continue;
          EXPECT_LE(plan->payload_bytes(), other->payload_bytes());
        }
      }
    }
  }
}

TEST(cuckoo_plan, says_what_is_wrong) {
  using spec = bloomset::cuckoo_spec;
  for (const auto& [bad, hint] : {
           std::pair{spec{}, "two of capacity"},
           {spec{.capacity = 10}, "two of capacity"},
           {spec{.bits = 10000}, "two of capacity"},
           {spec{.capacity = std::uint64_t{1} << 60, .fpr = 0.1}, "capacity of"},
           {spec{.capacity = 10, .fpr = 1.0}, "rate of 1"},
           {spec{.capacity = 10, .fpr = std::nan("")}, "rate of nan"},
           {spec{.capacity = 10, .fpr = 0.1, .slots = 5}, "2, 4 or 8"},
           {spec{.capacity = 10, .fingerprint_bits = 40}, "4 to 32"},
           {spec{.capacity = 10, .bits = 500}, "at least 576"},
           {spec{.fpr = 0.1, .bits = (std::uint64_t{1} << 62) + 1}, "2^62"},
           {spec{.capacity = 1000, .fpr = 0.001, .fingerprint_bits = 8}, "too short"},
           {spec{.capacity = 1000, .fpr = 1e-12}, "more than 32 bits"},
           {spec{.capacity = 1000, .bits = 2000}, "has no room for 1,000 keys"},
           {spec{.capacity = 1000, .fpr = 1e-6, .bits = 12000}, "leave one"},
           {spec{.fpr = 1e-15, .bits = 12000}, "hold no key"},
       }) {
    const auto plan = bloomset::plan_cuckoo(bad);
    ASSERT_FALSE(plan) << hint;
    EXPECT_EQ(plan.error().code, errc::invalid_argument);
    EXPECT_NE(plan.error().message.find(hint), std::string::npos) << plan.error().message;
  }
}

TEST(cuckoo_plan, the_registry_row_takes_its_options_and_refuses_hashes) {
  const auto row = bloomset::find_kind("cuckoo");
  ASSERT_TRUE(row);
  bloomset::plan_request request;
  request.capacity = 1000;
  request.fpr = 0.01;
  request.options = {{"slots", "8"}, {"fingerprint_bits", "16"}};
  const auto plan = (*row)->plan(request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->bits, 8 * plan->bytes);
  EXPECT_EQ(extra<std::uint64_t>(plan->extras, "slots"), 8U);
  EXPECT_EQ(extra<std::uint64_t>(plan->extras, "fingerprint_bits"), 16U);
  const auto buckets = static_cast<double>(extra<std::uint64_t>(plan->extras, "buckets"));
  EXPECT_NEAR(extra<double>(plan->extras, "load"), 1000 / (8 * buckets), 1e-12);
  EXPECT_TRUE((*row)->create(request));

  request.hashes = 3;
  EXPECT_NE((*row)->plan(request).error().message.find("number of hash functions does not apply"),
            std::string::npos);
  request.hashes = 0;
  for (const auto& bad : {std::pair<std::string, std::string>{"slots", "0"},
                          {"slots", "x"},
                          {"fingerprint_bits", "3"},
                          {"fingerprints", "8"}}) {
    request.options = {bad};
    EXPECT_FALSE((*row)->plan(request)) << bad.first << bad.second;
    EXPECT_FALSE((*row)->create(request));
  }
}

}  // namespace
