#pragma once

// What the tests of expandable filters share.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/filter_types.hpp"

namespace bloomery::test {

// Keys of one number and strangers of another are disjoint: the map is a bijection (the finaliser
// of MurmurHash3, 2011).
inline hash64 hash_of(std::uint64_t i) {
  i = (i ^ i >> 33) * 0xff51afd7ed558ccd;
  i = (i ^ i >> 33) * 0xc4ceb9fe1a85ec53;
  return {i ^ i >> 33};
}
inline constexpr std::uint64_t first_stranger = std::uint64_t{1} << 40;

inline std::vector<hash64> hashes_from(std::uint64_t first, std::uint64_t count) {
  std::vector<hash64> keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = hash_of(first + i);
  return keys;
}

inline void insert_up_to(expandable& f, std::uint64_t& at, std::uint64_t end) {
  std::vector<hash64> keys;
  while (at < end) {
    keys.clear();
    while (at < end && keys.size() < 4096) keys.push_back(hash_of(at++));
    ASSERT_EQ(f.insert(keys).done, keys.size()) << "before key " << at;
  }
}

inline void expect_members(const expandable& f, std::uint64_t end) {
  for (std::uint64_t i = 0; i < end; ++i)
    ASSERT_TRUE(f.may_contain(hash_of(i))) << i << " of " << end;
}

inline double bits_per_key(const expandable& f) {
  return 8.0 * static_cast<double>(f.size_in_bytes()) / static_cast<double>(f.size());
}

/// Hits of q strangers are independent trials of the chance that current_fpr() is, so that
/// Chernoff's bound exp(-mu h(d)), h(d) = (1 + d) ln(1 + d) - d, holds on either side; below 1e-9
/// each here.
inline void expect_rate_as_said(const expandable& f, std::uint64_t q) {
  std::vector<hash64> keys;
  const auto answers = std::make_unique<bool[]>(q);
  for (std::uint64_t i = 0; i < q; ++i) keys.push_back(hash_of(first_stranger + i));
  f.may_contain(keys, std::span(answers.get(), q));
  const auto hits = static_cast<double>(std::count(answers.get(), answers.get() + q, true));
  const double mu = f.current_fpr() * static_cast<double>(q);
  const double d = hits / mu - 1;
  const double h = hits == 0 ? 1 : (1 + d) * std::log1p(d) - d;
  EXPECT_LT(mu * h, std::log(1e9)) << hits << " hits where " << mu << " were expected";
}

}  // namespace bloomery::test
