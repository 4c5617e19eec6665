// What SQL engines share: a build ends soon after its statement was cancelled.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sql/filters.hpp"

namespace bloomset {
namespace {

std::vector<hash64> hashes_of(std::uint64_t count) {
  std::vector<hash64> hashes(count);
  for (std::uint64_t i = 0; i < count; ++i) hashes[i].value = i * 0x9e3779b97f4a7c15;
  return hashes;
}

/// The kinds that SQL can build: those of one set of keys.
std::vector<kind_info> kinds_of_one_set() {
  std::vector<kind_info> rows(kinds().begin(), kinds().end());
  std::erase_if(rows, [](const kind_info& row) { return row.build_of_two_sets != nullptr; });
  return rows;
}

TEST(sql_build, ends_at_the_first_check_after_the_cancel) {
  const auto hashes = hashes_of(800'000);
  for (const kind_info& kind : kinds_of_one_set()) {
    unsigned checks = 0;
    const auto whole = sql::build(kind, 0.01, hashes, sql::counted, {1U << 30, [&] {
                                                                       ++checks;
                                                                       return false;
                                                                     }});
    ASSERT_TRUE(whole) << kind.name << whole.error().message;
    ASSERT_GE(checks, 4) << kind.name;
    for (const unsigned last : {1U, 2U, 4U}) {
      unsigned asked = 0;
      const auto cancelled =
          sql::build(kind, 0.01, hashes, sql::counted, {1U << 30, [&] { return ++asked == last; }});
      ASSERT_FALSE(cancelled) << kind.name;
      EXPECT_EQ(cancelled.error().message, "the statement was cancelled");
      EXPECT_EQ(asked, last) << kind.name;
    }
  }
}

// A cuckoo filter has fewer buckets for the copies of a key than for different keys.
TEST(sql_build, repeated_keys_have_room) {
  auto hashes = hashes_of(50'000);
  hashes.insert(hashes.end(), hashes.begin(), hashes.end());
  for (const kind_info& kind : kinds_of_one_set()) {
    const auto made = sql::build(kind, 0.01, hashes, sql::counted, {1U << 30});
    ASSERT_TRUE(made) << kind.name << ": " << made.error().message;
    const auto answers = std::make_unique<bool[]>(hashes.size());
    ASSERT_TRUE(made->may_contain(hashes, {answers.get(), hashes.size()}));
    EXPECT_TRUE(std::all_of(answers.get(), answers.get() + hashes.size(), std::identity()))
        << kind.name;
  }
  const std::vector<hash64> same(100, hash64{7});
  const auto full = sql::build(**find_kind("cuckoo"), 0.01, same, sql::counted, {1U << 30});
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("more copies of a key"), std::string::npos);
}

TEST(sql_build, a_larger_filter_than_a_value_is_refused_before_its_memory_is_taken) {
  const auto hashes = hashes_of(100'000);
  for (const kind_info& kind : kinds_of_one_set()) {
    for (const std::uint64_t capacity : {sql::counted, std::uint64_t{1} << 30}) {
      if (capacity != sql::counted && kind.build != nullptr) continue;  // it needs no capacity
      const auto refused = sql::build(kind, 0.01, hashes, capacity, {1000});
      ASSERT_FALSE(refused) << kind.name;
      EXPECT_EQ(refused.error().code, errc::full) << kind.name << refused.error().message;
    }
    const std::vector<hash64> repeated(100'000, hash64{7});
    const bool keeps_copies = kind.can.erase || kind.can.count;
    EXPECT_EQ(sql::build(kind, 0.01, repeated, sql::counted, {1000}).has_value(), !keeps_copies)
        << kind.name;
  }
}

}  // namespace
}  // namespace bloomset
