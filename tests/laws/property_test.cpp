// Random sequences of operations by RapidCheck, on every kind of filter in lockstep with a real
// multiset (lockstep.hpp). There is never a false negative, counts are never too low, and refused
// operations change nothing. The laws hold for every seed, so each run tries new ones. A failure
// prints the shortest sequence that breaks a law, and the RC_PARAMS that repeat it.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <tuple>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/lockstep.hpp"

namespace bloomset::test {
namespace {

using operations = std::vector<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>>;

template <class F>
class property : public ::testing::Test {};
TYPED_TEST_SUITE(property, filter_types, filter_names);

TYPED_TEST(property, any_sequence_of_operations_agrees_with_a_multiset) {
  EXPECT_TRUE(rc::check(name_of<TypeParam>(), [](std::uint64_t seed) {
    // From far too small to ample for the 64 keys: growth, overfilling and refusals all happen.
    const auto capacity = *rc::gen::inRange<std::uint64_t>(1, 100);
    const auto fpr = *rc::gen::element(0.5, 0.1, 0.01, 0.0001);
    lockstep<TypeParam> pair(make<TypeParam>(capacity, fpr, seed));
    const auto all = *rc::gen::scale(2.0, rc::gen::arbitrary<operations>());
    for (const auto& [operation, key, n] : all) {
      apply(pair, operation, key, n);
      if (!pair.ok()) RC_FAIL(pair.contradiction());
    }
    pair.check_all();
    if (!pair.ok()) RC_FAIL(pair.contradiction());
  }));
}

TYPED_TEST(property, a_batch_of_any_texts_is_found) {
  EXPECT_TRUE(rc::check(name_of<TypeParam>(), [](const std::vector<std::string>& keys) {
    auto filter = make<TypeParam>(keys.size() + 1, 0.01);
    const auto summary = filter.insert(keys);
    for (std::size_t i = 0; i < summary.done; ++i) RC_ASSERT(filter.may_contain(keys[i]));
    RC_ASSERT(summary.done == keys.size() || !is_contained(summary.stopped_by));
  }));
}

}  // namespace
}  // namespace bloomset::test
