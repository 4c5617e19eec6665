#pragma once

// Filters of strings, for `bloomset_bench strings`.

#include <bloomset/blocked_bloom.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

using string_views = std::span<const std::string_view>;

class string_subject {
 public:
  string_subject() = default;
  string_subject(const string_subject&) = delete;
  string_subject& operator=(const string_subject&) = delete;
  virtual ~string_subject() = default;

  /// Makes the filter of these members anew.
  virtual void build(string_views members) = 0;
  /// Asks one by one; how many may be members.
  virtual std::uint64_t ask_each(string_views asked) const = 0;
  /// Asks by the subject's call for batches.
  virtual void ask_batch(string_views asked, bool* answers) const = 0;
};

using string_subjects = std::vector<std::pair<std::string, std::unique_ptr<string_subject>>>;

/// blocked_bloom at 1%, compiled as the file that includes this.
class our_strings final : public string_subject {
 public:
  explicit our_strings(bool distinct) : distinct_(distinct) {}
  void build(string_views members) override {
    filter_.emplace(bloomset::blocked_bloom_spec{.capacity = members.size(), .fpr = 0.01});
    if (distinct_) {
      filter_->insert_distinct(members);
    } else {
      filter_->insert(members);
    }
  }
  std::uint64_t ask_each(string_views asked) const override {
    std::uint64_t found = 0;
    for (const std::string_view s : asked) found += filter_->may_contain(s);
    return found;
  }
  void ask_batch(string_views asked, bool* answers) const override {
    filter_->may_contain(asked, std::span(answers, asked.size()));
  }

 private:
  bool distinct_;
  std::optional<bloomset::blocked_bloom> filter_;
};

/// our_strings, compiled for this CPU (native.cpp).
std::unique_ptr<string_subject> our_native_strings();

/// Boost.Bloom's filters of n strings at a rate, hashed by XXH3 (peers/boost_bloom.cpp).
string_subjects boost_string_peers(std::uint64_t n, double fpr);
string_subjects boost_native_string_peers(std::uint64_t n, double fpr);

}  // namespace bench
