#include <gtest/gtest.h>
#include <bloomery/bloomery.hpp>
TEST(scalable_bloom, grows) {
  bloomery::scalable_bloom f({.capacity = 1, .fpr = 0.01});
  for (int i = 0; i < 100000; ++i) f.insert(i);
  for (int i = 0; i < 100000; ++i) ASSERT_TRUE(f.may_contain(i));
  std::printf("%zu members, size %lu est %.1f rate %g fill %g bytes %lu limit %lu\n", f.members().size(), f.size(), f.estimate_size(),
   f.current_fpr(), f.fill(), f.size_in_bytes(), scalable_bloom_limit(f.params()));
}
