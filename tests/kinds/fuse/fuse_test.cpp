// The fuse filter beyond the contract of static kinds: sizes, every width, shards, directory and
// plan.

#include <bloomset/fuse.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bloomset/detail/core/hash_shards.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

using detail::remix64;

fuse fuse_of(std::span<const hash64> hashes, fuse_spec spec) {
  return value_of(fuse::build(spec, hashes));
}

// Every width and arity has all members and the rate 2^-w. Of q non-members, hits outside
// mu +- 6 sqrt(mu) + 6 have a chance below 1e-8.
TEST(fuse, fingerprints_of_every_width) {
  const auto members = hashes_of_stream(1, 3000);
  const auto non_members = hashes_of_stream(2, 100'000);
  for (unsigned w = 1; w <= 32; ++w) {
    for (const unsigned arity : {3U, 4U}) {
      const auto f = fuse_of(members, {.arity = arity, .fingerprint_bits = w});
      ASSERT_EQ(hits(f, members), members.size()) << w;
      EXPECT_EQ(f.params().fingerprint_bits, w);
      EXPECT_EQ(f.params().arity, arity);
      const double mu = std::ldexp(static_cast<double>(non_members.size()), -static_cast<int>(w));
      EXPECT_NEAR(static_cast<double>(hits(f, non_members)), mu, 6 * std::sqrt(mu) + 6) << w;
      EXPECT_NEAR(f.planned_fpr(), std::ldexp(1.0, -static_cast<int>(w)), 1e-15);
    }
  }
}

// Graf and Lemire have 1.125 and 1.075 times the lower bound for large sets.
TEST(fuse, bits_a_key_are_those_of_the_literature) {
  const auto members = hashes_of_stream(3, 1'000'000);
  for (const auto& [arity, most] : std::map<unsigned, double>{{3, 9.05}, {4, 8.65}}) {
    const auto f = fuse_of(members, {.arity = arity, .fingerprint_bits = 8});
    EXPECT_LE(static_cast<double>(f.size_in_bytes()) * 8 / 1e6, most) << arity;
  }
}

// The first try fails for one set in five, so that some of these sets needed a second and a third.
// Sizes are the planned ones except for sets that needed five (one in 600).
TEST(fuse, a_set_that_does_not_fit_at_once_is_tried_with_other_seeds) {
  std::map<std::uint64_t, int> seeds;
  int larger = 0;
  constexpr int sets = 400;
  for (int set = 0; set < sets; ++set) {
    const auto members = hashes_of_stream(static_cast<std::uint64_t>(set), 500);
    const auto f = fuse_of(members, {.fingerprint_bits = 4});
    ASSERT_EQ(hits(f, members), members.size());
    ++seeds[detail::load<detail::fuse_shard>(f.image().payload.front().data()).seed];
    const auto plan = value_of(plan_fuse({.capacity = 500, .fingerprint_bits = 4}));
    larger += f.params().segments != plan.params.segments;
  }
  EXPECT_GE(seeds.size(), 3U);
  EXPECT_LE(larger, sets / 40);
}

// In a filter of 16 MiB and several shards, a batch of one key per cache line is partitioned by
// shard, and answered in its own order. A batch of equal keys does not fit into its shard's part.
TEST(fuse, large_batches_by_shard_are_as_one_by_one) {
  const auto members = hashes_of_stream(7, 3'900'000);
  const auto f = fuse_of(members, {.fingerprint_bits = 32});
  ASSERT_GE(f.params().shards, 2U);
  ASSERT_GE(f.size_in_bytes(), std::uint64_t{1} << 24);
  auto asked = hashes_of_stream(8, 300'000);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (remix64(i) % 3 == 0) asked[i] = members[i];
  }
  ASSERT_GE(asked.size(), f.size_in_bytes() / 64);
  const auto answers = std::make_unique<bool[]>(asked.size());
  f.may_contain(asked, {answers.get(), asked.size()});
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(answers[i], f.may_contain(asked[i])) << i;
  }
  std::fill(asked.begin() + 1, asked.end(), members.front());
  f.may_contain(asked, {answers.get(), asked.size()});
  EXPECT_EQ(answers[0], f.may_contain(asked[0]));
  EXPECT_EQ(std::count(answers.get() + 1, answers.get() + asked.size(), true),
            static_cast<std::ptrdiff_t>(asked.size() - 1));
}

// The bytes are the same on every machine, and in every version unless the changelog says
// otherwise. Small filters have golden files.
TEST(fuse, the_bytes_of_a_large_filter_are_pinned) {
  const auto members = hashes_of_stream(6, 2'500'000);
  const auto f = fuse_of(members, {.arity = 4, .fingerprint_bits = 9, .seed = 1});
  EXPECT_EQ(xxh3_hasher()(f.image().payload.front()).value, 1377902886753908172U);
}

TEST(fuse, memory_that_was_promised_is_kept_or_refused) {
  const auto members = hashes_of_stream(7, 10'000);
  const auto fits = fuse_of(members, {.capacity = 10'000, .bits = 120'000});
  EXPECT_LE(fits.size_in_bytes() * 8, 120'000U);
  EXPECT_EQ(hits(fits, members), members.size());
  const auto too_small = fuse::build({.fpr = 0.01, .bits = 60'000}, std::span(members));
  ASSERT_FALSE(too_small);
  EXPECT_EQ(too_small.error().code, errc::invalid_argument);
}

// Hostile directories: no place may be outside the fingerprints
// -------------------------------------

TEST(fuse_hostile, a_directory_that_does_not_fit_is_refused) {
  using detail::fuse_shard;
  // Two shards of six segments of 16 fingerprints.
  const fuse_params params{.fingerprint_bits = 5, .segment_log2 = 4, .shards = 2, .segments = 12};
  const auto opened = [&](std::size_t offset, auto value, std::uint64_t count = 100) {
    auto payload = value_of(owned_storage::make(params.payload_bytes()));
    std::byte* const bytes = payload.writable_bytes().data();
    detail::store(bytes, fuse_shard{0, 4, 1});
    detail::store(bytes + sizeof(fuse_shard), fuse_shard{6, 4, 2});
    detail::store(bytes + offset, value);
    return fuse::open(params, std::move(payload), count);
  };
  ASSERT_TRUE(opened(4, 4U));
  for (const std::size_t starts : {4U, 20U}) {
    for (const std::uint32_t value : {0U, 1U, 3U, 5U, ~0U, ~0U - 1}) {
      const auto found = opened(starts, value);
      ASSERT_FALSE(found) << value;
      EXPECT_EQ(found.error().code, errc::corrupt);
    }
  }
  EXPECT_FALSE(opened(0, 1U));
  EXPECT_FALSE(opened(16, 7U));
  EXPECT_FALSE(opened(16, 5U));
  const std::size_t fingerprints = params.directory_bytes();
  EXPECT_FALSE(opened(32, std::uint8_t{1})) << "beyond the directory";
  EXPECT_FALSE(opened(fingerprints + 192 * 5 / 8, std::uint8_t{1})) << "beyond the fingerprints";
  EXPECT_FALSE(opened(params.payload_bytes() - 1, std::uint8_t{1})) << "beyond the fingerprints";
  EXPECT_FALSE(opened(4, 4U, params.slots() + 1)) << "more keys than fingerprints";
  EXPECT_FALSE(opened(4, 4U, 0));
}

// Plans ------------------------------------------------------------------------------------------

TEST(fuse_plan, finds_what_is_left_open) {
  const auto by_rate = value_of(plan_fuse({.capacity = 1'000'000, .fpr = 0.01}));
  EXPECT_EQ(by_rate.params.arity, 3U);
  EXPECT_EQ(by_rate.params.fingerprint_bits, 7U);
  EXPECT_LE(by_rate.fpr, 0.01);
  // A rate of 2^-8 needs 8 bits, a lower one 9.
  EXPECT_EQ(value_of(plan_fuse({.capacity = 9, .fpr = 0x1p-8})).params.fingerprint_bits, 8U);
  EXPECT_EQ(value_of(plan_fuse({.capacity = 9, .fpr = 0.0039})).params.fingerprint_bits, 9U);
  for (const std::uint64_t bits : {10'000U, 1'000'000U, 80'000'000U}) {
    const auto by_size = value_of(plan_fuse({.fpr = 0.01, .bits = bits}));
    EXPECT_LE(by_size.params.payload_bytes() * 8, bits);
    EXPECT_GT(static_cast<double>(by_size.capacity), 0.65 * static_cast<double>(bits) / 7);
    const auto again = value_of(plan_fuse({.capacity = by_size.capacity, .bits = bits}));
    EXPECT_LE(again.params.payload_bytes() * 8, bits);
    EXPECT_LE(again.fpr, by_size.fpr);
  }
}

TEST(fuse_plan, is_monotone_enough_and_bounded_from_one_key_to_the_most) {
  for (const unsigned arity : {3U, 4U}) {
    for (double n = 1; n <= 0x1p42; n *= 1.37) {
      const auto keys = static_cast<std::uint64_t>(n);
      const auto plan =
          value_of(plan_fuse({.capacity = keys, .arity = arity, .fingerprint_bits = 8}));
      const double slots = static_cast<double>(plan.params.slots());
      EXPECT_GE(slots, n) << arity;
      // Dense peeling needs at least 1.09 and 1.024 slots per key; small sets need more, and a few
      // segments.
      EXPECT_LE(slots, (arity == 3 ? 1.14 : 1.09) * n + 60 * std::sqrt(n) + 20) << keys;
      EXPECT_LT(plan.params.segments, std::uint64_t{1} << 32) << "the directory has 32 bits";
    }
  }
}

// Equal hashes add less than a thousandth to a rate that fingerprints reach exactly.
TEST(fuse_plan, reaches_powers_of_two) {
  EXPECT_EQ(value_of(plan_fuse({.fpr = 0x1p-16, .bits = 8'000'000'000})).params.fingerprint_bits,
            16U);
  EXPECT_EQ(value_of(plan_fuse({.capacity = 10'000'000, .fpr = 0x1p-24})).params.fingerprint_bits,
            24U);
  EXPECT_FALSE(plan_fuse({.capacity = 1'000'000'000, .fpr = 0x1p-32}));
}

TEST(fuse_plan, refuses_in_a_sentence) {
  const fuse_spec bad[] = {
      {},
      {.capacity = 10},
      {.fpr = 0.01},
      {.bits = 1000},
      {.capacity = max_fuse_keys + 1, .fpr = 0.01},
      {.capacity = 10, .fpr = 1},
      {.capacity = 10, .fpr = std::nan("")},
      {.capacity = 10, .fpr = 1e-11},
      {.capacity = 10, .fpr = 0.01, .arity = 5},
      {.capacity = 10, .fingerprint_bits = 33},
      {.capacity = 10, .fpr = 1e-3, .fingerprint_bits = 8},
      {.capacity = 1000, .bits = 500},
      {.capacity = 1000, .fpr = 0.01, .bits = 5000},
      {.fpr = 0.01, .bits = 100},
  };
  for (const fuse_spec& spec : bad) {
    const auto plan = plan_fuse(spec);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, errc::invalid_argument);
    EXPECT_GT(plan.error().message.size(), 30U);
    EXPECT_EQ(plan.error().message.find('\n'), std::string::npos);
  }
}

// The hashes of a source by shard ----------------------------------------------------------------

TEST(hash_shards, every_hash_comes_once_in_its_shard_and_in_order) {
  const auto hashes = hashes_of_stream(9, 9'000'000);  // a group of three shards, and one of one
  std::array<std::vector<hash64>, 4> wanted;
  for (const hash64 h : hashes) wanted.at(detail::shard_of(h, wanted.size())).push_back(h);
  for (const unsigned threads : {1U, 3U}) {
    int passes = 0;  // over the source, one for each group
    hash_source source = in_pieces(hashes, 1'000'000);
    source.for_each = [&, all = source.for_each](const hash_source::sink& use) {
      ++passes;
      return all(use);
    };
    std::array<std::vector<hash64>, 4> seen;
    value_of(detail::for_each_shard(
        source, seen.size(), hashes.size(), threads,
        [&](unsigned, std::uint64_t shard, std::span<hash64> some) -> result<void> {
          seen.at(shard).insert(seen.at(shard).end(), some.begin(), some.end());
          return {};
        }));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_TRUE(seen.at(i).size() == wanted.at(i).size() &&
                  std::memcmp(seen.at(i).data(), wanted.at(i).data(),
                              wanted.at(i).size() * sizeof(hash64)) == 0);
    }
    EXPECT_EQ(passes, 2);
  }
}

// Six standard errors: a chance of 2e-9.
TEST(hash_shards, distinct_hashes_are_estimated_alike_by_any_number_of_threads) {
  auto hashes = hashes_of_stream(10, 700'000);
  hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + 300'000);
  const auto one = value_of(detail::estimate_distinct(in_pieces(hashes, 999), 1));
  EXPECT_EQ(value_of(detail::estimate_distinct(hash_source::of(hashes), 5)), one);
  EXPECT_NEAR(static_cast<double>(one), 7e5, 7e5 * 0.0041 * 6);
}

}  // namespace
}  // namespace bloomset::test
