// A filter that was moved from may only be destroyed or assigned to. Other uses of its bytes are
// asserted. This is a separate program, because it needs assertions in every build.

#undef NDEBUG
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

/// A filter of 300 members of any kind.
template <class F>
F filled() {
  if constexpr (buildable<F>) {
    std::vector<hash64> hashes;
    for (const std::string& key : words("member", 300)) {
      hashes.push_back(xxh3_hasher(7)(bytes_of(std::string_view(key))));
    }
    return built_of<F>(hashes, 0.01, 7);
  } else {
    auto f = make<F>(300, 0.01, 7);
    for (const std::string& key : words("member", 300)) f.insert(key);
    return f;
  }
}

template <class Subject>
class moved_from : public ::testing::Test {};
// Every kind in its own memory, and one kind over each storage: a kind's check of its bytes is the
// same code for each.
template <class List>
struct owned_subjects;
template <class... F>
struct owned_subjects<::testing::Types<F...>> {
  using type = ::testing::Types<subject<F, owned_storage>...>;
};
using subjects = joined<owned_subjects<kind_types>::type,
                        ::testing::Types<subject<blocked_bloom, mapped_storage>,
                                         subject<blocked_bloom, borrowed_storage>,
                                         subject<blocked_bloom, custom_storage>>>::type;
TYPED_TEST_SUITE(moved_from, subjects, subject_names);

#define EXPECT_MOVED_FROM(...) EXPECT_DEATH((void)(__VA_ARGS__), "moved from")

// NOLINTBEGIN(bugprone-use-after-move): that is the test
TYPED_TEST(moved_from, what_uses_its_bytes_is_asserted) {
  using filter = typename TypeParam::type;
  auto again = reopen<typename TypeParam::storage_type>(filled<typename TypeParam::owned>());
  filter f = std::move(again.filter);
  filter moved = std::move(f);
  const auto h = moved.hash_function()(bytes_of(std::string_view("member-0")));
  const std::array hashes = {h};
  const std::span<const typename filter::hash_type> batch(hashes);
  std::array<bool, 1> answers{};
  EXPECT_TRUE(moved.may_contain(h));
  EXPECT_MOVED_FROM(f.may_contain(h));
  EXPECT_MOVED_FROM(f.may_contain("member-0"));
  EXPECT_MOVED_FROM(f.may_contain(batch, answers));
  EXPECT_MOVED_FROM(f.image());
  if constexpr (insertable<filter>) {
    EXPECT_MOVED_FROM(f.insert(h));
    EXPECT_MOVED_FROM(f.insert(batch));
    EXPECT_MOVED_FROM(f.clear());
  }
  if constexpr (erasable<filter>) {
    EXPECT_MOVED_FROM(f.erase(h));
  }
  if constexpr (countable<filter>) {
    EXPECT_MOVED_FROM(f.count(h));
  }
  if constexpr (requires(typename TypeParam::owned& o) { o.merge(f); }) {
    auto other = filled<typename TypeParam::owned>();
    EXPECT_MOVED_FROM(other.merge(f));
    if constexpr (mergeable<filter>) {
      EXPECT_MOVED_FROM(f.merge(other));
    }
  }
}

TYPED_TEST(moved_from, assigned_to_it_is_as_any_other) {
  using filter = typename TypeParam::type;
  auto again = reopen<typename TypeParam::storage_type>(filled<typename TypeParam::owned>());
  const auto bytes = file_bytes(again.filter);
  filter f = std::move(again.filter);
  filter moved = std::move(f);
  f = moved;
  EXPECT_EQ(file_bytes(f), bytes);
  EXPECT_EQ(file_bytes(moved), bytes);
  filter next = std::move(f);
  f = std::move(moved);
  EXPECT_EQ(file_bytes(f), bytes);
  std::swap(f, next);
  std::swap(f, f);
  EXPECT_EQ(file_bytes(f), bytes);
  EXPECT_EQ(file_bytes(next), bytes);
}

TYPED_TEST(moved_from, its_storage_has_no_bytes) {
  using storage_type = typename TypeParam::storage_type;
  const auto bytes = file_bytes(filled<typename TypeParam::owned>());
  auto from = storage_of<storage_type>(bytes);
  auto to = std::move(from);
  EXPECT_TRUE(from.bytes().empty());
  EXPECT_EQ(to.bytes().size(), bytes.size());
  from = std::move(to);
  EXPECT_TRUE(to.bytes().empty());
  EXPECT_EQ(from.bytes().size(), bytes.size());
}

// One kind: the check is any_filter's own.
TEST(moved_from_any, every_call_is_refused) {
  any_filter f = as_any(filled<bloom>(), access::writable);
  any_filter moved = std::move(f);
  const std::array<std::string_view, 1> keys = {"member-0"};
  std::array<bool, 1> answers{};
  EXPECT_TRUE(moved.may_contain("member-0"));
  EXPECT_MOVED_FROM(f.may_contain("member-0"));
  EXPECT_MOVED_FROM(f.may_contain(keys, answers));
  EXPECT_MOVED_FROM(f.info());
  EXPECT_MOVED_FROM(f.can());
  EXPECT_MOVED_FROM(f.size());
  EXPECT_MOVED_FROM(f.insert(keys));
  EXPECT_MOVED_FROM(f.merge(moved));
  EXPECT_MOVED_FROM(moved.merge(f));
  EXPECT_MOVED_FROM(f.image());
  EXPECT_MOVED_FROM(f.copy());
  f = std::move(moved);
  EXPECT_TRUE(f.may_contain("member-0"));
}

// It is built from two sets, and has no bytes if there are no others.
TEST(moved_from_exact, what_uses_its_bytes_is_asserted) {
  const std::array members = {hash64{1}, hash64{2}};
  const std::array others = {hash64{3}};
  exact f = value_of(exact::build({}, members, others));
  const exact moved = std::move(f);
  EXPECT_TRUE(moved.may_contain(members.front()));
  EXPECT_MOVED_FROM(f.may_contain(members.front()));
  EXPECT_MOVED_FROM(f.size_in_bytes());
  exact all = value_of(exact::build({}, members, std::span<const hash64>()));
  const exact all_moved = std::move(all);
  EXPECT_TRUE(all_moved.may_contain(members.front()));
}

// The library may be compiled without its assertion; the call then ends at a null pointer.
TEST(moved_from_handle, has_no_locks_of_the_handle_that_it_was_assigned_to) {
  auto one = filled<vector_quotient>();
  auto other = filled<vector_quotient>();
  auto handle = one.concurrent();
  auto from = other.concurrent();
  handle = std::move(from);
  EXPECT_TRUE(handle.may_contain("member-0"));
  EXPECT_DEATH((void)from.may_contain("member-0"), "");
}
// NOLINTEND(bugprone-use-after-move)

}  // namespace
}  // namespace bloomset::test
