// Operations on one key in a program that is built for this machine's CPU (-march=native) give the
// same bits and answers as the scalar forms, which are the specification.

#include <bloomset/blocked_bloom.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace bloomset::test {
namespace {

TEST(native_program, sets_and_tests_the_bits_of_the_scalar_form) {
  std::mt19937_64 next(20240601);
  for (const block_layout layout :
       {block_layout::split_512, block_layout::free_512, block_layout::parquet_256}) {
    for (unsigned hashes = 1; hashes <= max_block_hashes; ++hashes) {
      alignas(64) std::array<std::byte, 64> native{};
      alignas(64) std::array<std::byte, 64> scalar{};
      const auto has = [&](hash64 h) {
        return detail::block_has(native.data(), 1, layout, hashes, h);
      };
      for (int i = 0; i < 100; ++i) {
        const hash64 h{next()};
        detail::with_layout(layout, [&](auto of) {
          ASSERT_EQ(has(h), detail::scalar::test(of, scalar.data(), h, hashes));
          // Only every third, so that the block fills slowly and both answers occur.
          if (i % 3 != 0) return;
          ASSERT_EQ(detail::block_set(native.data(), 1, layout, hashes, h),
                    detail::scalar::set(of, scalar.data(), h, hashes));
          ASSERT_EQ(std::memcmp(native.data(), scalar.data(), native.size()), 0);
          ASSERT_TRUE(has(h));
        });
      }
    }
  }
}

TEST(native_program, shares_filters_with_the_library) {
  blocked_bloom one_by_one({.capacity = 10'000, .fpr = 0.01});
  blocked_bloom in_batches({.capacity = 10'000, .fpr = 0.01});
  std::mt19937_64 next(7);
  std::vector<hash64> hashes(10'000);
  for (hash64& h : hashes) h.value = next();
  for (const hash64 h : hashes) one_by_one.insert(h);
  in_batches.insert(hashes);
  EXPECT_TRUE(std::ranges::equal(one_by_one.bits(), in_batches.bits()));
  for (const hash64 h : hashes) ASSERT_TRUE(in_batches.may_contain(h));
}

}  // namespace
}  // namespace bloomset::test
