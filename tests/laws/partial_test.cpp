// A filter of which only the bytes that a query asks for are in memory answers as the whole one,
// whatever all other bytes are. For every kind, and every way to store it.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/partial.hpp>
#include <iterator>
#include <map>
#include <random>

#include "tests/support/golden_recipes.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

/// The recipe with 20,000 keys more, so that a query reads a small part of the file.
recipe enlarged(recipe how) {
  how.more = 20'000;
  const kind_info* const kind = *find_kind(how.kind);
  if (!kind->can.grow) how.capacity = 21'000;
  return how;
}

/// The ends of payloads whose zeros queries read.
std::size_t zeros_at_end(const recipe& how) {
  return how.kind == "ribbon" || how.kind == "exact" ? 64 : 0;
}

struct fetched {
  std::size_t rounds = 0;
  std::size_t ranges = 0;
  std::uint64_t largest = 0;
};

class partial : public ::testing::TestWithParam<recipe> {
 protected:
  void SetUp() override {
    how_ = enlarged(GetParam());
    whole_.emplace(cook(how_));
    bytes_ = serialize(whole_->image());
    for (std::uint64_t i = 0; i < 150; ++i) {
      keys_.push_back(word("more", i * 131));
      keys_.push_back(word("non-member", i));
    }
  }

  /// Puts bytes of the whole file.
  void fetch(partial_file& file, const std::vector<byte_interval>& ranges) const {
    for (const byte_interval range : ranges) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_LE(range.end, bytes_.size());
      ASSERT_FALSE(file.has(range));
      file.put(range.begin, std::span(bytes_).subspan(range.begin, range.size()));
      ASSERT_TRUE(file.has(range));
    }
  }

  /// `read` gets the ranges that opening needs.
  any_filter open(partial_file& file, std::vector<byte_interval>* read = nullptr) const {
    for (;;) {
      const auto missing = value_of(missing_to_open(file, "f"));
      if (missing.empty()) break;
      fetch(file, missing);
      if (read != nullptr) read->insert(read->end(), missing.begin(), missing.end());
    }
    auto stored = value_of(read_stored(file.storage(), verification::header, "f"));
    EXPECT_TRUE(unlock(stored, key_of(how_), "f"));
    return value_of(open_any(stored, access::read_only, "f"));
  }

  /// Random bytes in place of the file's, except the zeros at the end of each half's payload.
  std::vector<std::byte> garbage() const {
    std::mt19937_64 random(1);
    std::vector<std::byte> bytes(bytes_.size());
    const std::size_t zeros = zeros_at_end(how_);
    for (std::size_t i = 0; i < bytes.size();) {
      const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end =
          std::find_if(from, bytes_.end(), [](std::byte b) { return b != std::byte{0}; });
      const std::size_t run = std::max(static_cast<std::size_t>(end - from), std::size_t{1});
      if (zeros == 0 || run < zeros) {
        std::generate_n(bytes.begin() + static_cast<std::ptrdiff_t>(i), run,
                        [&] { return static_cast<std::byte>(random()); });
      }
      i += run;
    }
    return bytes;
  }

  fetched fetch_for(partial_file& file, const any_filter& filter,
                    std::span<const std::string_view> keys) const {
    fetched sum;
    for (;;) {
      const auto missing = missing_to_query(file, filter, keys);
      if (missing.empty()) return sum;
      ++sum.rounds;
      sum.ranges += missing.size();
      for (const byte_interval range : missing) sum.largest = std::max(sum.largest, range.size());
      fetch(file, missing);
    }
  }

  recipe how_;
  std::optional<any_filter> whole_;
  std::vector<std::byte> bytes_;
  std::vector<std::string> keys_;
};

TEST_P(partial, other_bytes_do_not_matter) {
  const std::vector<std::byte> other = garbage();
  std::uint64_t yes = 0;
  for (const std::string& each : keys_) {
    auto file = value_of(partial_file::make(bytes_.size()));
    std::vector<byte_interval> read;
    const any_filter filter = open(file, &read);
    auto* const at = const_cast<std::byte*>(file.storage().bytes().data());
    std::ranges::copy(other, at);
    for (const byte_interval r : read) std::copy_n(&bytes_[r.begin], r.size(), at + r.begin);
    const std::array asked = {std::string_view(each)};
    fetch_for(file, filter, asked);
    ASSERT_EQ(filter.may_contain(each), whole_->may_contain(each)) << each;
    ASSERT_LT(file.bytes_present(), bytes_.size()) << each;
    yes += filter.may_contain(each);
  }
  EXPECT_GE(yes, keys_.size() / 2);
}

// docs/reference/format.md, "Reading a part of a file".
TEST_P(partial, a_key_needs_few_ranges) {
  struct bound {
    std::size_t rounds;
    std::size_t ranges;
  };
  const std::map<std::string_view, bound> bounds = {
      {"blocked_bloom", {1, 1}}, {"cuckoo", {1, 2}}, {"vector_quotient", {1, 2}}, {"fuse", {1, 4}},
      {"expandable", {2, 3}},    {"bloom", {2, 7}},  {"counting_bloom", {2, 7}}};
  const auto found = bounds.find(how_.kind);
  const std::size_t halves = how_.hash_bits == 128 ? 2 : 1;
  for (const std::string& each : keys_) {
    auto file = value_of(partial_file::make(bytes_.size()));
    const any_filter filter = open(file);
    const std::array asked = {std::string_view(each)};
    const fetched needed = fetch_for(file, filter, asked);
    EXPECT_LE(needed.largest, 4096U);
    if (found == bounds.end()) continue;
    EXPECT_LE(needed.rounds, halves * found->second.rounds) << each;
    EXPECT_LE(needed.ranges, halves * found->second.ranges) << each;
  }
}

TEST_P(partial, a_batch_is_answered_as_by_the_whole_file) {
  auto file = value_of(partial_file::make(bytes_.size()));
  const any_filter filter = open(file);
  const std::vector<std::string_view> keys(keys_.begin(), keys_.end());
  fetch_for(file, filter, keys);
  const auto ours = std::make_unique<bool[]>(keys.size());
  const auto theirs = std::make_unique<bool[]>(keys.size());
  filter.may_contain(keys, {ours.get(), keys.size()});
  whole_->may_contain(keys, {theirs.get(), keys.size()});
  EXPECT_TRUE(std::equal(ours.get(), ours.get() + keys.size(), theirs.get()));
  EXPECT_EQ(filter.labels().text(), whole_->labels().text());
}

/// Filters with partitions are not queried in parts.
std::vector<recipe> recipes_in_parts() {
  std::vector<recipe> all;
  std::ranges::copy_if(recipes(), std::back_inserter(all),
                       [](const recipe& each) { return !each.partitioned; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(recipes, partial, ::testing::ValuesIn(recipes_in_parts()),
                         [](const auto& each) { return test_name(each.param); });

TEST(partial_files, a_filter_with_partitions_is_refused) {
  const auto found =
      std::ranges::find_if(recipes(), [](const recipe& each) { return each.partitioned; });
  ASSERT_NE(found, recipes().end());
  const auto bytes = serialize(cook(*found).image());
  auto file = value_of(partial_file::make(bytes.size()));
  file.put(0, bytes);
  const auto missing = missing_to_open(file, "f");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::unsupported);
  EXPECT_NE(missing.error().message.find("with partitions"), std::string::npos);
}

TEST(partial_files, runs_of_bytes_are_joined) {
  auto file = value_of(partial_file::make(1000));
  const std::vector<std::byte> ones(1000, std::byte{1});
  const auto put = [&](std::uint64_t begin, std::uint64_t end) {
    file.put(begin, std::span(ones).first(end - begin));
  };
  put(100, 200);
  put(300, 400);
  EXPECT_TRUE(file.has({100, 200}));
  EXPECT_FALSE(file.has({100, 201}));
  EXPECT_FALSE(file.has({99, 101}));
  EXPECT_FALSE(file.has({199, 301}));
  EXPECT_TRUE(file.has({50, 50}));
  put(200, 300);
  EXPECT_TRUE(file.has({100, 400}));
  EXPECT_EQ(file.bytes_present(), 300U);
  put(50, 350);
  EXPECT_TRUE(file.has({50, 400}));
  EXPECT_EQ(file.bytes_present(), 350U);
  put(0, 1000);
  EXPECT_EQ(file.bytes_present(), 1000U);
  EXPECT_TRUE(file.has({0, 1000}));
}

TEST(partial_files, address_space_is_no_memory) {
  EXPECT_TRUE(partial_file::make(std::uint64_t{1} << 40));
  const auto refused = partial_file::make(std::uint64_t{1} << 63);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::out_of_memory);
}

// Labels are among the parameters.
TEST(partial_files, a_header_beyond_the_first_bytes_is_fetched) {
  recipe how = recipes()[0];
  const std::string value(4000, 'x');
  how.labels = {{"source", value}};
  const auto bytes = serialize(cook(how).image());
  auto file = value_of(partial_file::make(bytes.size()));
  std::vector<byte_interval> fetched;
  for (;;) {
    const auto missing = value_of(missing_to_open(file, "f"));
    if (missing.empty()) break;
    for (const byte_interval range : missing) {
      fetched.push_back(range);
      file.put(range.begin, std::span(bytes).subspan(range.begin, range.size()));
    }
  }
  EXPECT_EQ(fetched, (std::vector{byte_interval{0, 4096}, byte_interval{4096, 64 + 64 + 4032}}));
}

TEST(partial_files, an_index_of_files_is_refused_by_name) {
  auto bytes = forged(serialize(cook(recipes()[0]).image()), at::kind, std::uint16_t{11});
  auto file = value_of(partial_file::make(bytes.size()));
  file.put(0, bytes);
  const auto refused = missing_to_open(file, "f.bloom");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("this is an index of files"), std::string::npos);
}

// Headers from outside never lead to ranges beyond the file.
TEST(partial_files, forged_headers_stay_inside) {
  std::mt19937_64 random(7);
  for (const recipe& how : recipes()) {
    const auto whole = serialize(cook(how).image());
    for (int trial = 0; trial < 200; ++trial) {
      auto bytes = whole;
      for (int flips = 0; flips < 3; ++flips) {
        bytes[8 + random() % (std::min<std::size_t>(bytes.size(), 256) - 8)] ^=
            static_cast<std::byte>(1U << random() % 8);
      }
      reseal(bytes);
      auto file = value_of(partial_file::make(bytes.size()));
      for (int step = 0; step < 5; ++step) {
        const auto missing = missing_to_open(file, "f");
        if (!missing || missing->empty()) break;
        for (const byte_interval range : *missing) {
          ASSERT_LE(range.end, bytes.size());
          file.put(range.begin, std::span(bytes).subspan(range.begin, range.size()));
        }
      }
      auto stored = read_stored(file.storage(), verification::header, "f");
      if (!stored || stored->header.seed.is_locked()) continue;
      const auto filter = open_any(*stored, access::read_only, "f");
      if (!filter) continue;
      for (int step = 0; step < 100; ++step) {
        const std::array asked = {std::string_view("x")};
        const auto missing = missing_to_query(file, *filter, asked);
        if (missing.empty()) break;
        ASSERT_LT(step, 99);
        for (const byte_interval range : missing) {
          ASSERT_LE(range.end, bytes.size());
          file.put(range.begin, std::span(bytes).subspan(range.begin, range.size()));
        }
      }
    }
  }
}

}  // namespace
}  // namespace bloomset::test
