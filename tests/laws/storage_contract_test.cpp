// The contract over every kind and every storage: a filter is read as it was written.

#include <gtest/gtest.h>

#include <array>
#include <concepts>

#include "src/registry/typed_model.hpp"
#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

template <class F>
class stored_kind : public ::testing::Test {
 protected:
  static F original() {
    auto f = make<F>(500, 0.05, 42);
    f.insert(words("member", 500));
    return f;
  }
};
TYPED_TEST_SUITE(stored_kind, insertable_kind_types, filter_names);

template <class Subject>
class stored_contract : public stored_kind<typename Subject::owned> {
  static_assert(membership_filter<typename Subject::type> && std::copyable<typename Subject::type>);
  // Only owned memory can be moved by a host.
  static_assert(std::same_as<typename Subject::storage_type, owned_storage> ||
                !requires(typename Subject::type& f, const memory_mover& mover) {
                  f.relocate(mover);
                });
};
TYPED_TEST_SUITE(stored_contract, filter_types_by_storage, subject_names);

TYPED_TEST(stored_contract, answers_and_figures_are_those_of_the_filter_that_was_written) {
  const auto original = this->original();
  const auto again = reopen<typename TypeParam::storage_type>(original);
  const auto& f = again.filter;
  for (const std::string& key : words("member", 500)) EXPECT_TRUE(f.may_contain(key)) << key;
  const auto non_members = words("non-member", 3000);
  std::vector<char> batch_room(non_members.size());
  const std::span batch(reinterpret_cast<bool*>(batch_room.data()), batch_room.size());
  f.may_contain(non_members, batch);
  for (std::size_t i = 0; i < non_members.size(); ++i) {
    ASSERT_EQ(f.may_contain(non_members[i]), original.may_contain(non_members[i]))
        << non_members[i];
    ASSERT_EQ(batch[i], original.may_contain(non_members[i])) << non_members[i];
    if constexpr (countable<typename TypeParam::type>) {
      ASSERT_EQ(f.count(non_members[i]), original.count(non_members[i])) << non_members[i];
    }
  }
  EXPECT_EQ(f.size(), original.size());
  EXPECT_EQ(f.capacity(), original.capacity());
  EXPECT_EQ(f.planned_fpr(), original.planned_fpr());
  EXPECT_EQ(f.current_fpr(), original.current_fpr());
  EXPECT_EQ(f.estimate_size(), original.estimate_size());
  EXPECT_EQ(f.size_in_bytes(), original.size_in_bytes());
  EXPECT_EQ(file_bytes(f), file_bytes(original));
  const auto empty = make<typename TypeParam::owned>(500, 0.05);
  EXPECT_EQ(file_bytes(reopen<typename TypeParam::storage_type>(empty).filter), file_bytes(empty));
}

TYPED_TEST(stored_kind, its_header_stands_by_itself) {
  const auto original = this->original();
  const auto whole = serialize(original.image());
  const auto header = serialize_header(original.image());
  ASSERT_LT(header.size(), whole.size());
  EXPECT_TRUE(std::ranges::equal(header, std::span(whole).first(header.size())));
  const auto announced = value_of(read_header(header, "header"));
  EXPECT_EQ(announced.header.kind, TypeParam::kind);
  EXPECT_EQ(announced.header.count, original.size());
  EXPECT_EQ(announced.payload_bytes, whole.size() - header.size());
  // Neither with a byte of the payload behind it, nor cut, nor with any byte changed.
  EXPECT_FALSE(read_header(std::span(whole).first(header.size() + 1), "header"));
  for (std::size_t i = 0; i < header.size(); ++i) {
    EXPECT_FALSE(read_header(std::span(header).first(i), "header")) << i;
    auto changed = header;
    changed[i] ^= std::byte{1};
    EXPECT_FALSE(read_header(changed, "header")) << i;
  }
}

/// Inserts, erases, unites and intersects.
template <class F>
void change(F& f) {
  const auto keys = words("more", 300);
  for (const std::string& key : words("single", 20)) f.insert(key);
  f.insert(keys);
  if constexpr (erasable<F>) {
    f.erase(keys.front());
    f.erase(std::span(keys).last(100));
  }
  if constexpr (mergeable<F>) {
    auto other = make<typename F::template rebind_storage<owned_storage>>(500, 0.05, 42);
    for (const std::string& key : words("other", 30)) other.insert(key);
    (void)f.merge(other);
  }
  if constexpr (intersectable<F>) {
    const F same = f;
    value_of(f.intersect(same));
  }
}

TYPED_TEST(stored_contract, what_can_be_written_to_changes_as_the_owned_filter) {
  if constexpr (insertable<typename TypeParam::type>) {
    auto original = this->original();
    auto again = reopen<typename TypeParam::storage_type>(original);
    change(original);
    change(again.filter);
    EXPECT_EQ(file_bytes(again.filter), file_bytes(original));
    again.filter.clear();
    EXPECT_EQ(file_bytes(again.filter), file_bytes(make<typename TypeParam::owned>(500, 0.05, 42)));
  }
}

TYPED_TEST(stored_kind, bytes_may_begin_anywhere_or_are_refused) {
  using filter = typename TypeParam::template rebind_storage<custom_storage>;
  auto original = this->original();
  const auto stored = value_of(read_bytes(file_bytes(original)));
  if constexpr (insertable<filter>) change(original);
  for (const std::size_t lead : {1U, 4U, 8U, 32U, 63U}) {
    auto params = value_of(filter::params_type::decode(stored.header, stored.parameters));
    auto f = filter::open(std::move(params), custom_storage::copy_of(stored.payload.bytes(), lead),
                          stored.header.count);
    // Its kernels write whole cache lines.
    if (filter::kind == filter_kind::vector_quotient) {
      ASSERT_FALSE(f) << lead;
      EXPECT_EQ(f.error().code, errc::invalid_argument);
      EXPECT_NE(f.error().message.find("64"), std::string::npos) << f.error().message;
      continue;
    }
    ASSERT_TRUE(f) << lead << ": " << f.error().message;
    if constexpr (insertable<filter>) change(*f);
    EXPECT_EQ(file_bytes(*f), file_bytes(original)) << lead;
    for (const std::string& key : words("member", 500)) {
      EXPECT_EQ(f->may_contain(key), original.may_contain(key)) << key;
    }
  }
}

// What a kind needs of its storage is said by its type.
class bytes_only {
 public:
  std::span<const std::byte> bytes() const noexcept { return {}; }
};
template <class S>
concept expandable_can_lie_in = requires { typename basic_expandable<S>; };
template <class S>
concept scalable_bloom_can_lie_in = requires { typename basic_scalable_bloom<S>; };
static_assert(relocatable_storage<owned_storage> && !sliceable_storage<owned_storage>);
static_assert(sliceable_storage<mapped_storage> && !writable_storage<mapped_storage>);
static_assert(sliceable_storage<borrowed_storage> && !writable_storage<borrowed_storage>);
static_assert(storage<bytes_only> && !piecewise_storage<bytes_only>);
static_assert(!expandable_can_lie_in<bytes_only> && expandable_can_lie_in<custom_storage>);
static_assert(!scalable_bloom_can_lie_in<bytes_only> && scalable_bloom_can_lie_in<custom_storage>);
static_assert(membership_filter<basic_bloom<double_hashing, bytes_only>> &&
              membership_filter<basic_vector_quotient<bytes_only>> &&
              membership_filter<basic_ribbon<bytes_only>>);

TYPED_TEST(stored_contract, a_filter_over_any_storage_can_be_merged_into_an_owned_one) {
  using owned = typename TypeParam::owned;
  const auto again = reopen<typename TypeParam::storage_type>(this->original());
  if constexpr (requires(owned& f) { f.merge(again.filter); }) {
    auto f = make<owned>(500, 0.05, 42);
    value_of(f.merge(again.filter));
    for (const std::string& key : words("member", 500)) EXPECT_TRUE(f.may_contain(key)) << key;
  } else {
    static_assert(!mergeable<owned>);
  }
}

TYPED_TEST(stored_contract, a_storage_of_the_wrong_size_is_refused) {
  using filter = typename TypeParam::type;
  const auto original = this->original();
  const auto stored = value_of(read_bytes(file_bytes(original)));
  const auto payload = stored.payload.bytes();
  auto longer = value_of(owned_storage::make(payload.size() + 64));
  std::ranges::copy(payload, longer.writable_bytes().begin());
  for (const std::size_t size : {std::size_t{0}, payload.size() - 1, payload.size() + 64}) {
    const auto bytes = longer.bytes().first(size);
    auto params = value_of(filter::params_type::decode(stored.header, stored.parameters));
    const auto opened =
        filter::open(std::move(params), storage_of<typename TypeParam::storage_type>(bytes), 0);
    ASSERT_FALSE(opened) << size;
    EXPECT_EQ(opened.error().code, errc::corrupt) << size;
    EXPECT_GT(opened.error().message.size(), 20U) << size;
  }
  const auto opened = filter::open({}, storage_of<typename TypeParam::storage_type>({}), 0);
  ASSERT_FALSE(opened) << "parameters of nothing";
  EXPECT_GT(opened.error().message.size(), 20U);
}

// Parameters whose sizes wrap around to those of the bytes, or that divide by zero.
TEST(stored_parameters, out_of_their_ranges_are_refused) {
  const auto zeros = [](std::uint64_t n) { return value_of(owned_storage::make(n)); };
  const std::uint64_t many = std::uint64_t{1} << 55;
  EXPECT_FALSE(bloom::open({.capacity = 1, .bits = 64, .hashes = 0}, zeros(8), 0));
  EXPECT_FALSE(blocked_bloom::open({.capacity = 1, .blocks = many, .hashes = 8}, zeros(0), 0));
  const blocked_bloom_params too_many_functions{
      .capacity = 1, .blocks = 1, .hashes = 25, .layout = block_layout::free_512};
  EXPECT_FALSE(blocked_bloom::open(too_many_functions, zeros(64), 0));
  EXPECT_FALSE(ribbon::open({.fpr = 0.01, .levels = {ribbon_level{.starts = 0}}}, zeros(64), 1));
  auto one_shard = zeros(128);
  detail::store(one_shard.writable_bytes().data(), detail::fuse_shard{0, 2, 0});
  EXPECT_FALSE(
      fuse::open({.segment_log2 = 62, .shards = 1, .segments = 4}, std::move(one_shard), 0));
}

}  // namespace
}  // namespace bloomset::test
