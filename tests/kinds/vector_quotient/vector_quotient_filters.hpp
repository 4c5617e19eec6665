#pragma once

// Vector quotient filters of given blocks, and hashes to fill them with.

#include <bloomset/vector_quotient.hpp>
#include <vector>

#include "tests/support/filter_types.hpp"

namespace bloomset::test::quotients {

inline hash64 key(std::uint64_t i, std::uint64_t seed = 0) {
  return {detail::remix64(i + (seed << 40) + 1)};
}
inline std::vector<hash64> keys(std::uint64_t n, std::uint64_t seed = 0) {
  return hashes_of_stream(seed, n);
}

struct shape {
  std::uint64_t blocks;
  unsigned slots;
  unsigned remainder_bits;
};

/// A filter with exactly these blocks.
inline vector_quotient filter_of(const shape& of) {
  const auto plan = value_of(plan_vector_quotient(
      {.bits = 512 * (of.blocks + 1), .slots = of.slots, .remainder_bits = of.remainder_bits}));
  EXPECT_EQ(plan.blocks, of.blocks);
  return value_of(
      vector_quotient::open(plan, value_of(owned_storage::make(plan.payload_bytes())), 0));
}

inline detail::vq_layout layout_of(const vector_quotient& f) {
  return {f.params().blocks, f.params().slots, f.params().buckets, f.params().remainder_bits};
}

inline const std::vector<shape> shapes = {{1, 53, 7},   {2, 53, 7},  {3, 48, 8},  {5, 63, 5},
                                          {40, 54, 7},  {7, 39, 10}, {9, 36, 11}, {20, 28, 16},
                                          {11, 14, 32}, {3, 17, 24}, {6, 30, 13}, {4, 25, 17}};

}  // namespace bloomset::test::quotients
