// The union of expandable filters of any sizes has every member and every copy, and keeps its rate
// also while it grows on. A refused merge changes nothing.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/kinds/expandable/expandable_filters.hpp"
#include "tests/support/instruction_sets.hpp"

namespace bloomset::test {
namespace {

expandable expandable_of(std::uint64_t first, std::uint64_t n, const expandable_spec& spec) {
  expandable f(spec);
  EXPECT_EQ(f.insert(hashes_from(first, n)).done, n);
  return f;
}

struct two_sizes {
  std::uint64_t ours;
  std::uint64_t theirs;
};

class expandable_sizes : public testing::TestWithParam<two_sizes> {};

TEST_P(expandable_sizes, a_union_holds_all_and_keeps_its_rate_as_it_grows_on) {
  const auto [ours, theirs] = GetParam();
  // 2^14 cells per segment, 2^13 cells, and a known growth.
  for (const expandable_spec& spec : {expandable_spec{.capacity = 64, .fpr = 0.004},
                                      expandable_spec{.capacity = 1000, .fpr = 0.001},
                                      expandable_spec{.fpr = 0.004, .growth = 4096}}) {
    expandable f = expandable_of(0, ours, {.capacity = 64, .fpr = 0.01});
    const expandable other = expandable_of(ours, theirs, spec);
    value_of(f.merge(other));
    std::uint64_t at = ours + theirs;
    EXPECT_EQ(f.size(), at);
    EXPECT_EQ(f.planned_fpr(), 0.01);
    ASSERT_NO_FATAL_FAILURE(expect_members(f, at));
    for (int doubling = 0; doubling < 2; ++doubling) {
      EXPECT_LE(f.current_fpr(), 0.01) << at;
      EXPECT_LE(f.params().spent, 0.01) << at;
      ASSERT_NO_FATAL_FAILURE(expect_rate_as_said(f, 100'000));
      // A file of it opens as the same filter.
      const auto again = reopen<owned_storage>(f);
      EXPECT_EQ(file_bytes(again.filter), file_bytes(f));
      ASSERT_NO_FATAL_FAILURE(insert_up_to(f, at, 2 * at + 1));
    }
    EXPECT_LE(f.current_fpr(), 0.01);
    ASSERT_NO_FATAL_FAILURE(expect_members(f, at));
    const auto empty = file_bytes(expandable({.capacity = 64, .fpr = 0.01}));
    ASSERT_NO_FATAL_FAILURE(erase_all(f, hashes_from(0, at)));
    EXPECT_EQ(file_bytes(f), empty);
  }
}

// From a few entries, which have too few bits for the cells of a large filter, to many segments.
INSTANTIATE_TEST_SUITE_P(sizes, expandable_sizes,
                         testing::Values(two_sizes{0, 0}, two_sizes{0, 3000}, two_sizes{3000, 0},
                                         two_sizes{1, 1}, two_sizes{50, 60}, two_sizes{40, 40'000},
                                         two_sizes{40'000, 40}, two_sizes{9000, 20'000},
                                         two_sizes{25'000, 40'000}),
                         [](const auto& each) {
                           return std::to_string(each.param.ours) + "_and_" +
                                  std::to_string(each.param.theirs);
                         });

// The rate of a union is at most the sum of the rates.
TEST(expandable_merge, ten_filters_of_a_tenth_of_the_rate_are_one_of_the_whole) {
  expandable all({.capacity = 1000, .fpr = 0.01});
  constexpr std::uint64_t each = 20'000;
  for (std::uint64_t i = 0; i < 10; ++i) {
    value_of(all.merge(expandable_of(i * each, each, {.capacity = 1000, .fpr = 0.001})));
    EXPECT_LE(all.current_fpr(), 0.01);
  }
  EXPECT_EQ(all.size(), 10 * each);
  ASSERT_NO_FATAL_FAILURE(expect_members(all, 10 * each));
  ASSERT_NO_FATAL_FAILURE(expect_rate_as_said(all, 200'000));
  EXPECT_LT(bits_per_key(all), 22);
}

// A union of sets counts a common key once. A union that adds nothing changes nothing.
TEST(expandable_merge, of_what_is_absent_is_a_union_of_sets) {
  struct sizes {
    std::uint64_t ours, theirs, common;
  };
  for (const auto [ours, theirs, common] :
       {sizes{1000, 1000, 1000}, sizes{1000, 1000, 500}, sizes{0, 700, 0}, sizes{50, 60'000, 40},
        sizes{80'000, 3000, 2000}, sizes{50'000, 60'000, 0}}) {
    SCOPED_TRACE(fmt::format("{} and {}, {} in both", ours, theirs, common));
    expandable f = expandable_of(0, ours, {.capacity = 64, .fpr = 0.01});
    expandable other = expandable_of(ours - common, theirs, {.capacity = 100, .fpr = 0.002});
    // Copies count once, also those that are counted by hash.
    for (int i = 0; i < 5; ++i) (void)other.insert(hash_of(ours));
    value_of(f.merge_absent(other));
    const auto all = static_cast<double>(ours + theirs - common);
    EXPECT_GE(static_cast<double>(f.size()), all * 0.985 - 5);
    EXPECT_LE(static_cast<double>(f.size()), all * 1.001 + 3);
    ASSERT_NO_FATAL_FAILURE(expect_members(f, ours + theirs - common));
    EXPECT_LE(f.current_fpr(), 0.01);
    EXPECT_EQ(file_bytes(reopen<owned_storage>(f).filter), file_bytes(f));
    const auto before = file_bytes(f);
    value_of(f.merge_absent(other));
    value_of(f.merge_absent(f));
    value_of(f.merge_absent(expandable(f)));
    EXPECT_EQ(file_bytes(f), before);
    std::uint64_t at = ours + theirs - common;
    ASSERT_NO_FATAL_FAILURE(insert_up_to(f, at, 2 * at));
    ASSERT_NO_FATAL_FAILURE(expect_members(f, at));
    EXPECT_LE(f.current_fpr(), 0.01);
  }
  // After the erase of entries that it matched by chance, a key is there by its counted hash alone.
  expandable other({.fpr = 0.01});
  const auto alike = [](std::uint64_t i) { return hash64{i << 48 | 0x123456789abc}; };
  for (std::uint64_t i = 0; i < 4; ++i) (void)other.insert(alike(i));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(other.erase(alike(i)));
  ASSERT_TRUE(other.may_contain(alike(3)));
  ASSERT_FALSE(other.may_contain(alike(2)));
  expandable f({.fpr = 0.01});
  value_of(f.merge_absent(other));
  EXPECT_TRUE(f.may_contain(alike(3)));
  EXPECT_EQ(f.size(), 1U);
  expandable seeded({.fpr = 0.01, .seed = 3});
  EXPECT_EQ(seeded.merge_absent(expandable({.fpr = 0.01})).error().code, errc::incompatible);
}

// A cell has more keys than a union compares, until growth separates them.
TEST(expandable_merge, counts_no_more_than_there_are_where_keys_are_chosen) {
  expandable f({.capacity = 64, .fpr = 0.01});
  expandable other({.capacity = 400, .fpr = 0.005});
  for (std::uint64_t i = 0; i < 90; ++i) {
    const hash64 chosen{hash_of(i).value << 6 | 3};
    (void)f.insert(chosen);
    (void)other.insert(chosen);
  }
  for (std::uint64_t i = 1000; i < 1060; ++i) (void)other.insert(hash_of(i));
  value_of(f.merge_absent(other));
  EXPECT_LE(f.size(), 150U);
  EXPECT_EQ(file_bytes(reopen<owned_storage>(f).filter), file_bytes(f));
}

TEST(expandable_merge, a_rate_that_both_have_spent_is_not_promised_again) {
  // In small batches: keys of a large one come after the splits that they cause, and spend less.
  constexpr std::uint64_t n = 64 * 256;
  expandable a({.capacity = 64, .fpr = 0.01, .growth = 256});
  std::uint64_t at = 0;
  ASSERT_NO_FATAL_FAILURE(insert_up_to(a, at, n));
  expandable b({.capacity = 64, .fpr = 0.01, .growth = 256});
  ASSERT_NO_FATAL_FAILURE(insert_up_to(b, at, 2 * n));
  ASSERT_GT(a.current_fpr() + b.current_fpr(), 0.01);
  const auto before = file_bytes(a);
  const auto done = a.merge(b);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::incompatible);
  EXPECT_NE(done.error().message.find("sum of theirs"), std::string::npos);
  EXPECT_EQ(file_bytes(a), before);
  // As the sentence says:
  expandable both({.fpr = 0.02});
  value_of(both.merge(a));
  value_of(both.merge(b));
  ASSERT_NO_FATAL_FAILURE(expect_members(both, 2 * n));
  EXPECT_LE(both.current_fpr(), 0.02);
  // An empty filter takes any that has kept the same promise.
  expandable copy({.fpr = 0.01});
  value_of(copy.merge(a));
  ASSERT_NO_FATAL_FAILURE(expect_members(copy, n));
  EXPECT_LE(copy.current_fpr(), 0.01);
}

TEST(expandable_merge, copies_add_up_and_can_be_erased) {
  std::mt19937_64 random(3);
  expandable a({.capacity = 10, .fpr = 0.05});
  expandable b({.capacity = 3000, .fpr = 0.01});
  std::vector<std::uint64_t> copies(2000);
  for (int i = 0; i < 30'000; ++i) {
    const auto key =
        static_cast<std::uint64_t>(std::exp2(static_cast<double>(random() % 1090) / 100));
    ++copies[key];
    ASSERT_TRUE(is_contained((i % 3 == 0 ? a : b).insert(hash_of(key))));
  }
  value_of(a.merge(b));
  value_of(a.merge(a));
  EXPECT_EQ(a.size(), 60'000U);
  for (std::uint64_t key = 0; key < copies.size(); ++key) {
    ASSERT_GE(a.count(hash_of(key)), 2 * copies[key]) << key;
    if (copies[key] > 100) {
      EXPECT_LE(a.count(hash_of(key)), 2 * copies[key] + 100) << key;
    }
  }
  for (std::uint64_t key = 0; key < copies.size(); ++key) {
    for (std::uint64_t i = 0; i < 2 * copies[key]; ++i) ASSERT_TRUE(a.erase(hash_of(key))) << key;
  }
  EXPECT_EQ(file_bytes(a), file_bytes(expandable({.capacity = 10, .fpr = 0.05})));
}

TEST(expandable_merge, every_kernel_makes_the_same_bytes) {
  std::vector<std::byte> first;
  with_each_instruction_set([&] {
    expandable f = expandable_of(0, 30'000, {.capacity = 50, .fpr = 0.05});
    value_of(f.merge(expandable_of(30'000, 100, {.capacity = 50, .fpr = 0.01})));
    value_of(f.merge(expandable_of(40'000, 60'000, {.capacity = 50, .fpr = 0.001})));
    const auto bytes = file_bytes(f);
    if (first.empty()) first = bytes;
    EXPECT_EQ(bytes, first);
  });
}

// Hashes that agree in all bits that choose a segment have no room in a larger filter either.
TEST(expandable_merge, chosen_keys_that_meet_in_one_segment_have_no_room_and_nothing_changes) {
  const auto half = [](std::uint64_t first) {
    expandable f({.capacity = 64, .fpr = 0.01});
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      if (!is_contained(f.insert({hash_of(first + i).value << 24 | 0x123456}))) break;
    }
    return f;
  };
  expandable a({.capacity = 64, .fpr = 0.2});
  std::vector<std::byte> bytes;
  bool is_full = false;
  for (std::uint64_t i = 0; i < 40 && !is_full; ++i) {
    bytes = file_bytes(a);
    const auto done = a.merge(half(i * 20'000));
    is_full = !done;
    if (is_full) {
      EXPECT_EQ(done.error().code, errc::full) << done.error().message;
    }
  }
  EXPECT_TRUE(is_full);
  EXPECT_EQ(file_bytes(a), bytes);
}

// Copies of one key are in one block, which counts its entries in 16 bits.
TEST(expandable_merge, copies_beyond_what_a_block_can_count_have_no_room_and_none_is_lost) {
  expandable f({.capacity = 100'000, .fpr = 0.3});
  const hash64 key = hash_of(0);
  ASSERT_TRUE(is_contained(f.insert(key)));
  std::vector<std::byte> before;
  auto done = result<void>();
  while (done && f.size() < 100'000) {
    before = file_bytes(f);
    done = f.merge(f);
  }
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::full) << done.error().message;
  EXPECT_EQ(file_bytes(f), before);
  EXPECT_GT(f.size(), 30'000U);
  // Enough keys for every segment to be laid out anew, split or widened.
  const std::uint64_t copies = f.size();
  std::uint64_t end = 1;
  ASSERT_NO_FATAL_FAILURE(insert_up_to(f, end, 20'000));
  EXPECT_GE(f.count(key), copies);
  expect_members(f, end);
  EXPECT_TRUE(open_stored<expandable>(value_of(read_bytes(file_bytes(f)))));
}

// Segments over a mapped file are checked before a merge writes from them, not when it is opened.
TEST(expandable_merge, damaged_bytes_are_found_before_anything_is_written) {
  const expandable good = expandable_of(0, 20'000, {.fpr = 0.001});
  const auto bytes = value_of(read_bytes(file_bytes(good)));
  std::mt19937_64 random(11);
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    auto damaged = value_of(owned_storage::copy_of(bytes.payload.bytes()));
    const std::size_t at = random() % damaged.bytes().size();
    damaged.writable_bytes()[at] ^= std::byte{static_cast<unsigned char>(1 + random() % 255)};
    const auto view = basic_expandable<borrowed_storage>::open(
        good.params(), borrowed_storage(damaged.bytes()), good.size());
    if (!view) continue;
    expandable f = expandable_of(50'000, 1000, {.fpr = 0.01});
    const auto before = file_bytes(f);
    const auto done = f.merge(*view);
    if (done) continue;  // a remainder's bit
    EXPECT_EQ(done.error().code, errc::corrupt);
    EXPECT_EQ(file_bytes(f), before);
    ++refused;
  }
  EXPECT_GT(refused, 5);
}

}  // namespace
}  // namespace bloomset::test
