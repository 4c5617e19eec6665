#include <gtest/gtest.h>
#include <bloomery/bloomery.hpp>
namespace {
static_assert(bloomery::insertable<bloomery::cuckoo> && bloomery::erasable<bloomery::cuckoo> &&
              bloomery::countable<bloomery::cuckoo> && bloomery::mergeable<bloomery::cuckoo>);
static_assert(!bloomery::intersectable<bloomery::cuckoo>);
static_assert(bloomery::membership_filter<bloomery::cuckoo_view> &&
              !bloomery::insertable<bloomery::cuckoo_view> &&
              !bloomery::erasable<bloomery::cuckoo_view>);
TEST(cuckoo, thin) {
  bloomery::cuckoo f({.capacity = 1000, .fpr = 0.01});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(is_contained(f.insert(i)));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(f.may_contain(i));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(f.erase(i));
  EXPECT_EQ(f.size(), 0U);
}
}  // namespace
