// The Bloom filter, against the figures in textbooks.

#include <gtest/gtest.h>

#include <bloomset/bloomset.hpp>
#include <string>

#include "tests/support/function_family.hpp"

namespace {

using bloomset::insert_outcome;

TEST(bloom, the_lectures_three_functions_on_ten_bits) {
  auto f = bloomset::test::bloom_of(
      10, [](auto x) { return x + 3; }, [](auto x) { return 3 * x + 1; },
      [](auto x) { return x * x + 2; });
  for (const int x : {2, 4, 9}) f.insert(x);
  std::string bits;
  for (unsigned p = 0; p < 10; ++p)
    bits += bloomset::detail::test_bit(f.bits().data(), p) ? '1' : '0';
  EXPECT_EQ(bits, "0011011110");  // 2 3 5 6 7 8
  EXPECT_TRUE(f.may_contain(4));
  EXPECT_FALSE(f.may_contain(7));
  EXPECT_TRUE(f.may_contain(12)) << "the lecture's false positive";
}

TEST(bloom, uses_places_beyond_the_first_2_to_the_32) {
  // 640 MiB of address space, a fifth of it beyond.
  constexpr std::uint64_t bits = (std::uint64_t{5} << 30) + 12345;
  bloomset::bloom wide({.capacity = 1000, .bits = bits, .hashes = 7});
  std::size_t beyond = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(wide.insert(i), insert_outcome::inserted);
    const bloomset::hash64 h =
        bloomset::with_hash(wide.hash_function(), i, [](bloomset::hash64 hash) { return hash; });
    for (unsigned probe = 0; probe < 7; ++probe) {
      const std::uint64_t place = bloomset::double_hashing::position(h, probe, bits);
      ASSERT_LT(place, bits);
      ASSERT_TRUE(bloomset::detail::test_bit(wide.bits().data(), place));
      beyond += place >> 32 != 0;
    }
  }
  // A fifth of 7000 places, give or take: 5 standard deviations are 167, false alarm 6e-7.
  EXPECT_NEAR(static_cast<double>(beyond), 1400.0, 167.0);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(wide.may_contain(i));
  for (std::uint64_t i = 1000; i < 101'000; ++i) ASSERT_FALSE(wide.may_contain(i));
  EXPECT_NEAR(wide.estimate_size(), 1000.0, 1.0);
}

TEST(bloom, plans_beyond_2_to_the_40_bits) {
  const auto plan = bloomset::plan_bloom({.capacity = 200'000'000'000, .fpr = 0.01});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->bits, std::uint64_t{1} << 40);
  EXPECT_NEAR(static_cast<double>(plan->bits) / 2e11, 9.593, 0.001);
}

}  // namespace
