// The rate of non-members that pass Bloomset's filters inside LevelDB.

#include <gtest/gtest.h>
#include <leveldb/filter_policy.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "tests/dialects/leveldb_policies.hpp"

namespace bloomset::test {
namespace {

/// The share of non-members that pass filters of n keys each.
double measured_rate(const leveldb::FilterPolicy& policy, std::size_t n, std::size_t filters) {
  constexpr std::size_t non_members = 200;
  std::size_t passed = 0;
  for (std::size_t i = 0; i < filters; ++i) {
    const std::string filter = filter_of(policy, keys_of("key", n, i * 10'000));
    passed += passing(policy, filter, keys_of("non-member", non_members, i * 10'000));
  }
  return static_cast<double>(passed) / static_cast<double>(non_members * filters);
}

// 35 keys of 116 bytes begin in a block of 4 KiB. Fixed keys, so this cannot fail by chance.
TEST(leveldb_policy, passes_fewer_non_members_than_leveldbs_own_at_every_size) {
  for (int bits = 6; bits <= 20; ++bits) {
    const std::unique_ptr<const leveldb::FilterPolicy> own(leveldb::NewBloomFilterPolicy(bits));
    const double theirs = measured_rate(*own, 35, 2000);
    for (const filter_kind kind : {filter_kind::ribbon, filter_kind::bloom}) {
      const auto policy = policy_of({.kind = kind, .bits_per_key = static_cast<double>(bits)});
      EXPECT_LE(measured_rate(*policy, 35, 2000), theirs)
          << "kind " << static_cast<int>(kind) << ", " << bits << " bits";
    }
  }
}

TEST(leveldb_policy, ribbon_needs_a_fifth_less_for_the_same_reads) {
  for (int bits = 10; bits <= 20; bits += 2) {
    const std::unique_ptr<const leveldb::FilterPolicy> own(leveldb::NewBloomFilterPolicy(bits));
    const auto ours = policy_of({.bits_per_key = 0.8 * bits});
    EXPECT_LE(measured_rate(*ours, 35, 2000), measured_rate(*own, 35, 2000)) << bits << " bits";
  }
}

// Expected passes e = trials * rate; above e + 6 sqrt(e) with a chance below 1e-8 each.
TEST(leveldb_policy, a_rate_that_is_asked_for_is_kept) {
  for (const filter_kind kind : policy_kinds) {
    for (const double fpr : {0.1, 0.01, 0.001}) {
      const auto policy = policy_of({.kind = kind, .fpr = fpr});
      for (const auto& [n, filters] :
           {std::pair<std::size_t, std::size_t>{35, 2000}, {3000, 200}}) {
        const double trials = 200.0 * static_cast<double>(filters);
        const double expected = trials * fpr;
        EXPECT_LE(measured_rate(*policy, n, filters) * trials, expected + 6 * std::sqrt(expected))
            << "kind " << static_cast<int>(kind) << ", rate " << fpr << ", " << n << " keys";
      }
    }
  }
}

}  // namespace
}  // namespace bloomset::test
