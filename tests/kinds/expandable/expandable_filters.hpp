#pragma once

// Keys and expectations of the tests of expandable filters.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/filter_types.hpp"

namespace bloomset::test {

// A bijection (the finaliser of MurmurHash3, 2011): different numbers have different hashes, so
// members and non-members are disjoint.
inline hash64 hash_of(std::uint64_t i) {
  i = (i ^ i >> 33) * 0xff51afd7ed558ccd;
  i = (i ^ i >> 33) * 0xc4ceb9fe1a85ec53;
  return {i ^ i >> 33};
}
inline constexpr std::uint64_t first_non_member = std::uint64_t{1} << 40;

inline std::vector<hash64> hashes_from(std::uint64_t first, std::uint64_t count) {
  std::vector<hash64> keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = hash_of(first + i);
  return keys;
}

inline void insert_up_to(expandable& f, std::uint64_t& at, std::uint64_t end) {
  while (at < end) {
    const auto keys = hashes_from(at, std::min<std::uint64_t>(end - at, 4096));
    ASSERT_EQ(f.insert(keys).done, keys.size()) << "from key " << at;
    at += keys.size();
  }
}

inline void expect_members(const expandable& f, std::uint64_t end) {
  ASSERT_EQ(hits(f, hashes_from(0, end)), end);
}

/// Erases keys as one batch. Each must be there.
inline void erase_all(expandable& f, std::span<const hash64> keys) {
  std::vector<char> erased(keys.size());
  f.erase(keys, std::span(reinterpret_cast<bool*>(erased.data()), erased.size()));
  ASSERT_EQ(std::ranges::count(erased, 0), 0);
}

inline double bits_per_key(const expandable& f) {
  return 8.0 * static_cast<double>(f.size_in_bytes()) / static_cast<double>(f.size());
}

/// Expects that the rate among q non-members is current_fpr(). The hits are independent trials of
/// that chance, so Chernoff's bound exp(-mu h(d)), h(d) = (1 + d) ln(1 + d) - d, holds on either
/// side. Chance of a false alarm: below 1e-9 on each side.
inline void expect_rate_as_said(const expandable& f, std::uint64_t q) {
  const auto passed = static_cast<double>(hits(f, hashes_from(first_non_member, q)));
  const double mu = f.current_fpr() * static_cast<double>(q);
  const double d = passed / mu - 1;
  const double h = passed == 0 ? 1 : (1 + d) * std::log1p(d) - d;
  EXPECT_LT(mu * h, std::log(1e9)) << passed << " hits where " << mu << " were expected";
}

}  // namespace bloomset::test
