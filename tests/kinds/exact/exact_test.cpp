// Exact filters: every key of every universe is asked, in a batch and one by one.

#include <gtest/gtest.h>
#include <bloomset/exact.hpp>

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

using key_list = std::vector<hash64>;

/// Keys [from, from + n) of a stream. All are distinct.
key_list keys_of(std::uint64_t stream, std::uint64_t from, std::uint64_t n) {
  key_list all;
  all.reserve(n);
  for (std::uint64_t i = from; i < from + n; ++i) {
    all.push_back({detail::remix64((stream + 1) << 40 | i)});
  }
  return all;
}

exact exact_of(const key_list& members, const key_list& others, unsigned threads = 1) {
  exact_spec spec;
  spec.threads = threads;
  return value_of(
      exact::build(spec, std::span<const hash64>(members), std::span<const hash64>(others)));
}

/// The number of wrong answers.
template <class F>
std::size_t errors(const F& f, const key_list& keys, bool wanted) {
  const auto answers = answers_of(f, keys);
  auto wrong = static_cast<std::size_t>(std::ranges::count(answers, wanted ? 0 : 1));
  for (const hash64 h : keys) wrong += f.may_contain(h) != wanted;
  return wrong;
}

std::uint64_t information_bits(double members, double others) {
  const double q = members / (members + others);
  return static_cast<std::uint64_t>(-(members + others) *
                                    (q * std::log2(q) + (1 - q) * std::log2(1 - q)));
}

TEST(exact, every_key_of_small_universes_is_answered_exactly) {
  for (std::uint64_t members = 0; members <= 40; ++members) {
    for (const std::uint64_t others : {0U, 1U, 2U, 3U, 7U, 20U, 41U, 100U, 700U, 5000U}) {
      const key_list r = keys_of(members, 0, members);
      const key_list s = keys_of(members, members, others);
      const exact f = exact_of(r, s);
      ASSERT_EQ(f.size(), members);
      ASSERT_EQ(errors(f, r, true), 0U) << members << " of " << others;
      ASSERT_EQ(errors(f, s, false), 0U) << members << " of " << others;
    }
  }
}

// With few keys the first section may pass none of the others, once in a thousand times here.
TEST(exact, a_first_section_that_passes_none_is_exact_too) {
  for (std::uint64_t stream = 0; stream < 5000; ++stream) {
    const key_list r = keys_of(stream, 0, 1);
    const key_list s = keys_of(stream, 1, 10);
    const exact f = exact_of(r, s);
    ASSERT_EQ(errors(f, r, true), 0U) << stream;
    ASSERT_EQ(errors(f, s, false), 0U) << stream;
  }
}

TEST(exact, every_key_of_large_universes_is_answered_exactly) {
  for (const std::uint64_t members : {1000U, 20'000U}) {
    for (const double ratio : {0.01, 0.5, 0.99, 1.0, 1.5, 1.7, 2.0, 4.0, 5.0, 9.9, 10.1, 100.0}) {
      const auto others = static_cast<std::uint64_t>(static_cast<double>(members) * ratio);
      const key_list r = keys_of(1, 0, members);
      const key_list s = keys_of(1, members, others);
      const exact f = exact_of(r, s, 2);
      EXPECT_EQ(errors(f, r, true), 0U) << members << ", " << ratio;
      EXPECT_EQ(errors(f, s, false), 0U) << members << ", " << ratio;
      EXPECT_EQ(f.params().negated, ratio < 1);
    }
  }
}

TEST(exact, without_members_no_key_passes_and_without_others_each_does) {
  const key_list some = keys_of(1, 0, 1000);
  const exact none = exact_of({}, some);
  EXPECT_EQ(errors(none, some, false), 0U);
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.size_in_bytes(), 0U);
  EXPECT_EQ(none.current_fpr(), 0);
  const exact all = exact_of(some, {});
  EXPECT_EQ(errors(all, some, true), 0U);
  EXPECT_EQ(all.size(), 1000U);
  EXPECT_EQ(all.size_in_bytes(), 0U);
  EXPECT_EQ(all.current_fpr(), 1);
  EXPECT_EQ(errors(exact_of({}, {}), some, false), 0U);
}

TEST(exact, a_key_of_both_sets_is_a_member) {
  const key_list r = keys_of(1, 0, 3000);
  const key_list s = keys_of(1, 3000, 60'000);
  key_list universe = s;
  universe.insert(universe.end(), r.begin(), r.end());
  const exact f = exact_of(r, universe);
  EXPECT_EQ(errors(f, r, true), 0U);
  EXPECT_EQ(errors(f, s, false), 0U);
  EXPECT_EQ(file_bytes(f), file_bytes(exact_of(r, s)));
}

TEST(exact, the_same_sets_give_the_same_bytes) {
  std::mt19937_64 random(1);
  for (const auto& [members, others] :
       {std::pair{500U, 9000U}, {20'000U, 1000U}, {70'000U, 1'500'000U}, {200'000U, 450'000U}}) {
    key_list r = keys_of(2, 0, members);
    key_list s = keys_of(2, members, others);
    const auto bytes = file_bytes(exact_of(r, s, 1));
    std::shuffle(r.begin(), r.end(), random);
    std::shuffle(s.begin(), s.end(), random);
    EXPECT_EQ(file_bytes(exact_of(r, s, 3)), bytes);
    r.insert(r.end(), r.begin(), r.begin() + 100);
    const key_list once = s;
    for (int copy = 0; copy < 3; ++copy) s.insert(s.end(), once.begin(), once.end());
    EXPECT_EQ(file_bytes(exact_of(r, s, 2)), bytes) << "four times";
  }
}

// 20 keys per unknown key expected to pass: 6 standard deviations have a chance below 2e-9.
TEST(exact, unknown_keys_pass_at_the_rate_that_the_filter_says) {
  for (const double ratio : {0.4, 1.2, 2.0, 10.0, 100.0}) {
    const auto others = static_cast<std::uint64_t>(10'000 * ratio);
    const exact f = exact_of(keys_of(3, 0, 10'000), keys_of(3, 10'000, others));
    constexpr std::size_t asked = 1'000'000;
    const double expected = f.current_fpr() * asked;
    EXPECT_NEAR(static_cast<double>(hits(f, keys_of(4, 0, asked))), expected,
                6 * std::sqrt(expected) + 0.003 * expected)
        << ratio;
  }
}

TEST(exact, the_whole_file_is_near_the_information_bound) {
  struct goal {
    std::uint64_t members;
    std::uint64_t ratio;
    double most;
  };
  for (const goal& each : {goal{100'000, 2, 1.055},
                           {100'000, 10, 1.055},
                           {100'000, 100, 1.035},
                           {10'000, 100, 1.06}}) {
    const key_list r = keys_of(5, 0, each.members);
    const key_list s = keys_of(5, each.members, each.members * each.ratio);
    const exact f = exact_of(r, s, 2);
    const auto least = static_cast<double>(
        information_bits(static_cast<double>(r.size()), static_cast<double>(s.size())));
    EXPECT_LE(8 * static_cast<double>(file_bytes(f).size()), each.most * least) << each.ratio;
    EXPECT_EQ(errors(f, r, true), 0U);
    EXPECT_EQ(errors(f, s, false), 0U);
    const auto plan = value_of(plan_exact({.capacity = r.size(), .universe = r.size() + s.size()}));
    EXPECT_NEAR(static_cast<double>(f.size_in_bytes()), static_cast<double>(plan.bytes),
                0.01 * static_cast<double>(plan.bytes) + 64);
    EXPECT_EQ(f.current_fpr(), plan.fpr);
  }
}

TEST(exact, a_saved_file_is_mapped_and_answers_the_same) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "exact.bloom";
  const key_list r = keys_of(6, 0, 5000);
  const key_list s = keys_of(6, 5000, 80'000);
  const exact f = exact_of(r, s);
  value_of(save(f, path));
  const auto view = value_of(open<exact_view>(path));
  EXPECT_EQ(errors(view, r, true), 0U);
  EXPECT_EQ(errors(view, s, false), 0U);
  const auto any = value_of(open(path));
  EXPECT_EQ(any.size(), 5000U);
  EXPECT_EQ(any.info().kind_name, "exact");
  std::filesystem::remove(path);
}

TEST(exact, keys_of_any_type_are_in_either_set) {
  const std::vector<std::string> members = words("member", 300);
  std::vector<int> others(2000);
  for (int i = 0; i < 2000; ++i) others[static_cast<std::size_t>(i)] = i;
  const exact f = value_of(exact::build({}, members, others));
  for (const std::string& key : members) ASSERT_TRUE(f.may_contain(key));
  for (const int key : others) ASSERT_FALSE(f.may_contain(key));
}

TEST(exact, a_source_that_fails_is_passed_on) {
  const key_list some = keys_of(7, 0, 10);
  const hash_source good = hash_source::of(some);
  const hash_source bad{10, [](const hash_source::sink&) -> result<void> {
                          return fail(errc::io, "the disk is gone");
                        }};
  for (const auto& f : {exact::build({}, bad, good), exact::build({}, good, bad)}) {
    ASSERT_FALSE(f);
    EXPECT_EQ(f.error().message, "the disk is gone");
  }
}

TEST(exact, a_rate_or_a_size_is_refused) {
  const key_list none;
  exact_spec rate;
  rate.fpr = 0.01;
  EXPECT_EQ(
      exact::build(rate, std::span<const hash64>(none), std::span<const hash64>(none)).error().code,
      errc::invalid_argument);
  EXPECT_FALSE(plan_exact({.capacity = 10}));
  EXPECT_FALSE(plan_exact({.capacity = 10, .universe = 9}));
  EXPECT_FALSE(plan_exact({.capacity = 10, .fpr = 0.01, .universe = 90}));
  EXPECT_TRUE(plan_exact({.capacity = 10, .universe = 10}));
}

TEST(exact, the_registry_builds_the_same) {
  const kind_info& row = *find_kind(filter_kind::exact);
  EXPECT_EQ(row.build, nullptr);
  ASSERT_NE(row.build_of_two_sets, nullptr);
  const key_list r = keys_of(8, 0, 700);
  const key_list s = keys_of(8, 700, 9000);
  const auto any = value_of(row.build_of_two_sets({}, hash_source::of(r), hash_source::of(s)));
  EXPECT_EQ(serialize(any.image()), file_bytes(exact_of(r, s)));
  EXPECT_FALSE(row.create({}));
  plan_request request;
  request.capacity = 700;
  EXPECT_FALSE(row.plan(request));
  request.options = {{"universe", "9700"}};
  EXPECT_NEAR(static_cast<double>(value_of(row.plan(request)).bytes),
              static_cast<double>(any.size_in_bytes()), 100);
}

// Damaged parameters -----------------------------------------------------------------------------

// Every byte of the parameters with every single bit changed: refused, or opened and queried within
// the payload (the address sanitizer watches).
TEST(exact, damaged_parameters_are_refused_or_read_within_the_file) {
  const key_list r = keys_of(9, 0, 400);
  const key_list s = keys_of(9, 400, 9000);
  const exact f = exact_of(r, s);
  const auto image = f.image();
  const auto payload = payload_bytes(f);
  for (std::size_t bit = 0; bit < 8 * image.parameters.size(); ++bit) {
    auto block = image.parameters;
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    auto params = exact_params::decode(image.header, block);
    if (!params) continue;
    const auto opened =
        basic_exact<borrowed_storage>::open(std::move(*params), borrowed_storage(payload), 400);
    if (!opened) continue;
    static_cast<void>(hits(*opened, s));
  }
  auto shorter = payload;
  shorter.pop_back();
  EXPECT_FALSE(basic_exact<borrowed_storage>::open(f.params(), borrowed_storage(shorter), 400));
  auto unpadded = payload;
  unpadded.back() = std::byte{1};
  EXPECT_FALSE(basic_exact<borrowed_storage>::open(f.params(), borrowed_storage(unpadded), 400));
}

}  // namespace
}  // namespace bloomset::test
