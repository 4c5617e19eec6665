// Keys are kept as hashes until their number is known, and that number is right.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/detail/core/cardinality.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/key_text_spool.hpp"
#include "memory/spool.hpp"

namespace {

using bloomset::hash64;
using bloomset::xxh3_hasher;
using bloomset::detail::cardinality_estimator;
using bloomset::detail::distinct_counter;
using namespace bloomset::cli;

/// Sets another $TMPDIR for its lifetime.
class temporary_folder {
 public:
  explicit temporary_folder(const std::string& folder) {
    if (const char* const before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }

 private:
  std::optional<std::string> before_;
};

hash64 hash_of(std::uint64_t i, std::uint64_t seed) {
  return bloomset::with_hash(xxh3_hasher(seed), i, [](hash64 h) noexcept { return h; });
}

// False alarms: a relative error of 6 standard errors has a chance of 2e-9 in each of the 36
// checks. The error is normal to good accuracy at 2^16 registers.
TEST(cardinality, is_within_its_error_from_nothing_to_a_million) {
  EXPECT_EQ(cardinality_estimator().estimate(), 0);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto distinct = std::make_unique<cardinality_estimator>();
    std::uint64_t n = 0;
    // The middle of the list is where the plain estimator of 2007 is biased (around 2.5 * 2^16).
    for (const std::uint64_t next : {100U, 1000U, 10'000U, 30'000U, 65'536U, 120'000U, 164'000U,
                                     200'000U, 300'000U, 400'000U, 1'000'000U}) {
      for (; n < next; ++n) distinct->add(hash_of(n, seed));
      EXPECT_NEAR(distinct->estimate(), static_cast<double>(n),
                  6 * cardinality_estimator::standard_error * static_cast<double>(n) + 1)
          << "n = " << n << ", seed " << seed;
    }
  }
}

TEST(cardinality, repeats_change_nothing) {
  auto once = std::make_unique<cardinality_estimator>();
  auto often = std::make_unique<cardinality_estimator>();
  for (std::uint64_t i = 0; i < 30'000; ++i) once->add(hash_of(i, 0));
  for (std::uint64_t i = 0; i < 90'000; ++i) often->add(hash_of(i % 30'000, 0));
  EXPECT_EQ(once->estimate(), often->estimate());
}

TEST(cardinality, extreme_hashes_are_counted_too) {
  auto distinct = std::make_unique<cardinality_estimator>();
  for (const std::uint64_t value : {std::uint64_t{0}, UINT64_MAX}) distinct->add({value});
  EXPECT_GT(distinct->estimate(), 1);
  EXPECT_TRUE(std::isfinite(distinct->estimate()));
}

// Parts of few and of many keys, in any order.
TEST(cardinality, counters_of_parts_count_what_a_spool_counts) {
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{65'536},
                                std::uint64_t{65'537}, std::uint64_t{300'000}}) {
    std::vector<hash64> hashes;
    for (std::uint64_t i = 0; i < n; ++i) hashes.push_back(hash_of(i, 0));
    const auto middle = std::span(hashes).subspan(n / 4, n / 2);
    key_spool spool([](const std::string&) {});
    ASSERT_TRUE(spool.add(hashes) && spool.add(middle));
    const auto all = std::make_unique<distinct_counter>();
    for (const auto& part : {std::span<const hash64>(hashes), std::span<const hash64>(middle)}) {
      const auto one = std::make_unique<distinct_counter>();
      one->add(part);
      const auto with_all = std::make_unique<distinct_counter>();
      ASSERT_TRUE(with_all->merge(one->state()) && with_all->merge(all->state()));
      ASSERT_TRUE(all->merge(one->state()));
      EXPECT_EQ(with_all->distinct(), all->distinct());
    }
    EXPECT_EQ(all->added(), spool.keys());
    EXPECT_EQ(all->distinct(), spool.distinct_keys()) << n;
  }
}

TEST(cardinality, bytes_that_are_no_state_are_refused) {
  const auto counter = std::make_unique<distinct_counter>();
  counter->add(std::vector<hash64>{{1}, {2}});
  auto state = counter->state();
  EXPECT_FALSE(counter->merge(std::span(state).first(state.size() - 1)));
  EXPECT_FALSE(counter->merge(std::span(state).first(1000)));
  state[1000] = std::byte{50};
  EXPECT_FALSE(counter->merge(state)) << "no rank is that high";
  EXPECT_EQ(counter->distinct(), 2U);
}

std::vector<hash64> hashes_of(const key_spool& spool) {
  std::vector<hash64> all;
  const auto ok = spool.for_each([&](std::span<const hash64> some) -> bloomset::result<void> {
    all.insert(all.end(), some.begin(), some.end());
    return {};
  });
  EXPECT_TRUE(ok);
  return all;
}

TEST(spool, gives_the_hashes_back_in_order_from_memory_and_from_the_file) {
  constexpr std::uint64_t n = 450'003;
  constexpr std::uint64_t seed = 7;
  // The least limit, one of some chunks, one beyond all.
  for (const std::size_t limit :
       {std::size_t{0}, std::size_t{3} << 20, key_spool::default_limit()}) {
    std::vector<std::string> notices;
    key_spool spool([&](const std::string& text) { notices.push_back(text); }, limit);
    std::vector<hash64> hashes(1000);
    for (std::uint64_t i = 0; i < n;) {
      const auto now = std::min<std::uint64_t>(1000, n - i);
      for (std::size_t j = 0; j < now; ++j) hashes[j] = hash_of(i++, seed);
      ASSERT_TRUE(spool.add(std::span(hashes).first(now)));
    }
    EXPECT_EQ(spool.keys(), n);
    EXPECT_EQ(notices.size(), limit < key_spool::default_limit() ? 1U : 0U);
    for (int again = 0; again < 2; ++again) {
      const auto all = hashes_of(spool);
      ASSERT_EQ(all.size(), n);
      for (std::uint64_t i = 0; i < n; i += 997) {
        ASSERT_EQ(all[i], hash_of(i, seed)) << i;
      }
    }
  }
}

TEST(spool, with_parts_the_file_is_read_in_their_order) {
  constexpr std::uint64_t n = 300'001;
  key_spool spool([](const std::string&) {}, 0, 256);
  std::vector<hash64> all;
  for (std::uint64_t i = 0; i < n; ++i) all.push_back(hash_of(i, 1));
  all.insert(all.end(), 150'000, hash64{7});  // a part that is larger than a batch
  ASSERT_TRUE(spool.add(all));
  EXPECT_FALSE(hashes_of(spool) == all);
  ASSERT_TRUE(spool.spill());
  EXPECT_TRUE(spool.in_parts());
  std::vector<std::vector<hash64>> parts(256);
  for (const hash64 h : all) parts[h.value >> 56].push_back(h);
  std::vector<hash64> by_part;
  for (const auto& part : parts) by_part.insert(by_part.end(), part.begin(), part.end());
  EXPECT_TRUE(hashes_of(spool) == by_part) << "within a part in the order of the adds";
}

TEST(spool, the_number_is_exact_without_repeats_and_enough_with_them) {
  key_spool empty([](const std::string&) {});
  EXPECT_EQ(empty.distinct_keys(), 1U) << "a filter of no keys still has a size";
  key_spool spool([](const std::string&) {});
  const auto add = [&spool](int from, int to) {
    for (int i = from; i < to; ++i) {
      const hash64 h = hash_of(static_cast<std::uint64_t>(i), 0);
      ASSERT_TRUE(spool.add({&h, 1}));
    }
  };
  add(0, 100'000);
  EXPECT_EQ(spool.distinct_keys(), 100'000U) << "the raised estimate is above the number of keys";
  for (int i = 0; i < 2; ++i) add(0, 100'000);
  // Never too low but for 4 standard errors (a fixed input: it holds or it does not), and not more
  // than 9 of them too high.
  EXPECT_GE(spool.distinct_keys(), 100'000U);
  EXPECT_LE(static_cast<double>(spool.distinct_keys()),
            100'000 * (1 + 9 * cardinality_estimator::standard_error));
}

TEST(spool, a_folder_that_is_missing_is_told_and_a_use_that_fails_ends_it) {
  const temporary_folder missing("/nonexistent/folder");
  key_spool spool([](const std::string&) {}, 0);
  const hash64 h{1};
  const auto ok = spool.add(std::vector<hash64>(200'000));
  ASSERT_FALSE(ok);
  EXPECT_NE(ok.error().message.find("/nonexistent/folder"), std::string::npos);
  EXPECT_NE(ok.error().message.find("TMPDIR"), std::string::npos);

  key_spool two([](const std::string&) {});
  ASSERT_TRUE(two.add({&h, 1}));
  const auto stopped = two.for_each([](std::span<const hash64>) -> bloomset::result<void> {
    return bloomset::fail(bloomset::errc::full, "no more");
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "no more");
}

TEST(spool, leaves_nothing_in_the_temporary_folder) {
  const std::filesystem::path folder = testing::TempDir() + "/bloomset_spool_test";
  std::filesystem::create_directories(folder);
  {
    const temporary_folder used(folder);
    key_spool spool([](const std::string&) {}, 0);
    const std::vector<hash64> hashes(300'000);
    ASSERT_TRUE(spool.add(hashes));
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << "also while it is in use";
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(key_text_spool, returns_keys_in_their_order_from_memory_and_from_a_file) {
  std::vector<std::string> all = {"", std::string(3'000'000, 'x'), std::string("\n\0", 2)};
  for (int i = 0; i < 300'000; ++i) all.push_back("key " + std::to_string(i));
  const std::vector<std::string_view> views(all.begin(), all.end());
  for (const std::size_t limit : {std::size_t{0}, std::size_t{4} << 20, std::size_t{1} << 30}) {
    std::string said;
    key_text_spool spool([&](const std::string& sentence) { said += sentence; }, limit);
    ASSERT_TRUE(spool.add(views));
    EXPECT_EQ(spool.keys(), all.size());
    EXPECT_EQ(said.empty(), limit == std::size_t{1} << 30) << said;
    for (int time = 0; time < 2; ++time) {
      std::vector<std::string> read;
      ASSERT_TRUE(spool.for_each([&](std::span<const std::string_view> keys) {
        read.insert(read.end(), keys.begin(), keys.end());
        return bloomset::result<void>();
      }));
      EXPECT_TRUE(read == all);
    }
  }
}

}  // namespace
