// Exact filters with partitions: every key of every universe is asked, in a batch and one by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <bloomset/partitioned_exact.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {
// exact_test.cpp, which is compiled in one unit, has the same names for keys without partitions.
namespace partitions {

using key_list = std::vector<partitioned_hash>;

/// Members and other keys of some partitions.
struct universe {
  key_list members;
  key_list others;

  /// Adds a partition with keys from a stream of its own.
  void add(std::uint64_t partition, std::uint64_t n_members, std::uint64_t n_others) {
    const hash64 name{detail::remix64(partition + 1)};
    for (std::uint64_t i = 0; i < n_members + n_others; ++i) {
      const hash64 rest{detail::remix64((partition + 1) << 40 | i)};
      (i < n_members ? members : others).push_back({name, rest});
    }
  }
};

partitioned_exact filter_of(const universe& all, unsigned threads = 1) {
  exact_spec spec;
  spec.threads = threads;
  return value_of(partitioned_exact::build(spec, std::span<const partitioned_hash>(all.members),
                                           std::span<const partitioned_hash>(all.others)));
}

template <class F>
std::size_t errors(const F& f, const key_list& keys, bool wanted) {
  const auto answers = std::make_unique<bool[]>(keys.size() + 1);
  f.may_contain(std::span<const partitioned_hash>(keys), {answers.get(), keys.size()});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    wrong += answers[i] != wanted;
    wrong += f.may_contain(keys[i]) != wanted;
    wrong += !f.covers(keys[i]);
  }
  return wrong;
}

template <class F>
void expect_exact(const F& f, const universe& all) {
  EXPECT_EQ(f.size(), all.members.size());
  EXPECT_EQ(errors(f, all.members, true), 0U);
  EXPECT_EQ(errors(f, all.others, false), 0U);
}

/// log2 C(members + others, members).
double information_bits(double members, double others) {
  return (std::lgamma(members + others + 1) - std::lgamma(members + 1) - std::lgamma(others + 1)) /
         std::log(2.0);
}

TEST(partitioned_exact, every_key_of_partitions_of_all_shapes_is_answered_exactly) {
  universe all;
  std::uint64_t partition = 0;
  for (const std::uint64_t members : {0U, 1U, 2U, 3U, 10U, 100U, 1000U}) {
    for (const std::uint64_t others : {0U, 1U, 2U, 5U, 20U, 150U, 1500U, 3000U, 20'000U}) {
      all.add(partition++, members, others);
    }
  }
  expect_exact(filter_of(all), all);
  expect_exact(filter_of(all, 3), all);
}

TEST(partitioned_exact, every_key_of_few_partitions_is_answered_exactly) {
  for (std::uint64_t members = 0; members <= 12; ++members) {
    for (const std::uint64_t others : {0U, 1U, 2U, 3U, 7U, 20U, 41U, 100U, 700U}) {
      universe all;
      all.add(members, members, others);
      if (others % 2 == 1) all.add(1000 + members, others, members);
      const partitioned_exact f = filter_of(all);
      ASSERT_EQ(f.size(), all.members.size());
      ASSERT_EQ(errors(f, all.members, true), 0U) << members << " of " << others;
      ASSERT_EQ(errors(f, all.others, false), 0U) << members << " of " << others;
    }
  }
}

TEST(partitioned_exact, a_plan_has_the_size_of_equal_partitions) {
  universe all;
  for (std::uint64_t partition = 0; partition < 100; ++partition) all.add(partition, 200, 6000);
  const auto plan =
      value_of(plan_exact({.capacity = 20'000, .universe = 620'000, .partitions = 100}));
  EXPECT_EQ(plan.partitions, 100U);
  const auto bytes = static_cast<double>(plan.bytes);
  EXPECT_NEAR(static_cast<double>(filter_of(all).size_in_bytes()), bytes, 0.02 * bytes);
  const auto whole = value_of(plan_exact({.capacity = 20'000, .universe = 620'000}));
  EXPECT_EQ(plan.bytes, whole.bytes + 904);
  EXPECT_EQ(plan.information_bits, whole.information_bits);
  EXPECT_FALSE(plan_exact({.capacity = 10, .universe = 20, .partitions = 21}));
}

TEST(partitioned_exact, a_key_of_another_partition_is_not_covered) {
  universe all;
  for (std::uint64_t partition = 0; partition < 100; ++partition) all.add(partition, 5, 50);
  all.add(100, 0, 5);
  all.add(101, 5, 0);
  const partitioned_exact f = filter_of(all);
  EXPECT_EQ(f.partitions(), 102U);
  universe unknown;
  for (std::uint64_t partition = 200; partition < 1000; ++partition) unknown.add(partition, 3, 0);
  for (const partitioned_hash& h : unknown.members) {
    ASSERT_FALSE(f.covers(h));
    ASSERT_FALSE(f.may_contain(h));
  }
  EXPECT_FALSE(filter_of({}).covers(unknown.members.front()));
  EXPECT_FALSE(filter_of({}).may_contain(unknown.members.front()));
}

TEST(partitioned_exact, equal_keys_of_two_partitions_are_two_keys) {
  const std::vector<std::string> members = {"a\t1", "b\t2"};
  const std::vector<std::string> all = {"a\t1", "a\t2", "a\t3", "b\t1", "b\t2", "b\t3", "c\t1"};
  const auto f = value_of(partitioned_exact::build({}, members, all));
  for (const std::string& key : all) {
    EXPECT_EQ(f.may_contain(key), key == "a\t1" || key == "b\t2") << key;
    EXPECT_TRUE(f.covers(key)) << key;
  }
  EXPECT_FALSE(f.covers("d\t1"));
  EXPECT_FALSE(f.covers("a"));
}

TEST(partitioned_exact, a_key_without_a_tab_has_the_empty_partition) {
  const std::vector<std::string> members = {"x", "\ty", "a\tb\tc"};
  const std::vector<std::string> others = {"z", "a\tb", "a\tb\td"};
  const auto f = value_of(partitioned_exact::build({}, members, others));
  EXPECT_EQ(f.partitions(), 2U);
  for (const std::string& key : members) EXPECT_TRUE(f.may_contain(key)) << key;
  for (const std::string& key : others) EXPECT_FALSE(f.may_contain(key)) << key;
}

TEST(partitioned_exact, the_same_sets_give_the_same_bytes) {
  std::mt19937_64 random(1);
  universe all;
  for (std::uint64_t partition = 0; partition < 200; ++partition) {
    all.add(partition, random() % 700, random() % 7 == 0 ? random() % 30'000 : random() % 800);
  }
  const auto bytes = file_bytes(filter_of(all));
  universe other = all;
  std::shuffle(other.members.begin(), other.members.end(), random);
  std::shuffle(other.others.begin(), other.others.end(), random);
  EXPECT_EQ(file_bytes(filter_of(other, 3)), bytes);
  const key_list once = other.others;
  for (int copy = 0; copy < 3; ++copy) {
    other.others.insert(other.others.end(), once.begin(), once.end());
  }
  other.members.insert(other.members.end(), all.members.begin(), all.members.begin() + 1000);
  EXPECT_EQ(file_bytes(filter_of(other, 2)), bytes) << "four times";
  other.others.insert(other.others.end(), all.members.begin(), all.members.end());
  EXPECT_EQ(file_bytes(filter_of(other, 2)), bytes) << "with the members";
}

TEST(partitioned_exact, a_thousand_partitions_are_near_the_information_bound) {
  universe all;
  for (std::uint64_t partition = 0; partition < 1000; ++partition) all.add(partition, 100, 10'000);
  const partitioned_exact f = filter_of(all, 2);
  expect_exact(f, all);
  // With 1000 members each it is 1.04; the directory of 9 bytes is then a tenth of this.
  EXPECT_LE(8 * static_cast<double>(file_bytes(f).size()),
            1.13 * 1000 * information_bits(100, 10'000));
}

// 6 standard deviations have a chance below 2e-9.
TEST(partitioned_exact, unknown_keys_pass_at_the_rates_that_the_filter_says) {
  universe all;
  all.add(0, 2000, 200'000);
  all.add(1, 2000, 4000);
  all.add(2, 2000, 1000);
  all.add(3, 2000, 0);
  const partitioned_exact f = filter_of(all);
  constexpr std::uint64_t asked = 400'000;
  double mean = 0;
  double lowest = 1;
  double highest = 0;
  for (std::uint64_t partition = 0; partition < 4; ++partition) {
    std::uint64_t passing = 0;
    for (std::uint64_t i = 0; i < asked; ++i) {
      passing += f.may_contain(partitioned_hash{{detail::remix64(partition + 1)},
                                                {detail::remix64((partition + 9) << 40 | i)}});
    }
    const double rate = static_cast<double>(passing) / asked;
    mean += rate / 4;
    lowest = std::min(lowest, rate);
    highest = std::max(highest, rate);
  }
  const auto near = [](double rate) { return 6 * std::sqrt(rate / asked) + 0.003 * rate; };
  EXPECT_NEAR(mean, f.current_fpr(), near(f.current_fpr()));
  EXPECT_NEAR(lowest, f.rates().lowest, near(f.rates().lowest));
  EXPECT_NEAR(highest, f.rates().highest, near(f.rates().highest));
}

TEST(partitioned_exact, a_saved_file_is_mapped_and_answers_the_same) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "partitioned_exact.bloom";
  universe all;
  for (std::uint64_t partition = 0; partition < 20; ++partition) all.add(partition, 100, 3000);
  value_of(save(filter_of(all), path));
  expect_exact(value_of(open<partitioned_exact_view>(path)), all);
  EXPECT_FALSE(open<exact_view>(path));
  const auto any = value_of(open(path));
  EXPECT_EQ(any.info().kind_name, "exact");
  EXPECT_EQ(any.info().hash, hash_id::xxh3_partitioned);
  EXPECT_FALSE(any.covers_all_keys());
  std::filesystem::remove(path);
}

TEST(partitioned_exact, the_registry_builds_the_same_and_tells_what_is_covered) {
  const kind_info& row = *find_kind(filter_kind::exact);
  ASSERT_NE(row.build_of_partitions, nullptr);
  const std::vector<std::string> members = {"a\t1", "b\t2"};
  const std::vector<std::string> all = {"a\t1", "a\t2", "b\t1", "b\t2"};
  plan_request request;
  request.seed = 5;
  const auto hashes = [&](const std::vector<std::string>& keys) {
    key_list list;
    for (const std::string& key : keys) {
      list.push_back(partition_hasher(request.seed)(std::as_bytes(std::span(key))));
    }
    return list;
  };
  const key_list r = hashes(members);
  const key_list s = hashes(all);
  auto any = value_of(row.build_of_partitions(request, partitioned_hash_source::of(r),
                                              partitioned_hash_source::of(s)));
  exact_spec spec;
  spec.seed = 5;
  EXPECT_EQ(serialize(any.image()),
            file_bytes(value_of(partitioned_exact::build(spec, members, all))));
  const std::array<std::string_view, 3> keys = {"a\t1", "a\t2", "c\t1"};
  std::array<bool, 3> answers{};
  any.may_contain(keys, answers);
  EXPECT_EQ(answers, (std::array{true, false, false}));
  any.covers(keys, answers);
  EXPECT_EQ(answers, (std::array{true, true, false}));
  EXPECT_FALSE(any.may_contain(std::array{hash64{1}}, answers));
}

TEST(partitioned_exact, unknown_keys_that_pass_become_exceptions) {
  const auto members = words("ca\tmember", 100);
  const auto others = words("ca\tother", 300);
  const auto bytes = file_bytes(value_of(partitioned_exact::build({}, members, others)));
  const auto stored = value_of(read_bytes(bytes));
  auto any = value_of(open_any(stored, access::read_only, "it"));
  std::vector<std::string> passing;
  for (const std::string& key : words("ca\tunknown", 200)) {
    if (any.may_contain(key)) passing.push_back(key);
  }
  ASSERT_FALSE(passing.empty());
  value_of(any.add_exceptions(std::vector<std::string_view>(passing.begin(), passing.end())));
  for (const std::string& key : passing) EXPECT_FALSE(any.may_contain(key));
  for (const std::string& key : members) EXPECT_TRUE(any.may_contain(key));
}

TEST(partitioned_exact, a_source_that_fails_is_passed_on) {
  universe all;
  all.add(1, 10, 10);
  const auto good = partitioned_hash_source::of(all.members);
  const partitioned_hash_source bad{10, [](const partitioned_hash_source::sink&) -> result<void> {
                                      return fail(errc::io, "the disk is gone");
                                    }};
  int passes = 0;
  const partitioned_hash_source late{10,
                                     [&](const partitioned_hash_source::sink& use) -> result<void> {
                                       if (++passes == 2) return fail(errc::io, "the disk is gone");
                                       return use(all.others);
                                     }};
  for (const auto& f :
       {partitioned_exact::build({}, bad, good), partitioned_exact::build({}, good, bad),
        partitioned_exact::build({}, good, late)}) {
    ASSERT_FALSE(f);
    EXPECT_EQ(f.error().message, "the disk is gone");
  }
}

// Damaged files ----------------------------------------------------------------------------------

TEST(partitioned_exact, damaged_parameters_are_refused_or_read_within_the_file) {
  universe all;
  for (std::uint64_t partition = 0; partition < 5; ++partition) all.add(partition, 100, 3000);
  all.add(7, 100, 200);
  const partitioned_exact f = filter_of(all);
  const auto image = f.image();
  const auto payload = payload_bytes(f);
  for (std::size_t bit = 0; bit < 8 * image.parameters.size(); ++bit) {
    auto block = image.parameters;
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    auto params = partitioned_exact_params::decode(image.header, block);
    if (!params) continue;
    const auto opened = basic_partitioned_exact<borrowed_storage>::open(
        std::move(*params), borrowed_storage(payload), f.size());
    if (!opened) continue;
    static_cast<void>(errors(*opened, all.others, false));
  }
}

TEST(partitioned_exact, a_damaged_directory_is_refused) {
  universe all;
  for (std::uint64_t partition = 0; partition < 5; ++partition) all.add(partition, 100, 3000);
  const partitioned_exact f = filter_of(all);
  const auto payload = payload_bytes(f);
  const auto opens = [&](const std::vector<std::byte>& bytes) {
    return basic_partitioned_exact<borrowed_storage>::open(f.params(), borrowed_storage(bytes),
                                                           f.size())
        .has_value();
  };
  ASSERT_TRUE(opens(payload));
  auto shorter = payload;
  shorter.pop_back();
  EXPECT_FALSE(opens(shorter));
  auto unpadded = payload;
  unpadded.back() = std::byte{1};
  EXPECT_FALSE(opens(unpadded));
  auto unfilled = payload;
  unfilled[45] = std::byte{1};
  EXPECT_FALSE(opens(unfilled)) << "between directory and sections";
  auto swapped = payload;
  std::swap_ranges(swapped.begin(), swapped.begin() + 8, swapped.begin() + 8);
  EXPECT_FALSE(opens(swapped)) << "partitions do not ascend";
  auto twice = payload;
  std::copy_n(twice.begin(), 8, twice.begin() + 8);
  EXPECT_FALSE(opens(twice)) << "a partition is there twice";
  // Of all classes only those exist whose sections do, and two without sections.
  std::size_t classes = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    auto other = payload;
    other[40] = static_cast<std::byte>(byte);
    classes += opens(other);
  }
  const std::size_t with_sections = (f.params().first.size() + 1) * (f.params().guided.size() + 1);
  EXPECT_EQ(classes, 2 * with_sections + 2);
}

}  // namespace partitions
}  // namespace
}  // namespace bloomset::test
