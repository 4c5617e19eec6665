// The canonical order is that of the hashes alone, and repeated keys need no memory of their own.

#include "memory/canonical_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace {

using bloomset::hash64;
using namespace bloomset::cli;

TEST(canonical_order, gives_out_copies_beside_each_other_in_batches_of_a_limited_size) {
  constexpr std::size_t keys_per_pass = 4096;
  constexpr std::size_t many = 10 * keys_per_pass;
  key_spool spool([](const std::string&) {});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> right;  // remix64(hash), copies
  const auto add = [&](std::uint64_t hash, std::size_t copies) {
    ASSERT_TRUE(spool.add(std::vector(copies, hash64{hash})));
    right.emplace_back(bloomset::detail::remix64(hash), copies);
  };
  for (std::uint64_t i = 0; i < 1000; ++i) add(i << 40, 1 + i % 3);
  add(std::uint64_t{1} << 63, many);
  add(std::uint64_t{7} << 50, many / 2);
  for (std::uint64_t i = 1000; i < 2000; ++i) add(i << 40, 1);
  std::ranges::sort(right);

  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t largest = 0;
  ASSERT_TRUE(in_canonical_order(
      spool,
      [&](std::span<const hash64> some) {
        largest = std::max(largest, some.size());
        for (const hash64 h : some) {
          const std::uint64_t place = bloomset::detail::remix64(h.value);
          if (seen.empty() || seen.back().first != place) seen.emplace_back(place, 0);
          ++seen.back().second;
        }
        return bloomset::result<void>();
      },
      keys_per_pass));
  EXPECT_EQ(seen, right);
  EXPECT_EQ(largest, 2 * keys_per_pass);
}

}  // namespace
