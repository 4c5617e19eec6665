// The contract over every kind behind any_filter: it answers and changes as the typed filter does.

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

template <class F>
class any_contract : public ::testing::Test {
 protected:
  static F original() {
    auto f = make<F>(500, 0.05, 42);
    for (const std::string& key : words("member", 500)) f.insert(key);
    return f;
  }
  static std::vector<std::string_view> views(const std::vector<std::string>& keys) {
    return {keys.begin(), keys.end()};
  }
};
TYPED_TEST_SUITE(any_contract, filter_types, filter_names);

TYPED_TEST(any_contract, it_answers_as_the_typed_filter) {
  const auto typed = this->original();
  for (const access how : {access::read_only, access::writable}) {
    const any_filter any = as_any(typed, how);
    const auto keys = words("non-member", 2000);
    const auto asked = this->views(keys);
    std::array<bool, 2000> answers{};
    any.may_contain(asked, answers);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(any.may_contain(keys[i]), typed.may_contain(keys[i])) << keys[i];
      ASSERT_EQ(answers.at(i), typed.may_contain(keys[i])) << keys[i];
    }
    for (const std::string& key : words("member", 500)) EXPECT_TRUE(any.may_contain(key)) << key;
    EXPECT_EQ(any.size(), typed.size());
    EXPECT_EQ(any.capacity(), typed.capacity());
    EXPECT_EQ(any.current_fpr(), typed.current_fpr());
    EXPECT_EQ(serialize(any.image()), file_bytes(typed));

    const filter_info info = any.info();
    EXPECT_EQ(info.kind, TypeParam::kind);
    EXPECT_EQ(info.kind_name, find_kind(TypeParam::kind)->name);
    EXPECT_EQ(info.count, typed.size());
    EXPECT_EQ(info.estimated_size, typed.estimate_size());
    EXPECT_EQ(info.current_fpr, typed.current_fpr());
    EXPECT_EQ(info.plan.capacity, typed.capacity());
    EXPECT_EQ(info.plan.planned_fpr, typed.planned_fpr());
    EXPECT_EQ(info.plan.bytes, typed.size_in_bytes());
    EXPECT_GT(info.plan.bits, 0U);
    EXPECT_GT(info.fill, 0);
    EXPECT_LE(info.fill, 1);
    EXPECT_EQ(info.seed, typed.hash_function().seed());
  }
}

TYPED_TEST(any_contract, hashes_are_asked_as_their_keys) {
  const auto typed = this->original();
  const auto keys = words("non-member", 2000);
  std::array<bool, 2000> answers{};
  for (const access how : {access::read_only, access::writable}) {
    const any_filter any = as_any(typed, how);
    if constexpr (std::same_as<typename TypeParam::hash_type, hash64>) {
      std::vector<hash64> hashes;
      for (const auto& key : keys) {
        hashes.push_back(typed.hash_function()(bytes_of(std::string_view(key))));
      }
      ASSERT_TRUE(any.may_contain(std::span<const hash64>(hashes), answers));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(answers.at(i), typed.may_contain(keys[i])) << keys[i];
      }
    } else {
      const std::array hashes = {hash64{1}};
      EXPECT_EQ(any.may_contain(std::span<const hash64>(hashes), answers).error().code,
                errc::unsupported);
    }
  }
}

TYPED_TEST(any_contract, a_cleared_filter_is_a_new_one) {
  any_filter any = as_any(this->original(), access::writable);
  ASSERT_TRUE(any.clear());
  EXPECT_EQ(any.size(), 0U);
  EXPECT_EQ(serialize(any.image()), file_bytes(make<TypeParam>(500, 0.05, 42)));
}

TYPED_TEST(any_contract, it_changes_as_the_typed_filter) {
  auto typed = this->original();
  any_filter any = as_any(typed, access::writable);
  const auto keys = words("more", 300);
  const auto given = this->views(keys);
  const auto by_any = value_of(any.insert(given));
  const auto by_type = typed.insert(keys);
  EXPECT_EQ(by_any.done, by_type.done);
  EXPECT_EQ(by_any.inserted, by_type.inserted);
  EXPECT_EQ(by_any.maybe_present, by_type.maybe_present);
  EXPECT_EQ(serialize(any.image()), file_bytes(typed));
  if constexpr (std::same_as<typename TypeParam::hash_type, hash64>) {
    const std::array hashes = {typed.hash_function()(bytes_of(std::string_view("hashed")))};
    EXPECT_EQ(value_of(any.insert(std::span<const hash64>(hashes))).done,
              typed.insert(std::span<const hash64>(hashes)).done);
    EXPECT_EQ(serialize(any.image()), file_bytes(typed));
  } else {
    const std::array hashes = {hash64{1}};
    EXPECT_EQ(any.insert(std::span<const hash64>(hashes)).error().code, errc::unsupported);
  }
  if constexpr (countable<TypeParam>) {
    std::array<std::uint64_t, 300> counts{};
    value_of(any.count(given, counts));
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(counts.at(i), typed.count(keys[i]));
  }
  if constexpr (erasable<TypeParam>) {
    std::array<bool, 300> erased{};
    value_of(any.erase(given.empty() ? given : std::span(given).first(by_any.done), erased));
    for (std::size_t i = 0; i < by_any.done; ++i) EXPECT_EQ(erased.at(i), typed.erase(keys[i]));
    EXPECT_EQ(serialize(any.image()), file_bytes(typed));
  }
}

TYPED_TEST(any_contract, it_inserts_what_is_absent_once_and_says_which) {
  const auto half_full = [] {
    auto f = make<TypeParam>(1500, 0.05, 42);
    for (const std::string& key : words("member", 500)) f.insert(key);
    return f;
  };
  const auto typed = half_full();
  any_filter any = as_any(typed, access::writable);
  // Members, new keys, and each of those again, in batches that begin anywhere.
  const auto members = words("member", 150);
  const auto fresh = words("new", 150);
  auto keys = this->views(members);
  for (const std::string& key : fresh) keys.insert(keys.end(), 2, key);
  std::array<bool, 450> added{};
  const std::uint64_t before = any.size();
  const auto done = value_of(any.insert_absent(keys, added));
  EXPECT_EQ(done.done, keys.size());
  EXPECT_EQ(done.inserted, static_cast<std::uint64_t>(std::ranges::count(added, true)));
  EXPECT_EQ(done.maybe_present, keys.size() - done.inserted);
  EXPECT_EQ(any.size(), before + done.inserted);
  auto one_by_one = half_full();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool absent = !one_by_one.may_contain(keys[i]);
    ASSERT_EQ(added.at(i), absent) << keys[i];
    if (absent) one_by_one.insert(keys[i]);
    EXPECT_TRUE(any.may_contain(keys[i])) << keys[i];
  }
  EXPECT_EQ(serialize(any.image()), file_bytes(one_by_one));
  EXPECT_EQ(any.size_in_bytes(), one_by_one.size_in_bytes());

  // Hashes as their keys.
  any_filter by_hash = as_any(typed, access::writable);
  std::array<bool, 450> added_hashes{};
  std::vector<hash64> hashes(1);
  if constexpr (std::same_as<typename TypeParam::hash_type, hash64>) {
    hashes.clear();
    for (const std::string_view key : keys) hashes.push_back(typed.hash_function()(bytes_of(key)));
    const auto all = value_of(by_hash.insert_absent(std::span<const hash64>(hashes), added_hashes));
    EXPECT_EQ(all.inserted, done.inserted);
    EXPECT_EQ(added_hashes, added);
    EXPECT_EQ(serialize(by_hash.image()), serialize(any.image()));
  } else {
    EXPECT_EQ(by_hash.insert_absent(std::span<const hash64>(hashes), added_hashes).error().code,
              errc::unsupported);
  }
}

// The keys behind the one that stopped a batch were not inserted, even those that pass.
TEST(insert_absent, tells_of_no_key_behind_the_last) {
  any_filter filter = value_of((*find_kind("cuckoo"))->create({.capacity = 100, .fpr = 0.01}));
  const auto members = words("member", 3000);
  std::vector<std::string_view> keys(members.begin(), members.end());
  keys.insert(keys.end(), members.begin(), members.begin() + 50);
  const auto added = std::make_unique<bool[]>(keys.size());
  const auto done = value_of(filter.insert_absent(keys, {added.get(), keys.size()}));
  ASSERT_LT(done.done, members.size());
  EXPECT_EQ(done.stopped_by, insert_outcome::full);
  for (std::size_t i = done.done; i < keys.size(); ++i) ASSERT_FALSE(added[i]) << i;
}

TYPED_TEST(any_contract, it_can_what_the_type_can) {
  const auto typed = this->original();
  for (const auto& can : {as_any(typed, access::writable).can(), find_kind(TypeParam::kind)->can}) {
    EXPECT_EQ(can.insert, insertable<TypeParam>);
    EXPECT_EQ(can.erase, erasable<TypeParam>);
    EXPECT_EQ(can.count, countable<TypeParam>);
    EXPECT_EQ(can.merge, mergeable<TypeParam>);
    EXPECT_EQ(can.intersect, intersectable<TypeParam>);
    EXPECT_EQ(can.grow, grows<TypeParam>);
  }
}

/// `kind_can`: the kind can, so that only its being read-only is in the way.
template <class Done>
void expect_unsupported(const Done& done, std::string_view kind_name, bool kind_can) {
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unsupported);
  const std::string& sentence = done.error().message;
  EXPECT_NE(sentence.find(kind_name), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("opened read-only") != std::string::npos, kind_can) << sentence;
}

TYPED_TEST(any_contract, what_it_cannot_do_is_refused_with_a_sentence) {
  const auto typed = this->original();
  const std::string name(find_kind(TypeParam::kind)->name);
  const std::array<std::string_view, 1> keys = {"key"};
  std::array<bool, 1> erased{};
  std::array<std::uint64_t, 1> counts{};
  for (const access how : {access::read_only, access::writable}) {
    any_filter any = as_any(typed, how);
    const any_filter other = as_any(typed, access::read_only);
    const abilities& kind = find_kind(TypeParam::kind)->can;
    const abilities can = any.can();
    if (!can.insert) expect_unsupported(any.insert(keys), name, kind.insert);
    if (!can.insert) expect_unsupported(any.insert_absent(keys, erased), name, kind.insert);
    if (!can.insert) expect_unsupported(any.clear(), name, kind.insert);
    if (!can.erase) expect_unsupported(any.erase(keys, erased), name, kind.erase);
    if (!can.count) expect_unsupported(any.count(keys, counts), name, kind.count);
    if (!can.merge) expect_unsupported(any.merge(other), name, kind.merge);
    if (!can.intersect) expect_unsupported(any.intersect(other), name, kind.intersect);
    EXPECT_EQ(serialize(any.image()), file_bytes(typed));
  }
}

TYPED_TEST(any_contract, read_only_it_cannot_write) {
  const any_filter any = as_any(this->original(), access::read_only);
  EXPECT_FALSE(any.can().insert);
  EXPECT_FALSE(any.can().erase);
  EXPECT_FALSE(any.can().merge);
  EXPECT_FALSE(any.can().intersect);
  EXPECT_EQ(any.can().count, countable<TypeParam>);
}

TYPED_TEST(any_contract, it_merges_what_is_alike_in_memory_or_mapped) {
  if constexpr (mergeable<TypeParam>) {
    const auto typed = this->original();
    for (const access how : {access::read_only, access::writable}) {
      auto expected = make<TypeParam>(500, 0.05, 42);
      any_filter any = as_any(expected, access::writable);
      value_of(any.merge(as_any(typed, how)));
      value_of(expected.merge(typed));
      EXPECT_EQ(serialize(any.image()), file_bytes(expected));
    }
    any_filter any = as_any(typed, access::writable);
    const auto differs = any.merge(as_any(make<TypeParam>(700, 0.001), access::read_only));
    ASSERT_FALSE(differs);
    EXPECT_EQ(differs.error().code, errc::incompatible);
    EXPECT_EQ(serialize(any.image()), file_bytes(typed));
  }
}

TYPED_TEST(any_contract, the_registry_plans_what_it_creates) {
  const kind_info& row = *find_kind(TypeParam::kind);
  plan_request request;
  request.capacity = 3000;
  request.fpr = 0.01;
  request.seed = 11;
  const auto plan = value_of(row.plan(request));
  const auto info = value_of(row.create(request)).info();
  EXPECT_EQ(info.plan.capacity, plan.capacity);
  EXPECT_EQ(info.plan.bits, plan.bits);
  EXPECT_EQ(info.plan.bytes, plan.bytes);
  EXPECT_EQ(info.plan.hashes, plan.hashes);
  EXPECT_EQ(info.plan.planned_fpr, plan.planned_fpr);
  EXPECT_EQ(info.seed, 11U);
}

template <class List>
struct kinds_of;
template <class... F>
struct kinds_of<::testing::Types<F...>> {
  static std::set<filter_kind> all() { return {F::kind...}; }
};

TEST(any_contract_registry, every_kind_is_under_test_and_every_name_is_found) {
  std::set<filter_kind> found;
  std::set<filter_kind> registered;
  for (const kind_info& row : kinds()) {
    EXPECT_TRUE(found.insert(row.kind).second) << row.name << ": two rows of one id";
    // Kinds of two sets have tests of their own.
    if (row.build_of_two_sets == nullptr) registered.insert(row.kind);
    EXPECT_EQ(value_of(find_kind(row.name))->kind, row.kind);
    EXPECT_FALSE(row.summary.empty());
    EXPECT_FALSE(row.strengths.empty());
  }
  EXPECT_EQ(registered, (kinds_of<kind_types>::all()))
      << "a registered kind is missing in tests/support/filter_types.hpp";
  const auto unknown = find_kind("blom");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, errc::invalid_argument);
  for (const kind_info& row : kinds()) {
    EXPECT_NE(unknown.error().message.find(row.name), std::string::npos);
  }
}

}  // namespace
}  // namespace bloomset::test
