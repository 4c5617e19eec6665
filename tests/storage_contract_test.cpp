// The contract over every kind and every storage: a filter is read as it was written, typed or as
// an any_filter.

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <set>

#include "src/registry/any_model.hpp"
#include "tests/filter_types.hpp"

namespace bloomery::test {
namespace {

template <class Subject>
class stored_contract : public ::testing::Test {
 protected:
  static auto original() {
    auto f = make<typename Subject::owned>(500, 0.05, 42);
    for (const std::string& key : words("member", 500)) f.insert(key);
    return f;
  }
};
TYPED_TEST_SUITE(stored_contract, filter_types_by_storage, subject_names);

TYPED_TEST(stored_contract, answers_and_figures_are_those_of_the_filter_that_was_written) {
  const auto original = this->original();
  const auto again = reopen<typename TypeParam::storage_type>(original);
  const auto& f = again.filter;
  for (const std::string& key : words("member", 500)) EXPECT_TRUE(f.may_contain(key)) << key;
  const auto non_members = words("stranger", 3000);
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
}

TYPED_TEST(stored_contract, written_again_it_is_the_same_bytes) {
  const auto original = this->original();
  EXPECT_EQ(file_bytes(reopen<typename TypeParam::storage_type>(original).filter),
            file_bytes(original));
  const auto empty = make<typename TypeParam::owned>(500, 0.05);
  EXPECT_EQ(file_bytes(reopen<typename TypeParam::storage_type>(empty).filter), file_bytes(empty));
}

TYPED_TEST(stored_contract, its_header_stands_by_itself) {
  const auto original = this->original();
  const auto whole = serialize(original.image());
  const auto header = serialize_header(original.image());
  ASSERT_LT(header.size(), whole.size());
  EXPECT_TRUE(std::ranges::equal(header, std::span(whole).first(header.size())));
  const auto announced = value_of(read_header(header, "header"));
  EXPECT_EQ(announced.header.kind, TypeParam::owned::kind);
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

TYPED_TEST(stored_contract, only_what_is_owned_or_writable_can_be_written_to) {
  using filter = typename TypeParam::type;
  using storage_type = typename TypeParam::storage_type;
  // What grows with its keys needs memory that can.
  constexpr bool writable = grows<typename TypeParam::owned> ? growable_storage<storage_type>
                                                             : writable_storage<storage_type>;
  static_assert(membership_filter<filter>);
  static_assert(insertable<filter> == writable);
  static_assert(writable || !erasable<filter>);
  static_assert(writable || !mergeable<filter>);
  static_assert(writable || !intersectable<filter>);
  static_assert(countable<filter> == countable<typename TypeParam::owned>);
  static_assert(!writable || erasable<filter> == erasable<typename TypeParam::owned>);
  static_assert(!writable || mergeable<filter> == mergeable<typename TypeParam::owned>);
  static_assert(!writable || intersectable<filter> == intersectable<typename TypeParam::owned>);
  static_assert(std::copyable<filter>);
  // Only owned memory can be moved by a host.
  static_assert(std::same_as<storage_type, owned_storage> ||
                !requires(filter& f, const memory_mover& mover) { f.relocate(mover); });
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

TYPED_TEST(stored_contract, bytes_may_begin_anywhere_or_are_refused) {
  using filter = typename TypeParam::type;
  if constexpr (std::same_as<typename TypeParam::storage_type, custom_storage>) {
    auto original = this->original();
    const auto stored = value_of(read_bytes(file_bytes(original)));
    if constexpr (insertable<filter>) change(original);
    for (const std::size_t lead : {1U, 4U, 8U, 32U, 63U}) {
      auto params = value_of(filter::params_type::decode(stored.header, stored.parameters));
      auto f =
          filter::open(std::move(params), custom_storage::copy_of(stored.payload.bytes(), lead),
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
    const auto opened = [&] {
      if constexpr (std::same_as<typename TypeParam::storage_type, owned_storage>) {
        return filter::open(std::move(params), value_of(owned_storage::copy_of(bytes)), 0);
      } else if constexpr (std::same_as<typename TypeParam::storage_type, mapped_storage>) {
        return filter::open(std::move(params), mapped_storage(nullptr, bytes), 0);
      } else if constexpr (std::same_as<typename TypeParam::storage_type, custom_storage>) {
        return filter::open(std::move(params), custom_storage::copy_of(bytes), 0);
      } else {
        return filter::open(std::move(params), borrowed_storage(bytes), 0);
      }
    }();
    ASSERT_FALSE(opened) << size;
    EXPECT_EQ(opened.error().code, errc::corrupt) << size;
    EXPECT_GT(opened.error().message.size(), 20U) << size;
  }
}

TYPED_TEST(stored_contract, parameters_of_nothing_are_refused) {
  using filter = typename TypeParam::type;
  const auto opened = [] {
    if constexpr (std::same_as<typename TypeParam::storage_type, owned_storage>) {
      return filter::open({}, owned_storage(), 0);
    } else if constexpr (std::same_as<typename TypeParam::storage_type, mapped_storage>) {
      return filter::open({}, mapped_storage(nullptr, {}), 0);
    } else if constexpr (std::same_as<typename TypeParam::storage_type, custom_storage>) {
      return filter::open({}, custom_storage::copy_of({}), 0);
    } else {
      return filter::open({}, borrowed_storage(std::span<const std::byte>()), 0);
    }
  }();
  ASSERT_FALSE(opened);
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

// Behind any_filter -----------------------------------------------------------------------------

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
    const auto keys = words("stranger", 2000);
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
  const auto keys = words("stranger", 2000);
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

template <class Done>
void expect_unsupported(const Done& done, std::string_view kind_name) {
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unsupported);
  EXPECT_NE(done.error().message.find(kind_name), std::string::npos) << done.error().message;
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
    if (!any.can().insert) expect_unsupported(any.insert(keys), name);
    if (!any.can().insert) expect_unsupported(any.insert_absent(keys, erased), name);
    if (!any.can().insert) expect_unsupported(any.clear(), name);
    if (!any.can().erase) expect_unsupported(any.erase(keys, erased), name);
    if (!any.can().count) expect_unsupported(any.count(keys, counts), name);
    if (!any.can().merge) expect_unsupported(any.merge(other), name);
    if (!any.can().intersect) expect_unsupported(any.intersect(other), name);
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
  std::set<filter_kind> registered;
  for (const kind_info& row : kinds()) {
    EXPECT_TRUE(registered.insert(row.kind).second) << row.name << ": two rows of one id";
    EXPECT_EQ(value_of(find_kind(row.name))->kind, row.kind);
    EXPECT_FALSE(row.summary.empty());
    EXPECT_FALSE(row.strengths.empty());
  }
  EXPECT_EQ(registered, (kinds_of<joined<filter_types, static_filter_types>::type>::all()))
      << "a registered kind is missing in tests/filter_types.hpp";
  const auto unknown = find_kind("blom");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, errc::invalid_argument);
  for (const kind_info& row : kinds()) {
    EXPECT_NE(unknown.error().message.find(row.name), std::string::npos);
  }
}

}  // namespace
}  // namespace bloomery::test
