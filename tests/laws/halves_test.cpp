// Filters with 128-bit hashes: two halves, both of which must answer yes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bloomset/bloomset.hpp>
#include <bloomset/plan/formulas.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/support/chosen_hashes.hpp"
#include "tests/support/golden_recipes.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

struct subject {
  std::string_view kind;
  hash_seed seed;
};

std::ostream& operator<<(std::ostream& out, const subject& of) {
  return out << of.kind << (of.seed.is_keyed() ? ", keyed" : "");
}

plan_request request_for(const subject& of, std::uint64_t capacity, double fpr) {
  return {.capacity = capacity, .fpr = fpr, .seed = of.seed, .hash_bits = 128};
}

result<any_filter> opened(std::span<const std::byte> bytes, access how = access::read_only) {
  auto stored = read_bytes(bytes);
  if (!stored) return fail(stored.error());
  if (auto ok = unlock(*stored, golden_key, "memory"); !ok) return fail(ok.error());
  return open_any(*stored, how, "memory");
}

class halves : public ::testing::TestWithParam<subject> {
 protected:
  const kind_info& kind = **find_kind(GetParam().kind);
  const std::vector<std::string> members = words("member", 2000);
  any_filter made(const std::vector<std::string>& keys) const {
    return filter_of(kind, request_for(GetParam(), 4000, 0.02), keys);
  }
};

TEST_P(halves, a_key_passes_if_both_halves_let_it_pass) {
  any_filter filter = made(members);
  ASSERT_EQ(filter.halves().size(), 2U);
  auto keys = words("non-member", 3000);
  keys.insert(keys.end(), members.begin(), members.end());
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const auto answers = std::make_unique<bool[]>(keys.size());
  const std::span<bool> all(answers.get(), keys.size());
  filter.may_contain(views, all);
  std::array<unsigned, 3> passing{};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool first = filter.halves()[0].may_contain(keys[i]);
    const bool second = filter.halves()[1].may_contain(keys[i]);
    ASSERT_EQ(all[i], first && second) << keys[i];
    ASSERT_EQ(filter.may_contain(keys[i]), all[i]) << keys[i];
    ASSERT_TRUE(i < 3000 || all[i]) << keys[i];
    passing[0] += first && !second;
    passing[1] += second && !first;
    passing[2] += first && second;
  }
  EXPECT_GT(passing[0], 0U);  // the halves differ
  EXPECT_GT(passing[1], 0U);
}

TEST_P(halves, its_file_opens_with_the_same_answers) {
  const any_filter filter = made(members);
  const auto bytes = serialize(filter.image());
  // What readers of an earlier version refuse.
  EXPECT_EQ(std::to_integer<int>(bytes[at::flags]), GetParam().seed.is_keyed() ? 3 : 2);
  EXPECT_EQ(std::to_integer<int>(bytes[at::hash]), GetParam().seed.is_keyed() ? 5 : 4);
  for (const access how : {access::read_only, access::writable}) {
    any_filter again = value_of(opened(bytes, how));
    EXPECT_EQ(serialize(again.image()), bytes);
    EXPECT_EQ(again.halves().size(), 2U);
    for (const auto& key : members) ASSERT_TRUE(again.may_contain(key)) << key;
    for (const auto& key : words("non-member", 500)) {
      ASSERT_EQ(again.may_contain(key), filter.may_contain(key)) << key;
    }
    const filter_info info = again.info();
    EXPECT_EQ(info.hash, GetParam().seed.is_keyed() ? hash_id::siphash_2x64 : hash_id::xxh3_2x64);
    EXPECT_EQ(info.seed, GetParam().seed.value());
    EXPECT_EQ(info.plan.hash_bits, 128U);
    EXPECT_EQ(info.count, again.size());
    EXPECT_NEAR(info.estimated_size, 2000, 60);
    EXPECT_LE(info.plan.planned_fpr, 0.02 * (1 + 1e-6));
    EXPECT_DOUBLE_EQ(info.current_fpr, again.current_fpr());
    EXPECT_EQ(serialize(value_of(again.copy()).image()), bytes);
  }
  if (!GetParam().seed.is_keyed()) return;
  auto stored = value_of(read_bytes(bytes));
  EXPECT_FALSE(open_any(stored, access::read_only, "memory"));
  EXPECT_FALSE(unlock(stored, hash_key{{1, 2}}, "memory"));
}

// No reader of a typed file takes the first half for the filter.
TEST_P(halves, its_file_is_of_no_type_with_64_bit_hashes) {
  auto stored = value_of(read_bytes(serialize(made(members).image())));
  value_of(unlock(stored, golden_key, "memory"));
  EXPECT_FALSE(open_stored<bloom_view>(stored));
  EXPECT_FALSE(open_stored<blocked_bloom_view>(stored));
  EXPECT_FALSE(open_stored<fuse_view>(stored));
  EXPECT_FALSE(open_stored<ribbon_view>(stored));
}

TEST_P(halves, each_half_is_a_filter_with_64_bit_hashes) {
  const plan_request request = request_for(GetParam(), 4000, 0.02);
  any_filter filter = made(members);
  for (unsigned i = 0; i < 2; ++i) {
    plan_request alone = request;
    alone.fpr = std::sqrt(request.fpr);
    alone.seed = request.seed.half(i);
    alone.hash_bits = 64;
    EXPECT_EQ(serialize(filter.halves()[i].image()),
              serialize(filter_of(kind, alone, members).image()));
  }
}

TEST_P(halves, hashes_go_into_the_halves) {
  any_filter filter = made(members);
  std::array<bool, 1> answer{};
  const std::array hashes = {hash64{1}};
  EXPECT_EQ(filter.may_contain(std::span<const hash64>(hashes), answer).error().code,
            errc::unsupported);
  EXPECT_EQ(filter.insert(std::span<const hash64>(hashes)).error().code, errc::unsupported);
  if (!kind.can.insert) return;
  for (unsigned i = 0; i < 2; ++i) {
    const filter_hasher hash(GetParam().seed.half(i));
    const std::array made_hash = {hash(bytes_of("hashed"))};
    value_of(filter.halves()[i].insert(std::span<const hash64>(made_hash)));
  }
  EXPECT_TRUE(filter.may_contain("hashed"));
}

TEST_P(halves, it_merges_with_its_like_alone) {
  any_filter filter = made(members);
  const auto before = serialize(filter.image());
  const auto more = words("more", 1000);
  const any_filter other = made(more);
  if (!kind.can.merge) {
    EXPECT_EQ(filter.merge(other).error().code, errc::unsupported);
    return;
  }
  auto narrow = request_for(GetParam(), 4000, 0.02);
  narrow.hash_bits = 64;
  auto seeded = request_for(GetParam(), 4000, 0.02);
  seeded.seed = 99;
  for (const plan_request& unlike : {narrow, seeded, request_for(GetParam(), 5000, 0.02)}) {
    any_filter refused = value_of(kind.create(unlike));
    EXPECT_EQ(filter.merge(refused).error().code, errc::incompatible);
    EXPECT_EQ(refused.merge(filter).error().code, errc::incompatible);
    EXPECT_EQ(filter.intersect(refused).error().code, errc::incompatible);
  }
  EXPECT_EQ(serialize(filter.image()), before);
  auto both = members;
  both.insert(both.end(), more.begin(), more.end());
  const any_filter mapped = value_of(opened(serialize(other.image())));
  value_of(filter.merge(mapped));
  const any_filter all = made(both);
  for (const auto& key : both) ASSERT_TRUE(filter.may_contain(key)) << key;
  EXPECT_NEAR(filter.info().estimated_size, all.info().estimated_size, 60);
  value_of(filter.intersect(other));
  for (const auto& key : more) ASSERT_TRUE(filter.may_contain(key)) << key;
}

TEST_P(halves, absent_keys_are_inserted_once) {
  if (!kind.can.insert) return;
  any_filter filter = made(members);
  any_filter one_by_one = made(members);
  std::vector<std::string> keys(members.begin(), members.begin() + 150);
  for (const auto& key : words("new", 150)) keys.insert(keys.end(), 2, key);
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::array<bool, 450> added{};
  const auto done = value_of(filter.insert_absent(views, added));
  EXPECT_EQ(done.done, keys.size());
  EXPECT_EQ(done.inserted, static_cast<std::uint64_t>(std::ranges::count(added, true)));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool absent = !one_by_one.may_contain(keys[i]);
    ASSERT_EQ(added.at(i), absent) << keys[i];
    if (absent) value_of(one_by_one.insert(std::span(views).subspan(i, 1)));
  }
  EXPECT_EQ(serialize(filter.image()), serialize(one_by_one.image()));
  value_of(filter.clear());
  EXPECT_EQ(serialize(filter.image()), serialize(made({}).image()));
}

TEST_P(halves, what_the_kind_cannot_is_refused) {
  any_filter filter = made(members);
  std::array<bool, 1> erased{};
  std::array<std::uint64_t, 1> counts{};
  const std::array<std::string_view, 1> key = {"member-0"};
  EXPECT_EQ(filter.erase(key, erased).error().code, errc::unsupported);
  EXPECT_EQ(filter.count(key, counts).error().code, errc::unsupported);
  EXPECT_EQ(filter.insert(key).has_value(), kind.can.insert);
}

TEST_P(halves, forged_lengths_and_counts_are_refused) {
  const auto good = serialize(made(members).image());
  const auto first = detail::load<std::uint64_t>(good.data() + at::parameters);
  for (const std::size_t block : {at::parameters, at::parameters + 64 + first}) {
    for (const std::size_t field : {0U, 8U, 16U, 24U, 56U}) {
      const auto is = detail::load<std::uint64_t>(good.data() + block + field);
      for (const std::uint64_t forgery :
           {is + 64, is - 64, is + 1, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
        // The header has the larger count of both.
        if (field == 16 && forgery <= detail::load<std::uint64_t>(good.data() + at::count))
          continue;
        EXPECT_FALSE(opened(forged(good, block + field, forgery))) << field << " " << forgery;
      }
    }
  }
  // The halves of an empty filter: none, or one.
  EXPECT_FALSE(opened(forged(good, at::parameters, std::uint64_t{0})));
  // A byte between the halves.
  const auto payload = good.size() - detail::load<std::uint64_t>(good.data() + at::payload_bytes);
  const auto of_first = detail::load<std::uint64_t>(good.data() + at::parameters + 8);
  if (of_first % 64 != 0) {
    EXPECT_FALSE(opened(forged(good, payload + of_first, std::uint8_t{1})));
  }
}

TEST_P(halves, halves_of_two_shapes_are_refused) {
  if (!kind.can.insert) return;
  const auto good = serialize(made(members).image());
  // capacity, rate and number of functions of the first half
  for (const std::size_t field : {0U, 8U, 24U}) {
    auto bytes = good;
    bytes[at::parameters + 64 + field] ^= std::byte{1};
    reseal(bytes);
    EXPECT_FALSE(opened(bytes)) << field;
  }
}

// At a rate of 1/16 for each half, 100,000 non-members of a kind of key pass one half 6250 times
// and both 390 times. The bounds are six standard deviations (a false alarm below 1e-8).
TEST_P(halves, the_rate_is_the_product_of_both) {
  const plan_request request = request_for(GetParam(), 2000, 1.0 / 256);
  const auto long_key = [](std::uint64_t i) { return std::string(300, 'x') + std::to_string(i); };
  const auto number = [](std::uint64_t i) {
    return std::string(reinterpret_cast<const char*>(&i), sizeof i);
  };
  const auto text = [](std::uint64_t i) { return std::to_string(i); };
  for (const std::function<std::string(std::uint64_t)>& key :
       {std::function<std::string(std::uint64_t)>(number), {text}, {long_key}}) {
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < 2000; ++i) keys.push_back(key(i));
    any_filter filter = filter_of(kind, request, keys);
    std::array<double, 3> passing{};
    constexpr double asked = 100'000;
    for (std::uint64_t i = 2000; i < 102'000; ++i) {
      const bool first = filter.halves()[0].may_contain(key(i));
      const bool second = filter.halves()[1].may_contain(key(i));
      passing[0] += first;
      passing[1] += second;
      passing[2] += first && second;
    }
    const double product = passing[0] * passing[1] / asked;
    EXPECT_LT(std::abs(passing[2] - product), 6 * std::sqrt(product) + 1);
    for (unsigned i = 0; i < 2; ++i) {
      const double expected = asked * filter.halves()[i].current_fpr();
      // The rate of one filter of 2000 keys scatters by some percent beside the counting.
      EXPECT_NEAR(passing.at(i), expected, 6 * std::sqrt(expected) + 0.15 * expected);
    }
    EXPECT_LE(filter.info().plan.planned_fpr, 1.0 / 256 * (1 + 1e-6));
  }
}

INSTANTIATE_TEST_SUITE_P(kinds, halves,
                         ::testing::Values(subject{"bloom", 7}, subject{"blocked_bloom", 0},
                                           subject{"fuse", 5}, subject{"ribbon", 0},
                                           subject{"bloom", golden_key},
                                           subject{"fuse", golden_key}),
                         [](const auto& test) {
                           return std::string(test.param.kind) +
                                  (test.param.seed.is_keyed() ? "_keyed" : "");
                         });

// Keys with equal 64-bit hashes --------------------------------------------------------------

/// The key of 8 bytes whose XXH3 with seed 0 is `hash`. XXH3 is a bijection of such keys: an
/// exclusive-or with a constant, then the steps that are undone here in reverse order.
std::uint64_t key_with(std::uint64_t hash) {
  const auto undo = [](std::uint64_t h) {
    constexpr std::uint64_t undo_factor = inverse(0x9fb21c651e98df25);
    h = unshifted(h, 28) * undo_factor;
    h ^= (h >> 35) + 8;
    h *= undo_factor;
    // x ^ rotl(x, 49) ^ rotl(x, 24) has order 64.
    for (int i = 0; i < 63; ++i) h = h ^ std::rotl(h, 49) ^ std::rotl(h, 24);
    return std::rotl(h, 32);  // the halves of the key are exchanged
  };
  const std::array<std::byte, 8> zeros{};
  return undo(hash) ^ undo(xxh3_hasher(0)(zeros).value);
}

TEST(collisions, a_key_with_the_hash_of_a_member_passes_64_bits_and_not_128) {
  const std::string member = "alice@example.com";
  const std::uint64_t forged = key_with(xxh3_hasher(0)(bytes_of(member)).value);
  std::string twin(sizeof forged, '\0');
  std::memcpy(twin.data(), &forged, sizeof forged);
  ASSERT_EQ(xxh3_hasher(0)(bytes_of(twin)), xxh3_hasher(0)(bytes_of(member)));
  for (const kind_info& kind : kinds()) {
    if (!kind.takes_128_bits) continue;
    for (const unsigned bits : {64U, 128U}) {
      const any_filter filter = filter_of(
          kind, {.capacity = 1, .fpr = bits == 64 ? 1e-9 : 1e-16, .hash_bits = bits}, {member});
      EXPECT_TRUE(filter.may_contain(member));
      EXPECT_EQ(filter.may_contain(twin), bits == 64) << kind.name;
    }
  }
}

TEST(collisions, both_seeds_have_different_hashes) {
  const hash_seed keyed(golden_key);
  EXPECT_EQ(keyed.half(0), keyed);
  EXPECT_NE(keyed.half(1), keyed);
  EXPECT_TRUE(keyed.half(1).is_keyed());
  EXPECT_EQ(hash_seed(5).half(1).value(), 5 ^ 0x9e3779b97f4a7c15U);
}

// Plans ----------------------------------------------------------------------------------------

TEST(plans_of_halves, a_rate_below_64_bit_hashes_is_planned_with_128) {
  for (const kind_info& kind : kinds()) {
    if (!kind.takes_128_bits) continue;
    const std::string_view name = kind.name;
    const auto plan = value_of(kind.plan({.capacity = 500'000'000, .fpr = 1e-12}));
    EXPECT_EQ(plan.hash_bits, 128U) << name;
    EXPECT_LE(plan.planned_fpr, 1e-12) << name;
    EXPECT_GT(plan.planned_fpr, 0.5e-12) << name;
    EXPECT_LT(plan.bits_per_key(), 80) << name;
    EXPECT_EQ(value_of(kind.plan({.capacity = 1000, .fpr = 0.001})).hash_bits, 64U);
    const auto forced = value_of(kind.plan({.capacity = 1000, .fpr = 0.001, .hash_bits = 128}));
    EXPECT_EQ(forced.hash_bits, 128U);
    EXPECT_LE(forced.planned_fpr, 0.001);
    // Below 128-bit hashes too, and what the sentence says.
    const auto refused = kind.plan({.capacity = 500'000'000, .fpr = 1e-30});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("a rate of 1e-30 is too low for this kind"),
              std::string::npos);
    EXPECT_FALSE(kind.plan({.capacity = 1000, .fpr = 0.01, .hash_bits = 32}));
    if (kind.build == nullptr) {
      EXPECT_FALSE(kind.plan({.capacity = 1000, .fpr = 1e-12, .bits = 1})) << name;
    }
    const auto above = kind.plan({.capacity = 1000, .fpr = 2, .hash_bits = 128});
    ASSERT_FALSE(above);
    EXPECT_EQ(above.error().message.find("too low"), std::string::npos) << above.error().message;
  }
}

TEST(plans_of_halves, sizes_of_bloom_fuse_and_ribbon_are_those_of_one_filter) {
  for (const std::string_view name : {"bloom", "ribbon"}) {
    const kind_info& kind = **find_kind(name);
    const auto one = value_of(kind.plan({.capacity = 1'000'000, .fpr = 1e-8}));
    const auto two = value_of(kind.plan({.capacity = 1'000'000, .fpr = 1e-8, .hash_bits = 128}));
    EXPECT_NEAR(two.bits_per_key() / one.bits_per_key(), 1, 0.01) << name;
  }
}

TEST(plans_of_halves, every_rate_counts_equal_hashes) {
  for (const kind_info& kind : kinds()) {
    for (const std::uint64_t n : {std::uint64_t{1} << 24, std::uint64_t{1} << 33}) {
      for (double fpr = 1e-3; fpr > 1e-16; fpr /= 3) {
        const auto plan = kind.plan({.capacity = n, .fpr = fpr});
        if (!plan || kind.kind >= filter_kind{0x8000}) continue;
        // A fuse filter neglects a thousandth.
        EXPECT_LE(plan->planned_fpr, fpr * 1.001) << kind.name << " " << n << " " << fpr;
        if (plan->hash_bits == 64) {
          EXPECT_GE(plan->planned_fpr, formulas::hash_collision_fpr(static_cast<double>(n)))
              << kind.name << " " << n << " " << fpr;
        }
      }
    }
  }
}

TEST(plans_of_halves, memory_and_a_low_rate_hold_as_many_keys_as_the_memory_allows) {
  const kind_info& kind = **find_kind("bloom");
  const plan_request request{.fpr = 1e-12, .bits = 80'000'000'000};
  const auto plan = value_of(kind.plan(request));
  EXPECT_EQ(plan.hash_bits, 128U);
  EXPECT_LE(plan.bits, request.bits);
  EXPECT_GT(plan.capacity, 1'390'000'000U);
}

TEST(plans_of_halves, a_kind_without_halves_and_an_odd_number_of_functions_are_refused) {
  for (const kind_info& kind : kinds()) {
    const plan_request request{.capacity = 1000, .fpr = 0.01, .hash_bits = 128};
    EXPECT_EQ(kind.plan(request).has_value(), kind.takes_128_bits) << kind.name;
  }
  const kind_info& bloom = **find_kind("bloom");
  EXPECT_FALSE(bloom.plan({.capacity = 1000, .hashes = 7, .hash_bits = 128}));
}

TEST(plans_of_halves, an_unknown_number_of_keys_is_taken_to_be_large) {
  const kind_info& kind = **find_kind("bloom");
  EXPECT_EQ(hash_bits_for(kind, {.fpr = 1e-12}), 128U);
  EXPECT_EQ(hash_bits_for(kind, {.fpr = 1e-8}), 64U);
  EXPECT_EQ(hash_bits_for(kind, {.capacity = 1000, .fpr = 1e-12}), 64U);
  EXPECT_EQ(hash_bits_for(kind, {.fpr = 1e-8, .hash_bits = 128}), 128U);
}

TEST(plans_of_halves, the_name_of_a_hash_function_chooses_it) {
  for (const bool keyed : {false, true}) {
    for (const std::string_view name :
         {"xxh3", "xxh3-2x64", "siphash", "siphash-2x64", "md5", ""}) {
      plan_request request{.seed = keyed ? hash_seed(golden_key) : hash_seed()};
      const auto chosen = choose_hash(request, name);
      const bool fits = name.starts_with(keyed ? "siphash" : "xxh3");
      EXPECT_EQ(chosen.has_value(), fits) << name;
      EXPECT_EQ(request.hash_bits, fits && name.ends_with("2x64") ? 128U : 0U) << name;
    }
  }
}

}  // namespace
}  // namespace bloomset::test
