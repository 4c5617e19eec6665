// The Bloom filter against what the textbooks print of it.

#include <gtest/gtest.h>

#include <bloomery/bloomery.hpp>
#include <string>

namespace {

using bloomery::insert_outcome;

TEST(bloom, the_lectures_three_functions_on_ten_bits) {
  auto f = bloomery::bloom_of(
      10, [](auto x) { return x + 3; }, [](auto x) { return 3 * x + 1; },
      [](auto x) { return x * x + 2; });
  for (const int x : {2, 4, 9}) f.insert(x);
  std::string bits;
  for (unsigned p = 0; p < 10; ++p)
    bits += bloomery::detail::test_bit(f.bits().data(), p) ? '1' : '0';
  EXPECT_EQ(bits, "0011011110");  // 2 3 5 6 7 8
  EXPECT_TRUE(f.may_contain(4));
  EXPECT_FALSE(f.may_contain(7));
  EXPECT_TRUE(f.may_contain(12)) << "the lecture's false positive";
}

TEST(bloom, says_whether_a_key_was_new) {
  bloomery::bloom seen({.capacity = 1000, .fpr = 0.01});
  EXPECT_EQ(seen.insert("alice@example.com"), insert_outcome::inserted);
  EXPECT_EQ(seen.insert("alice@example.com"), insert_outcome::maybe_present);
  EXPECT_TRUE(seen.may_contain("alice@example.com"));
  EXPECT_FALSE(seen.may_contain("bob@example.com"));
  EXPECT_EQ(seen.size(), 1U);
}

TEST(bloom, a_saved_filter_answers_as_before) {
  bloomery::bloom seen({.capacity = 1000, .fpr = 0.01});
  for (int i = 0; i < 1000; ++i) seen.insert(i);
  const auto path = testing::TempDir() + "/bloom_test.bloom";
  ASSERT_TRUE(bloomery::save(seen, path));
  const auto again = bloomery::open<bloomery::bloom_view>(path);
  ASSERT_TRUE(again) << again.error().message;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(again->may_contain(i));
  EXPECT_EQ(again->current_fpr(), seen.current_fpr());
  const auto any = bloomery::open(path);
  ASSERT_TRUE(any) << any.error().message;
  EXPECT_EQ(any->size(), seen.size());
}

}  // namespace
