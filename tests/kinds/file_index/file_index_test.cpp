// An index of files: each key has exactly its files, others rarely have one, the size is near the
// least possible, bytes do not depend on order and threads, and no forged file makes a query read
// beyond it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bloomset/bloom.hpp>
#include <bloomset/file_index.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "src/kinds/file_index/class_code.hpp"
#include "src/kinds/file_index/joined_keys.hpp"
#include "src/kinds/file_index/list_code.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/key_sets_of_files.hpp"
#include "tests/support/stored_bytes.hpp"
#include "tests/support/words.hpp"

namespace bloomset::test {
namespace {

file_index index_of(const files_by_key& all, std::uint32_t n, double fpr = 0.01,
                    unsigned threads = 1) {
  const auto entries = entries_of(all);
  return value_of(file_index::build({.names = names_of_files(n), .fpr = fpr, .threads = threads},
                                    file_key_source::of(entries)));
}

std::vector<std::byte> bytes_of(const file_index& index) {
  return serialize(index.image());
}

/// The number of keys without exactly their files, asked in a batch and, unless they are many, one
/// by one.
std::size_t wrong_keys(const file_index& index, const files_by_key& all) {
  std::vector<hash64> hashes;
  for (std::size_t i = 0; i < all.size(); ++i) hashes.push_back(hash_of_key(i));
  file_lists lists;
  index.files_of(hashes, lists);
  std::size_t wrong = lists.ends.size() == all.size() ? 0 : 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    wrong += !std::ranges::equal(lists.of(i), all[i]);
    if (i < 20'000) wrong += index.files_of(hashes[i]) != all[i];
  }
  return wrong;
}

std::vector<hash64> other_hashes(std::size_t n) {
  std::vector<hash64> hashes;
  for (std::size_t i = 0; i < n; ++i) hashes.push_back(hash_of_key((std::size_t{1} << 40) + i));
  return hashes;
}

// Answers ---------------------------------------------------------------------------------------

TEST(file_index, few_keys_have_their_files) {
  for (const std::uint32_t n : {1U, 2U, 3U, 5U, 33U}) {
    for (std::size_t keys = 0; keys < 70; ++keys) {
      random_numbers random(keys << 8 | n);
      files_by_key all(keys);
      for (auto& files : all) files = some_files(random, 1 + random.below(n), n);
      const auto index = index_of(all, n);
      ASSERT_EQ(index.size(), keys);
      ASSERT_EQ(wrong_keys(index, all), 0U) << keys << " keys in " << n << " files";
    }
  }
}

TEST(file_index, keys_of_all_sorts_have_their_files) {
  constexpr std::size_t keys = 12'000;
  for (const std::uint32_t n : {2U, 10U, 100U, 1000U}) {
    for (const files_by_key& all : {one_file_each(keys, n), zipf_sizes(keys, n),
                                    shared_lists(keys, n, 300), log_words(keys, n)}) {
      for (const double fpr : {0.3, 0.01, 1e-6}) {
        ASSERT_EQ(wrong_keys(index_of(all, n, fpr), all), 0U) << n << " files, " << fpr;
      }
    }
  }
}

TEST(file_index, a_key_in_every_file_has_every_file) {
  files_by_key all = one_file_each(3000, 3000);
  for (const std::size_t key : {0U, 7U, 2999U}) {
    all[key].resize(3000);
    std::iota(all[key].begin(), all[key].end(), 0U);
  }
  EXPECT_EQ(wrong_keys(index_of(all, 3000), all), 0U);
}

TEST(file_index, keys_are_strings_and_numbers_too) {
  const std::array<std::string_view, 3> text = {"alice", "bob", "carol"};
  std::vector<file_key> entries;
  for (std::uint32_t i = 0; i < 3; ++i) {
    entries.emplace_back(filter_hasher()(std::as_bytes(std::span(text.at(i)))), i % 2);
  }
  const auto index =
      value_of(file_index::build({.names = {"even", "odd"}}, file_key_source::of(entries)));
  EXPECT_EQ(index.files_of("bob"), std::vector<std::uint32_t>{1});
  EXPECT_EQ(index.name(index.files_of(std::string("carol")).at(0)), "even");
}

// The mean is 10,000 to 15,000 of a million; six standard deviations are off with a chance of 2e-9.
TEST(file_index, other_keys_have_a_file_as_rarely_as_promised) {
  const auto others = other_hashes(1'000'000);
  for (const files_by_key& all : {one_file_each(50'000, 1000), zipf_sizes(50'000, 1000),
                                  shared_lists(50'000, 1000, 500), log_words(50'000, 1000)}) {
    const auto index = index_of(all, 1000);
    EXPECT_LE(index.current_fpr(), 0.01);
    EXPECT_GT(index.current_fpr(), 0.004);
    file_lists lists;
    index.files_of(others, lists);
    std::size_t found = 0;
    for (std::size_t i = 0; i < others.size(); ++i) found += !lists.of(i).empty();
    const double expected = 1e6 * index.current_fpr();
    EXPECT_LT(static_cast<double>(found), expected + 6 * std::sqrt(expected));
    // Chains of others mostly end without a file.
    EXPECT_GT(static_cast<double>(found), 0.5 * expected - 6 * std::sqrt(expected));
  }
}

TEST(file_index, every_instruction_set_gives_the_same_answers) {
  const auto all = log_words(5000, 50);
  const auto index = index_of(all, 50);
  const auto bytes = bytes_of(index);
  const auto others = other_hashes(20'000);
  file_lists expected;
  index.files_of(others, expected);
  with_each_instruction_set([&] {
    EXPECT_EQ(wrong_keys(index, all), 0U);
    EXPECT_EQ(bytes_of(index_of(all, 50)), bytes);
    file_lists lists;
    index.files_of(others, lists);
    EXPECT_EQ(lists.files, expected.files);
    EXPECT_EQ(lists.ends, expected.ends);
  });
}

// Size ------------------------------------------------------------------------------------------

TEST(file_index, the_size_is_near_the_least_possible) {
  constexpr std::size_t keys = 150'000;
  for (const std::uint32_t n : {10U, 1000U}) {
    for (const files_by_key& all : {one_file_each(keys, n), zipf_sizes(keys, n),
                                    shared_lists(keys, n, 1000), log_words(keys, n)}) {
      const auto index = index_of(all, n);
      std::uint64_t names = 4 * std::uint64_t{n};
      for (const std::string& name : names_of_files(n)) names += name.size();
      const double bits = 8 * static_cast<double>(index.size_in_bytes() - names) / keys;
      const double ratio = bits / min_bits_per_key(all, n, 0.01);
      EXPECT_LE(ratio, 1.03) << n << " files, " << bits << " bits per key";
    }
  }
}

TEST(class_code, equal_weights_fill_the_classes_that_the_rate_allows) {
  const std::vector<std::uint64_t> weights(1000, 100);
  const auto code = detail::choose_classes(weights, 0.01);
  std::size_t answers = 0;
  double bits = 0;
  for (const std::uint8_t one : code.bits) {
    const std::size_t here = std::min(std::size_t{1} << one, weights.size() - answers);
    answers += here;
    bits += static_cast<double>(here * one);
  }
  EXPECT_EQ(answers, weights.size());
  EXPECT_LE(std::ldexp(static_cast<double>(code.bits.size()), -static_cast<int>(code.columns)),
            0.01);
  EXPECT_LT(code.columns + bits / 1000, std::log2(1000 / 0.01) + 0.17);
}

TEST(list_code, every_list_is_read_again) {
  random_numbers random(1);
  for (const std::uint32_t n : {2U, 3U, 8U, 100U, 5000U}) {
    detail::bit_writer writer;
    files_by_key lists;
    for (std::size_t i = 0; i < 300; ++i) {
      lists.push_back(some_files(random, 2 + random.below(std::min(n - 1, 60U)), n));
      detail::write_list(writer, lists.back(), n);
    }
    std::vector<std::byte> bytes(writer.bytes().begin(), writer.bytes().end());
    bytes.resize(bytes.size() + detail::bit_padding);
    detail::bit_reader reader(bytes.data(), 0, writer.size());
    for (const auto& list : lists) {
      std::vector<std::uint32_t> again;
      ASSERT_TRUE(detail::read_list(reader, n, &again));
      ASSERT_EQ(again, list);
    }
    EXPECT_FALSE(detail::read_list(reader, n, nullptr));
  }
}

// Builds ----------------------------------------------------------------------------------------

TEST(file_index, order_repetitions_and_threads_do_not_change_the_bytes) {
  for (const files_by_key& all : {shared_lists(70'000, 20, 100), log_words(150'000, 60)}) {
    auto entries = entries_of(all);
    const auto names = names_of_files(60);
    const auto bytes = bytes_of(index_of(all, 60));
    std::ranges::reverse(entries);
    entries.insert(entries.end(), entries.begin(), entries.begin() + 500);
    std::rotate(entries.begin(), entries.begin() + 333, entries.end());
    for (const unsigned threads : {1U, 2U, 7U}) {
      const auto again = value_of(file_index::build(
          {.names = names, .fpr = 0.01, .threads = threads}, file_key_source::of(entries)));
      EXPECT_TRUE(bytes_of(again) == bytes) << threads << " threads";
    }
  }
}

// A list of which too many exist is counted in a sample of the keys, which has the frequent ones.
TEST(file_index, lists_beyond_the_memory_are_counted_in_a_sample) {
  files_by_key all = log_words(60'000, 200);
  for (std::size_t i = 0; i < all.size(); i += 2) all[i] = {3, 14, 159};
  auto entries = entries_of(all);
  const auto few =
      value_of(detail::choose_lists(file_key_source::of(entries), 200, 2, std::uint64_t{1} << 16));
  const detail::file_list frequent = {3, 14, 159};
  EXPECT_TRUE(std::ranges::find(few, frequent) != few.end());
  EXPECT_LT(few.size(), 800U);
  std::ranges::reverse(entries);
  EXPECT_EQ(few, value_of(detail::choose_lists(file_key_source::of(entries), 200, 1,
                                               std::uint64_t{1} << 16)));
}

TEST(file_index, requests_out_of_range_are_refused) {
  const std::vector<file_key> entries = {file_key(hash64{1}, 2)};
  const auto source = file_key_source::of(entries);
  const auto refusal = [&](file_index_spec spec) {
    const auto built = file_index::build(spec, source);
    return built ? std::string("none") : built.error().message;
  };
  EXPECT_EQ(refusal({}), "an index needs the name of at least one file");
  EXPECT_EQ(refusal({.names = {"a", ""}}), "a file needs a name of at least one byte");
  EXPECT_EQ(refusal({.names = {"a", "b"}}), "a key has file 2, but there are names for 2");
  EXPECT_EQ(refusal({.names = {"a", "b", "c"}, .fpr = 0.7}),
            "a rate of 0.7 is out of range; give 1e-8 to 1/2");
  EXPECT_EQ(refusal({.names = {"a", "b", "c"}}), "none");
}

TEST(file_index, a_failing_store_or_source_ends_the_build) {
  class full_store final : public file_key_store {
    result<void> add(std::span<const file_key>) override { return fail(errc::io, "disk full"); }
    result<file_key_source> source() override { return fail(errc::io, "disk full"); }
  };
  const auto entries = entries_of(one_file_each(100, 4));
  file_index_spec spec{.names = names_of_files(4)};
  spec.make_store = []() -> result<std::unique_ptr<file_key_store>> {
    return std::unique_ptr<file_key_store>(std::make_unique<full_store>());
  };
  const auto built = file_index::build(spec, file_key_source::of(entries));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message, "disk full");
  const file_key_source broken{
      5, [](const file_key_source::sink&) -> result<void> { return fail(errc::io, "torn"); }};
  const auto other = file_index::build({.names = names_of_files(4)}, broken);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "torn");
}

// Files -----------------------------------------------------------------------------------------

TEST(file_index, a_saved_index_is_the_same) {
  const auto path = std::filesystem::temp_directory_path() / "bloomset-file-index-test.which";
  const auto all = shared_lists(2000, 30, 50);
  auto index = index_of(all, 30);
  value_of(index.labels().set("source", "tests"));
  value_of(save(index, path));
  const auto again = value_of(open_file_index(path));
  EXPECT_EQ(wrong_keys(again, all), 0U);
  EXPECT_EQ(again.files(), 30U);
  EXPECT_EQ(again.name(29), "log-29");
  EXPECT_EQ(again.labels(), index.labels());
  EXPECT_EQ(bytes_of(again), bytes_of(index));
  const auto filter = bloomset::open(path);
  ASSERT_FALSE(filter);
  EXPECT_NE(filter.error().message.find("'bloomset which'"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(file_index, a_filter_cannot_be_inverted) {
  const bloom filter({.capacity = 10, .fpr = 0.01});
  const auto bytes = serialize(filter.image());
  const auto stored =
      value_of(read_stored(mapped_storage(nullptr, bytes), verification::always, "f"));
  const auto opened = file_index::open(stored);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::incompatible);
  EXPECT_NE(opened.error().message.find("cannot be inverted"), std::string::npos);
}

// The golden file is readable for ever, and today's code writes the same bytes.
TEST(file_index, the_golden_file_is_read_and_written) {
  const auto path = std::filesystem::path(BLOOMSET_GOLDEN_FOLDER) / "file_index-1.which";
  const auto bytes = value_of(map_bytes(path));
  EXPECT_TRUE(std::ranges::equal(bytes.bytes(), bytes_of(value_of(golden_file_index()))));
  const auto index = value_of(open_file_index(path));
  EXPECT_EQ(index.size(), 400U);
  EXPECT_EQ(index.files_of("member-3"), (std::vector<std::uint32_t>{1, 2, 7}));
}

result<file_index> opened(std::span<const std::byte> bytes) {
  const auto stored = read_stored(mapped_storage(nullptr, bytes), verification::always, "f.which");
  if (!stored) return fail(stored.error());
  return file_index::open(*stored);
}

TEST(file_index, every_flipped_byte_and_every_truncation_is_found) {
  auto bytes = bytes_of(index_of(log_words(200, 12), 12));
  ASSERT_TRUE(opened(bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{16};
    ASSERT_FALSE(opened(bytes)) << i;
    bytes[i] ^= std::byte{16};
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> start(bytes.begin(),
                                       bytes.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_FALSE(opened(start)) << size;
  }
}

// Under the sanitizers a read beyond the bytes, which have an allocation of their own, is found.
TEST(file_index, forged_files_are_refused_or_answer_from_their_own_bytes) {
  const auto others = other_hashes(300);
  std::mt19937_64 random(7);  // NOLINT(bugprone-random-generator-seed): the same forgeries
  std::size_t accepted = 0;
  for (const files_by_key& all : {log_words(300, 12), shared_lists(300, 40, 9)}) {
    const auto good = bytes_of(index_of(all, 40, 0.4));
    for (int i = 0; i < 6000; ++i) {
      auto bytes = good;
      // Mostly parameters and the tables at the end, which steer the reads.
      const std::size_t from = i % 3 == 0 ? at::parameters : at::parameters + 192;
      for (int change = i % 4; change >= 0; --change) {
        const std::size_t where = from + random() % (bytes.size() - from);
        bytes[where] = static_cast<std::byte>(random());
      }
      reseal(bytes);
      const auto index = opened(bytes);
      if (!index) {
        EXPECT_EQ(index.error().code, errc::corrupt) << index.error().message;
        continue;
      }
      ++accepted;
      file_lists lists;
      index->files_of(others, lists);
      for (const std::uint32_t file : lists.files) ASSERT_LT(file, index->files());
      for (std::size_t file = 0; file < index->files(); ++file) {
        ASSERT_LE(index->name(file).size(), bytes.size());
      }
    }
  }
  EXPECT_GT(accepted, 1000U);
}

}  // namespace
}  // namespace bloomset::test
