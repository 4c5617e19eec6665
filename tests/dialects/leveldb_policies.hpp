#pragma once

// Common parts of the tests of Bloomset's filters inside LevelDB.

#include <gtest/gtest.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <array>
#include <bloomset/leveldb_filter_policy.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bloomset::test {

inline constexpr std::array policy_kinds = {filter_kind::ribbon, filter_kind::bloom,
                                            filter_kind::blocked_bloom, filter_kind::fuse};

inline std::unique_ptr<const leveldb_filter_policy> policy_of(
    const leveldb_filter_options& options) {
  auto made = leveldb_filter_policy::make(options);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

inline std::vector<std::string> keys_of(const std::string& prefix, std::size_t n,
                                        std::size_t first = 0) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < n; ++i) keys.push_back(prefix + std::to_string(first + i));
  return keys;
}

inline std::string filter_of(const leveldb::FilterPolicy& policy,
                             const std::vector<std::string>& keys) {
  const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  std::string filter;
  policy.CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  return filter;
}

inline std::size_t passing(const leveldb::FilterPolicy& policy, const std::string& filter,
                           const std::vector<std::string>& keys) {
  return static_cast<std::size_t>(std::count_if(
      keys.begin(), keys.end(), [&](const auto& key) { return policy.KeyMayMatch(key, filter); }));
}

}  // namespace bloomset::test
