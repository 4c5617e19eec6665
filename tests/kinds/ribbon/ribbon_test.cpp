// The ribbon filter beyond the contract of static kinds: its memory, its mixed rate, its levels,
// and the same bytes and answers on every CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/chosen_hashes.hpp"
#include "tests/support/filter_types.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

ribbon build(std::span<const hash64> hashes, double fpr) {
  return built_of<ribbon>(hashes, fpr);
}

double bits_per_key(const ribbon& f) {
  return 8 * static_cast<double>(f.size_in_bytes()) / static_cast<double>(f.size());
}

/// The mean number of columns of a filter with r and r + 1 columns and the rate eps: between
/// log2(1/eps) and 0.086 bits more.
double mixed_columns(double eps) {
  const double r = std::ceil(-std::log2(eps)) - 1;
  const double lower = eps * std::exp2(r + 1) - 1;
  return r + 1 - lower;
}

TEST(ribbon, memory_is_within_a_percent_of_its_columns_and_codes) {
  for (const double eps : {0.3, 0.01, 0.0078125, 0.001, 1e-6}) {
    const double columns = mixed_columns(eps);
    constexpr double codes = 2.0 / 128;
    EXPECT_LE(bits_per_key(build(hashes_of_stream(1, 10'000), eps)), 1.06 * columns + codes);
    EXPECT_LE(bits_per_key(build(hashes_of_stream(1, 100'000), eps)), 1.009 * columns + codes);
    EXPECT_LE(bits_per_key(build(hashes_of_stream(2, 400'000), eps)), 1.005 * columns + codes);
  }
  EXPECT_LE(bits_per_key(build(hashes_of_stream(1, 400'000), 0.01)), 6.80);
}

// A level that is planned by an estimate of the number of keys.
TEST(ribbon, memory_holds_for_more_keys_than_are_counted_first) {
  const auto members = hashes_of_stream(3, 2'200'000);
  const auto f = build(members, 0.01);
  EXPECT_EQ(f.size(), members.size());
  EXPECT_LE(bits_per_key(f), 6.80);
  EXPECT_GT(f.params().levels.front().shards, 30U);
  EXPECT_EQ(hits(f, members), members.size());
}

// current_fpr() is exact: the hits of q non-members are a binomial of that rate, and the chance of
// a deviation of 6 sqrt(mu) + 6 is below 1e-8 (Bernstein).
TEST(ribbon, any_rate_is_met_and_known_exactly) {
  constexpr std::size_t asked = 400'000;
  for (const double eps : {0.9, 0.6, 0.5, 0.35, 0.2, 0.1, 0.011, 0.0101, 0.0099, 0.005, 0.0021}) {
    for (const std::size_t n : {900U, 1100U, 5000U, 90'000U}) {
      const auto f = build(hashes_of_stream(n, n), eps);
      const double rate = f.current_fpr();
      EXPECT_LE(rate, eps);
      if (n > 10'000) {
        EXPECT_GT(rate, 0.995 * eps) << eps;
      }
      const double mean = rate * asked;
      EXPECT_NEAR(static_cast<double>(hits(f, hashes_of_stream(n + 1, asked))), mean,
                  6 * std::sqrt(mean) + 6)
          << eps << " with " << n;
    }
  }
}

// The 64 zeros at the end aside. A filter of whole columns has the bits of 0.78%.
TEST(ribbon, small_sets_meet_their_rate_and_are_near_its_bound) {
  for (const std::size_t n : {256U, 512U, 1000U, 2000U, 2100U, 4096U, 8192U}) {
    double bits = 0;
    double rate = 0;
    constexpr unsigned sets = 8;
    for (unsigned i = 0; i < sets; ++i) {
      const auto f = build(hashes_of_stream(n + i, n), 0.01);
      bits += 8 * static_cast<double>(f.size_in_bytes() - detail::retrieval_padding) / sets;
      rate += f.current_fpr() / sets;
      EXPECT_EQ(hits(f, hashes_of_stream(n + i, n)), n);
    }
    EXPECT_GT(rate, 0.0097) << n;
    EXPECT_LE(bits, 1.05 * std::log2(1 / rate) * static_cast<double>(n)) << n;
  }
}

TEST(ribbon, levels_bump_a_twentieth_of_their_keys) {
  const auto f = build(hashes_of_stream(1, 1'000'000), 0.01);
  const auto& levels = f.params().levels;
  ASSERT_EQ(levels.size(), 4U);  // 10^6, 5 10^4, 2,500 and 130 keys
  for (std::size_t i = 1; i < levels.size(); ++i) {
    EXPECT_LT(levels[i].slots(), levels[i - 1].slots() / 12);
    EXPECT_NE(levels[i].seed, 0U);
  }
  EXPECT_EQ(levels.front().seed, 0U);
}

// 3000 keys have 22 buckets at the first level, of which 2^-5 of all hashes is less than one.
TEST(ribbon, keys_that_all_levels_leave_over_are_refused_under_their_seed_only) {
  for (const std::uint64_t chosen_for : {0U, 7U}) {
    auto members = unsolvable_hashes(chosen_for, {5});
    for (const hash64 h : hashes_of_stream(9, 3000 - members.size())) members.push_back(h);
    for (const std::uint64_t seed : {0U, 7U}) {
      const auto f = ribbon::build({.fpr = 0.01, .seed = seed}, std::span<const hash64>(members));
      EXPECT_EQ(f.has_value(), seed != chosen_for);
    }
  }
}

// Each such level would be as large as all keys need.
TEST(ribbon, a_second_level_that_bumps_more_than_half_of_its_keys_is_refused) {
  const auto build_crowded = [](unsigned levels) {
    auto members = crowding_hashes(0, 3000, 0.01, levels);
    for (const hash64 h : hashes_of_stream(9, 3000 - members.size())) members.push_back(h);
    return ribbon::build({.fpr = 0.01}, std::span<const hash64>(members));
  };
  const auto one = build_crowded(1);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->params().levels.size(), 3U);
  const auto two = build_crowded(2);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, errc::invalid_argument);
}

// With every number of columns, all kernels of this CPU build the same bytes, and give the answers
// of the specification, which is the query of a single key.
TEST(ribbon_kernels, build_and_answer_alike) {
  for (unsigned columns = 0; columns < 32; ++columns) {
    for (const std::size_t n : {40U, 5000U}) {
      const double eps = std::exp2(-0.4 - columns);
      const auto members = hashes_of_stream(columns, n);
      auto asked = hashes_of_stream(100, 1000);
      asked.insert(asked.end(), members.begin(), members.begin() + 40);
      std::vector<std::byte> bytes;
      with_each_instruction_set([&] {
        const auto f = build(members, eps);
        if (bytes.empty()) bytes = file_bytes(f);
        ASSERT_EQ(file_bytes(f), bytes) << columns << " columns";
        const auto answers = answers_of(f, asked);
        for (std::size_t i = 0; i < asked.size(); ++i) {
          ASSERT_EQ(answers[i] != 0, f.may_contain(asked[i])) << columns << " columns";
        }
        ASSERT_EQ(hits(f, members), n);
      });
    }
  }
}

// A batch is split into chunks that go through the levels.
TEST(ribbon_kernels, answer_batches_of_any_size) {
  const auto members = hashes_of_stream(1, 30'000);
  const auto f = build(members, 0.01);
  with_each_instruction_set([&] {
    for (const std::size_t n : {0U, 1U, 63U, 64U, 65U, 1023U, 1024U, 1025U, 2049U}) {
      EXPECT_EQ(hits(f, std::span(members).first(n)), n);
    }
  });
}

// Plans -----------------------------------------------------------------------------------------

TEST(ribbon_plan, finds_what_is_open) {
  const auto by_rate = value_of(plan_ribbon({.capacity = 1'000'000, .fpr = 0.01}));
  EXPECT_LE(8 * static_cast<double>(by_rate.bytes), 6.8e6);
  const auto by_size = value_of(plan_ribbon({.capacity = 1'000'000, .bits = 8 * by_rate.bytes}));
  EXPECT_NEAR(by_size.fpr, 0.01, 0.0001);
  EXPECT_LE(by_size.bytes, by_rate.bytes);
  const auto by_both = value_of(plan_ribbon({.fpr = 0.01, .bits = 8 * by_rate.bytes}));
  EXPECT_NEAR(static_cast<double>(by_both.capacity), 1e6, 1e4);
  EXPECT_LE(by_both.bytes, by_rate.bytes);
}

TEST(ribbon_plan, more_keys_and_lower_rates_take_more) {
  std::uint64_t before = 0;
  for (std::uint64_t n = 100; n < 1'000'000; n = n * 5 / 4) {
    const auto now = value_of(plan_ribbon({.capacity = n, .fpr = 0.01})).bytes;
    EXPECT_GT(now, before) << n;
    before = now;
  }
  before = 0;
  for (double eps = 0.99; eps > 1e-9; eps *= 0.7) {
    const auto now = value_of(plan_ribbon({.capacity = 100'000, .fpr = eps})).bytes;
    EXPECT_GT(now, before) << eps;
    before = now;
  }
}

TEST(ribbon_plan, refuses_with_a_sentence) {
  for (const ribbon_spec& spec :
       {ribbon_spec{.capacity = 10}, ribbon_spec{.fpr = 0.01}, ribbon_spec{.bits = 1000},
        ribbon_spec{.capacity = 10, .fpr = 1}, ribbon_spec{.capacity = 10, .fpr = 1e-12},
        ribbon_spec{.capacity = 1'000'000'000'000, .fpr = 2.4e-10},
        ribbon_spec{.capacity = (std::uint64_t{1} << 48) + 1, .fpr = 0.01},
        ribbon_spec{.capacity = 1000, .fpr = 0.01, .bits = 5000},
        ribbon_spec{.fpr = 0.01, .bits = 64}}) {
    const auto plan = plan_ribbon(spec);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, errc::invalid_argument);
    EXPECT_GT(plan.error().message.size(), 30U);
  }
}

// More keys would fit, but equal hashes alone would exceed the rate.
TEST(ribbon_plan, holds_no_more_keys_than_hashes_distinguish) {
  const auto plan = value_of(plan_ribbon({.fpr = 1e-9, .bits = std::uint64_t{1} << 42}));
  EXPECT_TRUE(plan_ribbon({.capacity = plan.capacity, .fpr = 1e-9}));
  EXPECT_LT(plan.capacity, 20'000'000'000U);
}

// A filter with a size limit is built with the rate of its plan, and fits.
TEST(ribbon_plan, a_size_is_kept) {
  for (const std::uint64_t bits : {300'000U, 700'000U, 1'000'000U}) {
    const auto f = value_of(ribbon::build({.capacity = 50'000, .bits = bits},
                                          std::span<const hash64>(hashes_of_stream(1, 50'000))));
    EXPECT_LE(f.size_in_bytes() * 8, bits);
    EXPECT_GT(f.size_in_bytes() * 8, bits - bits / 50);
  }
}

// Forged files ----------------------------------------------------------------------------------

TEST(ribbon_file, levels_out_of_their_ranges_are_refused) {
  const auto good = file_bytes(build(hashes_of_stream(1, 5000), 0.01));
  const auto refused = [&](std::size_t offset, std::uint64_t value) {
    const auto stored = read_bytes(forged(good, at::parameters + offset, value));
    return !stored || !open_any(*stored, access::read_only, "memory");
  };
  const auto u64 = [&](std::size_t offset) {
    return detail::load<std::uint64_t>(good.data() + at::parameters + offset);
  };
  EXPECT_FALSE(refused(16, u64(16) + 2)) << "a seed is any number";
  for (const double fpr : {0.0, 1.0, -0.1, std::nan("")}) {
    EXPECT_TRUE(refused(0, std::bit_cast<std::uint64_t>(fpr))) << fpr;
  }
  for (const std::uint64_t levels : {0U, 1U, 3U, 33U}) EXPECT_TRUE(refused(8, levels)) << levels;
  EXPECT_TRUE(refused(8, u64(8) | std::uint64_t{1} << 32));
  for (const std::uint64_t shards : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}}) {
    EXPECT_TRUE(refused(24, shards)) << shards;
  }
  for (const std::uint64_t starts :
       {std::uint64_t{0}, u64(32) - 1, std::uint64_t{1} << 46, ~std::uint64_t{0}}) {
    EXPECT_TRUE(refused(32, starts)) << starts;
  }
  for (const std::uint64_t cut : {u64(40) + 1, u64(24) * u64(32) + 1, ~std::uint64_t{0}}) {
    EXPECT_TRUE(refused(40, cut)) << cut;
  }
  for (const std::uint64_t columns : {std::uint64_t{32}, ~std::uint64_t{0}}) {
    EXPECT_TRUE(refused(48, columns)) << columns;
  }
  EXPECT_TRUE(refused(8 * (good.size() / 8) - 8 - at::parameters - 8, 1)) << "the zeros at the end";
}

TEST(ribbon_file, members_without_a_level_are_refused) {
  const auto empty = file_bytes(build({}, 0.01));
  EXPECT_TRUE(open_any(value_of(read_bytes(empty)), access::read_only, "memory"));
  const auto stored = value_of(read_bytes(forged(empty, at::count, 5)));
  for (const access how : {access::read_only, access::writable}) {
    const auto opened = open_any(stored, how, "memory");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::corrupt);
  }
}

}  // namespace
}  // namespace bloomset::test
