// An operation that a filter lacks does not exist on its type: for hashes, for keys and for batches
// of keys, over every kind and every storage. The registry lists the same abilities for each kind.

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/function_family.hpp"

namespace bloomset::test {
namespace {

using strings = std::vector<std::string>;
using flags = std::span<bool>;
using copies = std::span<std::uint64_t>;

template <class F, class... Arguments>
concept takes_insert = requires(F& f, const Arguments&... with) { f.insert(with...); };
template <class F, class... Arguments>
concept takes_erase = requires(F& f, const Arguments&... with) { f.erase(with...); };
template <class F, class... Arguments>
concept takes_count = requires(F& f, const Arguments&... with) { f.count(with...); };
template <class F, class... Arguments>
concept takes_query = requires(F& f, const Arguments&... with) { f.may_contain(with...); };
template <class F, class Other>
concept takes_merge = requires(F& f, const Other& other) { f.merge(other); };
template <class F, class Other>
concept takes_intersect = requires(F& f, const Other& other) { f.intersect(other); };
template <class F>
concept takes_clear = requires(F& f) { f.clear(); };

/// Whether F has inserts in every form, or in none.
template <class F>
void expect_inserts(bool expected) {
  EXPECT_EQ((takes_insert<F, typename F::hash_type>), expected);
  EXPECT_EQ((takes_insert<F, std::span<const typename F::hash_type>>), expected);
  EXPECT_EQ((takes_insert<F, char[6]>), expected);
  EXPECT_EQ((takes_insert<F, std::string>), expected);
  EXPECT_EQ((takes_insert<F, int>), expected);
  EXPECT_EQ((takes_insert<F, strings>), expected);
  EXPECT_EQ((takes_insert<F, std::vector<int>>), expected);
}
template <class F>
void expect_erases(bool expected) {
  EXPECT_EQ((takes_erase<F, typename F::hash_type>), expected);
  EXPECT_EQ((takes_erase<F, char[6]>), expected);
  EXPECT_EQ((takes_erase<F, int>), expected);
  EXPECT_EQ((takes_erase<F, strings>), expected);
  EXPECT_EQ((takes_erase<F, strings, flags>), expected);
}
template <class F>
void expect_counts(bool expected) {
  EXPECT_EQ((takes_count<F, typename F::hash_type>), expected);
  EXPECT_EQ((takes_count<F, char[6]>), expected);
  EXPECT_EQ((takes_count<F, int>), expected);
  EXPECT_EQ((takes_count<F, strings, copies>), expected);
}

template <class Subject>
void expect_abilities() {
  using F = typename Subject::type;
  using storage = typename Subject::storage_type;
  const abilities& can = find_kind(F::kind)->can;
  // What grows has memory of its own, and so has what is built.
  const bool writable = can.grow ? growable_storage<storage> : writable_storage<storage>;
  expect_inserts<F>(can.insert && writable);
  expect_erases<F>(can.erase && writable);
  expect_counts<F>(can.count);
  expect_inserts<const F>(false);
  expect_erases<const F>(false);
  expect_counts<const F>(can.count);
  EXPECT_TRUE((takes_query<const F, char[6]>));
  EXPECT_TRUE((takes_query<const F, strings, flags>));
  EXPECT_EQ(takes_clear<F>, can.insert && writable);
  EXPECT_EQ((takes_merge<F, F>), can.merge && writable);
  EXPECT_EQ((takes_merge<F, typename Subject::owned>), can.merge && writable);
  EXPECT_EQ((takes_intersect<F, F>), can.intersect && writable);
  EXPECT_EQ(insertable<F>, can.insert && writable);
  EXPECT_EQ(erasable<F>, can.erase && writable);
  EXPECT_EQ(countable<F>, can.count);
  EXPECT_EQ(mergeable<F>, can.merge && writable);
  EXPECT_EQ(intersectable<F>, can.intersect && writable);
  EXPECT_EQ(buildable<F>, find_kind(F::kind)->build != nullptr && growable_storage<storage>);
}

template <class Subject>
class abilities_test : public ::testing::Test {};
TYPED_TEST_SUITE(abilities_test, filter_types_by_storage, subject_names);
TYPED_TEST(abilities_test, exist_exactly_where_the_kind_and_the_storage_have_them) {
  expect_abilities<TypeParam>();
}

template <class Subject>
class static_abilities_test : public ::testing::Test {};
TYPED_TEST_SUITE(static_abilities_test, static_filter_types_by_storage, subject_names);
TYPED_TEST(static_abilities_test, exist_exactly_where_the_kind_and_the_storage_have_them) {
  expect_abilities<TypeParam>();
}

TEST(abilities_of_shared_filters, are_those_of_their_kinds) {
  expect_inserts<concurrent_blocked_bloom>(true);
  expect_erases<concurrent_blocked_bloom>(false);
  expect_counts<concurrent_blocked_bloom>(false);
  expect_inserts<concurrent_vector_quotient>(true);
  expect_erases<concurrent_vector_quotient>(true);
  expect_counts<concurrent_vector_quotient>(true);
}

// The caller's own functions have no name in a file, so that a filter over them is not saved.
constexpr auto plus_three = [](auto x) { return x + 3; };
using family_filter = decltype(bloom_of(10, plus_three));
template <class F>
concept saves = requires(const F& f) { save(f, std::filesystem::path()); };
static_assert(saves<bloom> && saves<fuse>);
static_assert(!saves<family_filter> && !membership_filter<family_filter>);

// A view of borrowed bytes cannot be opened from a file, which nobody would keep.
template <class F>
concept opens = requires { open<F>(std::filesystem::path()); };
static_assert(opens<bloom> && opens<bloom_view>);
static_assert(!opens<bloom::rebind_storage<borrowed_storage>>);

}  // namespace
}  // namespace bloomset::test
