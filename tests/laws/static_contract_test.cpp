// The contract of the kinds that are built once from all their keys, which users may rely on, over
// every such kind and every storage.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "tests/support/chosen_hashes.hpp"
#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

template <class F>
class static_contract : public ::testing::Test {};
TYPED_TEST_SUITE(static_contract, static_filter_types, filter_names);

/// The size that the kind's planner gives for n keys.
template <class F>
std::uint64_t planned_bytes(std::uint64_t n, double fpr) {
  return value_of(find_kind(F::kind)->plan({.capacity = n, .fpr = fpr})).bytes;
}

// Other implementations are known to fail with 11,400 to 11,550 keys.
TYPED_TEST(static_contract, every_number_of_keys_is_built_and_no_member_is_denied) {
  std::vector<std::size_t> sizes;
  for (std::size_t n = 0; n <= 70; ++n) sizes.push_back(n);
  for (const std::size_t n :
       {100U, 128U, 1000U, 1023U, 1025U, 4096U, 20'000U, 100'003U, 1'000'000U}) {
    sizes.push_back(n);
  }
  for (std::size_t n = 11'400; n <= 11'550; n += 3) sizes.push_back(n);
  for (const std::size_t n : sizes) {
    const auto members = hashes_of_stream(n, n);
    const auto f = built_of<TypeParam>(members, 0.01);
    ASSERT_EQ(hits(f, members), n);
    EXPECT_EQ(f.size(), n);
    EXPECT_EQ(f.capacity(), n);
    EXPECT_EQ(f.estimate_size(), static_cast<double>(n));
    EXPECT_LE(f.current_fpr(), 0.01);
    EXPECT_LE(f.planned_fpr(), 0.01);
  }
}

TYPED_TEST(static_contract, many_filters_of_few_keys_are_built) {
  for (std::uint64_t stream = 0; stream < 3000; ++stream) {
    const auto members = hashes_of_stream(1000 + stream, stream % 40);
    const auto f = built_of<TypeParam>(members, 0.05, stream);
    ASSERT_EQ(hits(f, members), members.size()) << stream;
  }
}

TYPED_TEST(static_contract, the_filter_of_no_keys_denies_all_and_can_be_stored) {
  const auto f = built_of<TypeParam>({}, 0.01, 5);
  EXPECT_EQ(hits(f, hashes_of_stream(1, 10'000)), 0U);
  EXPECT_FALSE(f.may_contain("alice"));
  EXPECT_FALSE(f.may_contain(""));
  EXPECT_EQ(f.size(), 0U);
  EXPECT_EQ(f.current_fpr(), 0);
  EXPECT_EQ(f.estimate_size(), 0);
  EXPECT_GT(f.planned_fpr(), 0);
  EXPECT_LE(f.planned_fpr(), 0.01);
  const auto again = reopen<mapped_storage>(f);
  EXPECT_EQ(hits(again.filter, hashes_of_stream(1, 1000)), 0U);
  EXPECT_EQ(file_bytes(again.filter), file_bytes(f));
}

// The rate is that of the fingerprints, whatever the keys. For a request of eps the hits among q
// non-members, pooled over filters, are a binomial with mean mu = q eps' at the filters' own rate
// eps' = current_fpr(): hits outside mu +- 6 sqrt(mu) + 6 have a chance below 1e-8 (Bernstein).
TYPED_TEST(static_contract, non_members_pass_at_the_rate_that_the_filter_says) {
  for (const double eps : {0.5, 0.1, 0.01, 0.0039063, 0.001, 1e-4}) {
    double expected = 0;
    std::uint64_t passed = 0;
    for (const std::size_t n : {7U, 300U, 11'450U, 60'000U}) {
      for (std::uint64_t set = 0; set < 4; ++set) {
        const auto f = built_of<TypeParam>(hashes_of_stream(2 * (n + set), n), eps);
        ASSERT_LE(f.current_fpr(), eps + 1e-14);  // equal hashes
        constexpr std::size_t asked = 100'000;
        passed += hits(f, hashes_of_stream(2 * (n + set) + 1, asked));
        expected += f.current_fpr() * asked;
      }
    }
    EXPECT_NEAR(static_cast<double>(passed), expected, 6 * std::sqrt(expected) + 6) << eps;
  }
}

TYPED_TEST(static_contract, the_same_set_gives_the_same_bytes_in_any_order_with_any_repetitions) {
  std::mt19937_64 random(1);
  for (const std::size_t n : {1U, 2U, 3U, 7U, 1000U, 11'450U, 100'003U}) {
    auto members = hashes_of_stream(n, n);
    const auto bytes = file_bytes(built_of<TypeParam>(members, 0.01, 3));
    std::shuffle(members.begin(), members.end(), random);
    EXPECT_EQ(file_bytes(built_of<TypeParam>(members, 0.01, 3)), bytes) << n;
    auto repeated = members;
    repeated.push_back(members.front());
    EXPECT_EQ(file_bytes(built_of<TypeParam>(repeated, 0.01, 3)), bytes) << n << ", one twice";
    for (int copy = 0; copy < 4; ++copy) {
      repeated.insert(repeated.end(), members.begin(), members.end());
    }
    repeated.insert(repeated.end(), 500, members.back());
    std::shuffle(repeated.begin(), repeated.end(), random);
    const auto f = built_of<TypeParam>(repeated, 0.01, 3);
    EXPECT_EQ(f.size(), n);
    EXPECT_EQ(file_bytes(f), bytes) << n << ", five times";
  }
}

// More than one shard, and more copies than keys.
TYPED_TEST(static_contract, millions_of_repetitions_of_few_keys_are_a_small_filter) {
  const auto members = hashes_of_stream(1, 1000);
  std::vector<hash64> repeated;
  for (int copy = 0; copy < 2000; ++copy) {
    repeated.insert(repeated.end(), members.begin(), members.end());
  }
  const auto f = built_of<TypeParam>(repeated, 0.01);
  EXPECT_EQ(file_bytes(f), file_bytes(built_of<TypeParam>(members, 0.01)));
}

// Several shards.
TYPED_TEST(static_contract, threads_and_pieces_of_the_source_do_not_change_the_filter) {
  const auto members = hashes_of_stream(9, 2'500'000);
  typename TypeParam::spec_type spec;
  spec.fpr = 0.01;
  const auto one = value_of(TypeParam::build(spec, std::span<const hash64>(members)));
  if constexpr (requires { spec.threads; }) spec.threads = 3;
  const auto three = value_of(TypeParam::build(spec, in_pieces(members, 300'000)));
  EXPECT_EQ(payload_bytes(one), payload_bytes(three));
  EXPECT_EQ(hits(one, members), members.size());
  EXPECT_LE(static_cast<double>(one.size_in_bytes()),
            1.01 * static_cast<double>(planned_bytes<TypeParam>(members.size(), 0.01)));
}

// Hashes that were made to be alike are built or refused, in bounded time; what is built denies
// none.
TYPED_TEST(static_contract, hashes_that_are_not_uniform_end) {
  std::vector<std::vector<hash64>> sets(5);
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    sets[0].push_back({i});
    sets[1].push_back({i << 48 | i});
    sets[2].push_back({~i});
    sets[3].push_back({i << 40});
    sets[4].push_back({(i % 256) << 56 | i / 256});
  }
  for (const auto& set : sets) {
    const auto f = built_of<TypeParam>(set, 0.01);
    EXPECT_EQ(hits(f, set), set.size());
  }
}

// All in one shard of several.
TYPED_TEST(static_contract, hashes_of_one_region_are_built) {
  auto members = hashes_of_stream(3, 2'500'000);
  for (hash64& h : members) h.value >>= 4;
  const auto f = built_of<TypeParam>(members, 0.01);
  EXPECT_EQ(hits(f, members), members.size());
}

// 2^16 of them have so many zeros that 10^16 hashes seem to be there.
TYPED_TEST(static_contract, hashes_that_seem_to_be_more_take_no_more_memory) {
  auto members = hashes_of_stream(3, 1'700'000);
  for (std::uint64_t i = 0; i < 1 << 16; ++i) members[i] = {i << 48 | i};
  const auto f = built_of<TypeParam>(members, 0.01);
  EXPECT_EQ(hits(f, members), members.size());
  EXPECT_LE(static_cast<double>(f.size_in_bytes()),
            1.05 * static_cast<double>(planned_bytes<TypeParam>(members.size(), 0.01)));
}

TYPED_TEST(static_contract, a_source_that_fails_is_passed_on) {
  typename TypeParam::spec_type spec;
  spec.fpr = 0.01;
  for (const std::uint64_t size : {std::uint64_t{10}, std::uint64_t{10'000'000}}) {
    const auto f =
        TypeParam::build(spec, hash_source{size, [](const hash_source::sink& use) -> result<void> {
                                             const std::array some = {hash64{1}, hash64{2}};
                                             if (auto ok = use(some); !ok) return ok;
                                             return fail(errc::io, "the disk is gone");
                                           }});
    ASSERT_FALSE(f);
    EXPECT_EQ(f.error().code, errc::io);
    EXPECT_EQ(f.error().message, "the disk is gone");
  }
}

// Cancelled at the first, second, ... step, until a build ends before that step.
TYPED_TEST(static_contract, a_build_is_cancelled_between_its_steps) {
  const auto members = hashes_of_stream(10, 2'500'000);
  typename TypeParam::spec_type spec;
  spec.fpr = 0.01;
  for (const int last : {0, 1, 1 << 20}) {
    std::atomic<int> calls{0};
    hash_source source = in_pieces(members, 1 << 20);
    source.check_cancelled = [&, caller = std::this_thread::get_id()]() -> result<void> {
      EXPECT_EQ(std::this_thread::get_id(), caller) << "a host's check needs its thread";
      if (calls++ < last) return {};
      return fail(errc::io, "cancelled");
    };
    const auto f = TypeParam::build(spec, source);
    ASSERT_EQ(f.has_value(), last == 1 << 20) << last;
    EXPECT_LE(calls, last + 1) << "it does not go on";
    if (f) {
      EXPECT_GE(calls, 2);
    } else {
      EXPECT_EQ(f.error().message, "cancelled");
    }
  }
}

TYPED_TEST(static_contract, what_cannot_be_built_is_refused_with_a_sentence) {
  for (const double fpr : {0.0, 1.0, 2.0, -0.5, std::nan(""), 1e-30}) {
    typename TypeParam::spec_type spec;
    spec.fpr = fpr;
    const auto f = TypeParam::build(spec, std::span<const hash64>());
    ASSERT_FALSE(f) << fpr;
    EXPECT_EQ(f.error().code, errc::invalid_argument) << fpr;
    EXPECT_GT(f.error().message.size(), 20U) << fpr;
  }
  typename TypeParam::spec_type little;
  little.fpr = 0.01;
  little.bits = 8000;
  const auto members = hashes_of_stream(1, 10'000);
  const auto f = TypeParam::build(little, std::span<const hash64>(members));
  ASSERT_FALSE(f);
  EXPECT_EQ(f.error().code, errc::invalid_argument);
}

TYPED_TEST(static_contract, the_registry_builds_the_same_and_says_that_it_takes_no_keys) {
  const kind_info& row = *find_kind(TypeParam::kind);
  EXPECT_FALSE(row.can.insert || row.can.erase || row.can.grow || row.can.merge);
  plan_request request;
  request.fpr = 0.01;
  request.seed = 4;
  const auto members = hashes_of_stream(1, 1000);
  ASSERT_NE(row.build, nullptr);
  auto any = value_of(row.build(request, hash_source::of(members)));
  EXPECT_EQ(serialize(any.image()), file_bytes(built_of<TypeParam>(members, 0.01, 4)));
  const auto info = any.info();
  EXPECT_EQ(info.count, 1000U);
  EXPECT_EQ(info.plan.capacity, 1000U);
  EXPECT_EQ(info.seed, 4U);
  EXPECT_GT(info.fill, 0.5);
  EXPECT_LE(info.fill, 1);
  EXPECT_FALSE(row.create(request));
  EXPECT_FALSE(any.insert(members));
}

// A plan's size is that of the filter, within what a second try at a shard or its share of the keys
// can change.
TYPED_TEST(static_contract, a_plan_is_what_is_built) {
  const kind_info& row = *find_kind(TypeParam::kind);
  for (const std::uint64_t n : {1U, 50U, 1000U, 30'000U, 300'000U}) {
    for (const double eps : {0.1, 0.01, 1e-5}) {
      plan_request request;
      request.capacity = n;
      request.fpr = eps;
      const auto plan = value_of(row.plan(request));
      EXPECT_EQ(plan.capacity, n);
      EXPECT_LE(plan.planned_fpr, eps);
      const auto f = built_of<TypeParam>(hashes_of_stream(n, n), eps);
      EXPECT_EQ(f.planned_fpr(), plan.planned_fpr);
      EXPECT_NEAR(static_cast<double>(f.size_in_bytes()), static_cast<double>(plan.bytes),
                  64 + 0.02 * static_cast<double>(plan.bytes));
    }
  }
}

// Chosen hashes ---------------------------------------------------------------------------------

// Whoever knows the seed makes a build fail. Another seed or a key builds the same hashes: they are
// alike under one seed only.
template <class F, class Chosen>
void expect_refused(Chosen&& chosen_for) {
  for (const std::uint64_t seed : {0U, 7U}) {
    std::vector<hash64> members = chosen_for(seed);
    for (const hash64 h : hashes_of_stream(9, 1000 - members.size())) members.push_back(h);
    typename F::spec_type spec;
    spec.fpr = 0.01;
    spec.seed = seed;
    const auto f = F::build(spec, std::span<const hash64>(members));
    ASSERT_FALSE(f);
    EXPECT_EQ(f.error().code, errc::invalid_argument);
    EXPECT_EQ(f.error().message,
              "the hashes were made to be alike and cannot be laid out; hash the keys with another "
              "seed or with a secret key");
    spec.seed = hash_key{{1, 2}};
    EXPECT_TRUE(F::build(spec, std::span<const hash64>(members)));
  }
}

TEST(chosen_hashes, are_refused_with_a_sentence_by_fuse) {
  expect_refused<fuse>(unpeelable_hashes);
}

TEST(chosen_hashes, are_refused_with_a_sentence_by_ribbon) {
  expect_refused<ribbon>([](std::uint64_t seed) { return unsolvable_hashes(seed); });
}

// Storages and files ----------------------------------------------------------------------------

template <class Subject>
class static_contract_storage : public ::testing::Test {};
TYPED_TEST_SUITE(static_contract_storage, static_filter_types_by_storage, subject_names);

TYPED_TEST(static_contract_storage, answers_and_figures_are_those_of_the_built_filter) {
  using owned = typename TypeParam::owned;
  for (const std::size_t n : {1U, 100U, 20'000U}) {
    const auto members = hashes_of_stream(n, n);
    const auto f = built_of<owned>(members, 0.02, 8);
    const auto again = reopen<typename TypeParam::storage_type>(f);
    EXPECT_EQ(hits(again.filter, members), n);
    for (const hash64 h : hashes_of_stream(n + 1, 5000)) {
      ASSERT_EQ(again.filter.may_contain(h), f.may_contain(h));
    }
    EXPECT_EQ(again.filter.size(), f.size());
    EXPECT_EQ(again.filter.current_fpr(), f.current_fpr());
    EXPECT_EQ(again.filter.size_in_bytes(), payload_bytes(f).size());
    EXPECT_EQ(file_bytes(again.filter), file_bytes(f));
  }
}

TYPED_TEST(static_contract_storage, a_batch_says_what_single_keys_say) {
  using owned = typename TypeParam::owned;
  // Below and beyond 1 MiB, which is asked without fetching ahead.
  for (const auto& [n, eps] : {std::pair{500U, 0.02}, {550'000U, 1e-5}}) {
    const auto members = hashes_of_stream(n, n);
    const auto built = built_of<owned>(members, eps);
    ASSERT_EQ(built.size_in_bytes() > 1U << 20, n > 500);
    const auto again = reopen<typename TypeParam::storage_type>(built);
    const auto& f = again.filter;
    auto asked = hashes_of_stream(n + 1, 300);
    std::copy_n(members.begin(), 150, asked.begin());
    for (std::size_t count = 0; count <= asked.size(); ++count) {
      std::array<bool, 300> answers{};
      f.may_contain(std::span<const hash64>(asked).first(count), answers);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(answers.at(i), f.may_contain(asked[i])) << i << " of " << count;
      }
      for (std::size_t i = count; i < 300; ++i) ASSERT_FALSE(answers.at(i)) << "overrun";
    }
  }
}

TYPED_TEST(static_contract_storage, typed_keys_are_their_hashes) {
  using owned = typename TypeParam::owned;
  std::vector<hash64> hashes;
  for (const std::string& key : words("member", 500))
    hashes.push_back(xxh3_hasher(2)(bytes_of(key)));
  for (std::int32_t i = -100; i < 100; ++i) {
    with_hash(xxh3_hasher(2), i, [&](hash64 h) { hashes.push_back(h); });
  }
  const auto built = built_of<owned>(hashes, 1e-6, 2);
  const auto again = reopen<typename TypeParam::storage_type>(built);
  for (const std::string& key : words("member", 500)) ASSERT_TRUE(again.filter.may_contain(key));
  for (std::int32_t i = -100; i < 100; ++i) {
    ASSERT_TRUE(again.filter.may_contain(i));
    ASSERT_TRUE(again.filter.may_contain(std::int64_t{i}));
  }
  // 2000 non-members at 1e-6: three or more have a chance below 2e-9.
  std::array<bool, 2000> answers{};
  again.filter.may_contain(words("non-member", 2000), answers);
  EXPECT_LT(std::count(answers.begin(), answers.end(), true), 3);
}

TYPED_TEST(static_contract, a_saved_file_is_mapped_again) {
  const auto path = std::filesystem::path(::testing::TempDir()) /
                    fmt::format("static-{}.bloom", name_of<TypeParam>());
  const auto members = hashes_of_stream(6, 200'000);
  const auto f = built_of<TypeParam>(members, 0.01);
  value_of(save(f, path));
  using view = typename TypeParam::template rebind_storage<mapped_storage>;
  EXPECT_EQ(hits(value_of(open<view>(path)), members), members.size());
  EXPECT_EQ(file_bytes(value_of(open<TypeParam>(path))), file_bytes(f));
  EXPECT_EQ(value_of(open(path)).size(), members.size());
  std::filesystem::remove(path);
}

// A filter beside a real set: any keys, in any order, with repetitions.
TYPED_TEST(static_contract, answers_as_a_real_set_does_but_for_its_rate) {
  const bool held = rc::check("no member is denied, and the size is the set's", [] {
    const auto keys =
        *rc::gen::container<std::vector<std::uint16_t>>(rc::gen::arbitrary<std::uint16_t>());
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto bits = *rc::gen::inRange(1, 30);
    std::vector<hash64> hashes;
    for (const std::uint16_t key : keys) {
      with_hash(xxh3_hasher(seed), key, [&](hash64 h) { hashes.push_back(h); });
    }
    const auto f = built_of<TypeParam>(hashes, std::ldexp(1.0, -bits), seed);
    const std::set<std::uint16_t> truth(keys.begin(), keys.end());
    RC_ASSERT(f.size() == truth.size());
    for (const std::uint16_t key : truth) RC_ASSERT(f.may_contain(key));
    const auto again = reopen<borrowed_storage>(f);
    for (const std::uint16_t key : truth) RC_ASSERT(again.filter.may_contain(key));
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace bloomset::test
