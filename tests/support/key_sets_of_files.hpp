#pragma once

// Keys in many files: four sorts of data, and the bits per key that no index can be below. Tests
// and bench/ use them.

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/file_index.hpp>
#include <bloomset/hash.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::test {

/// The files of each key, ascending; the hash of key i is remix64(i + 1).
using files_by_key = std::vector<std::vector<std::uint32_t>>;

inline hash64 hash_of_key(std::size_t i) {
  return {detail::remix64(i + 1)};
}

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t stream) : state_(stream << 32) {}
  std::uint64_t below(std::uint64_t n) { return detail::mulhi64(detail::remix64(++state_), n); }
  double unit() { return static_cast<double>(below(std::uint64_t{1} << 53)) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// d different files of n, ascending.
inline std::vector<std::uint32_t> some_files(random_numbers& random, std::size_t d,
                                             std::uint32_t n) {
  std::vector<std::uint32_t> files;
  while (files.size() < d) {
    const auto file = static_cast<std::uint32_t>(random.below(n));
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

inline files_by_key one_file_each(std::size_t keys, std::uint32_t n) {
  files_by_key all(keys);
  for (std::size_t i = 0; i < keys; ++i) all[i] = {static_cast<std::uint32_t>(i * n / keys)};
  return all;
}

/// One file each, whose sizes follow Zipf's law.
inline files_by_key zipf_sizes(std::size_t keys, std::uint32_t n) {
  std::vector<double> sums = {0};
  for (std::uint32_t file = 0; file < n; ++file) sums.push_back(sums.back() + 1.0 / (file + 1));
  random_numbers random(2);
  files_by_key all(keys);
  for (auto& files : all) {
    const auto at = std::ranges::upper_bound(sums, random.unit() * sums.back());
    files = {static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(at - sums.begin() - 1, n - 1))};
  }
  return all;
}

/// 30% of the keys have one of `combinations` lists of 2 to 8 files.
inline files_by_key shared_lists(std::size_t keys, std::uint32_t n, std::size_t combinations) {
  random_numbers random(3);
  files_by_key lists(combinations);
  for (auto& list : lists)
    list = some_files(random, std::min<std::size_t>(n, 2 + random.below(7)), n);
  files_by_key all(keys);
  for (auto& files : all) {
    if (random.unit() < 0.3) {
      files = lists[random.below(combinations)];
    } else {
      files = {static_cast<std::uint32_t>(random.below(n))};
    }
  }
  return all;
}

/// As the words of logs: most are in one file, few are in many, and lists are mostly different.
inline files_by_key log_words(std::size_t keys, std::uint32_t n) {
  random_numbers random(4);
  files_by_key all(keys);
  for (auto& files : all) {
    const double d = 0.8 / std::max(random.unit(), 0.8 / n);
    files = some_files(random, static_cast<std::size_t>(std::max(1.0, d)), n);
  }
  return all;
}

inline std::vector<file_key> entries_of(const files_by_key& all) {
  std::vector<file_key> entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::uint32_t file : all[i]) entries.emplace_back(hash_of_key(i), file);
  }
  return entries;
}

inline std::vector<std::string> names_of_files(std::uint32_t n) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < n; ++i) names.push_back("log-" + std::to_string(i));
  return names;
}

/// log2(1/eps) + the entropy of a key's files + each list once, in bits per key.
inline double min_bits_per_key(const files_by_key& all, std::uint32_t n, double eps) {
  std::map<std::vector<std::uint32_t>, std::size_t> counts;
  for (const auto& files : all) ++counts[files];
  const auto keys = static_cast<double>(all.size());
  double bits = 0;
  for (const auto& [files, count] : counts) {
    const auto weight = static_cast<double>(count);
    bits += weight * std::log2(keys / weight);
    const auto d = static_cast<double>(files.size());
    if (d > 1) bits += std::min<double>(n, d * (std::log2(n / d) + 1.5));
  }
  return bits / keys - std::log2(eps);
}

/// The index of tests/golden: 400 keys "member-0" and so on in 40 files, with lists and a chain.
inline result<file_index> golden_file_index() {
  files_by_key all = log_words(400, 40);
  for (std::size_t i = 0; i < all.size(); i += 3) all[i] = {1, 2, 7};
  std::vector<file_key> entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string key = "member-" + std::to_string(i);
    for (const std::uint32_t file : all[i]) {
      entries.emplace_back(filter_hasher(hash_seed(5))(std::as_bytes(std::span(key))), file);
    }
  }
  auto index = file_index::build({.names = names_of_files(40), .fpr = 0.02, .seed = 5},
                                 file_key_source::of(entries));
  if (index) {
    if (auto ok = index->labels().set("source", "tests"); !ok) return fail(ok.error());
  }
  return index;
}

}  // namespace bloomset::test
