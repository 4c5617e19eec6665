// Batches whose span of answers is too small. A program that is built with assert() ends there, for
// every kind.

#undef NDEBUG

#include <gtest/gtest.h>

#include <array>
#include <bloomset/bloomset.hpp>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

template <class Filter>
class batch_without_room : public testing::Test {
 protected:
  static Filter make() {
    const std::array<hash64, 3> some = {hash64{1}, hash64{2}, hash64{3}};
    if constexpr (requires { Filter::build({.fpr = 0.01}, std::span<const hash64>(some)); }) {
      return std::move(*Filter::build({.fpr = 0.01}, std::span<const hash64>(some)));
    } else {
      return std::move(*Filter::make({.capacity = 100, .fpr = 0.01}));
    }
  }
};

TYPED_TEST_SUITE(batch_without_room, kind_types);

TYPED_TEST(batch_without_room, is_a_broken_precondition) {
  TypeParam filter = this->make();
  const std::array<hash64, 3> hashes = {hash64{1}, hash64{2}, hash64{3}};
  const std::span<const hash64> hs(hashes);
  // The array has room for all answers. Only the span is too short.
  std::array<bool, 3> answers{};
  const auto too_few = std::span(answers).first(2);
  EXPECT_DEATH(filter.may_contain(hs, too_few), "answers.size\\(\\) >= hs.size\\(\\)");
  if constexpr (requires { filter.may_contain_parallel(hs, too_few); }) {
    EXPECT_DEATH(filter.may_contain_parallel(hs, too_few), "answers.size\\(\\) >= hs.size\\(\\)");
  }
  if constexpr (std::same_as<TypeParam, blocked_bloom>) {
    EXPECT_DEATH(filter.concurrent().may_contain(hs, too_few),
                 "answers.size\\(\\) >= hs.size\\(\\)");
  }
  if constexpr (requires { filter.erase(hs, too_few); }) {
    EXPECT_DEATH(filter.erase(hs, too_few), "erased.size\\(\\) >= hs.size\\(\\)");
  }
  std::array<std::uint64_t, 3> counts{};
  const auto few_counts = std::span(counts).first(2);
  if constexpr (requires { filter.count(hs, few_counts); }) {
    EXPECT_DEATH(filter.count(hs, few_counts), "counts.size\\(\\) >= hs.size\\(\\)");
  }
}

}  // namespace
}  // namespace bloomset::test
