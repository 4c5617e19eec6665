// The rate of the cuckoo filter, against the requested rate and its own current_fpr().

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomery/bloomery.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace {

using bloomery::cuckoo;

// Non-members pass at the rate of current_fpr(), and at most at the requested rate. The tolerance
// is five standard deviations of the pooled count, a false alarm of 6e-7 in each of the 18 cases.
TEST(cuckoo, meets_the_requested_rate) {
  constexpr std::uint64_t seeds = 20;
  for (const double eps : {0.1, 0.01, 0.001}) {
    for (const std::uint64_t n : {1U, 2U, 3U, 7U, 1000U, 100003U}) {
      const auto non_members = static_cast<std::uint64_t>(200 / eps);
      double passed = 0;
      double foretold = 0;
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        cuckoo f({.capacity = n, .fpr = eps, .seed = seed});
        ASSERT_LE(f.planned_fpr(), eps);
        for (std::uint64_t i = 0; i < n; ++i) ASSERT_TRUE(is_contained(f.insert(i)));
        std::vector<std::uint64_t> keys(non_members);
        for (std::uint64_t i = 0; i < non_members; ++i) keys[i] = n + i;
        const std::unique_ptr<bool[]> answers(new bool[non_members]);
        f.may_contain(keys, std::span(answers.get(), non_members));
        passed += static_cast<double>(std::count(answers.get(), answers.get() + non_members, true));
        foretold += static_cast<double>(non_members) * f.current_fpr();
      }
      EXPECT_NEAR(passed, foretold, 5 * std::sqrt(foretold) + 1) << n << " keys at " << eps;
      const double most = static_cast<double>(seeds * non_members) * eps;
      EXPECT_LE(passed, most + 5 * std::sqrt(most)) << n << " keys at " << eps;
    }
  }
}

}  // namespace
