// Exceptions: known false positives that a filter of any kind answers "no" to.

#include <gtest/gtest.h>

#include <bloomset/bloomset.hpp>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

using key_views = std::vector<std::string_view>;

constexpr std::size_t non_members = 20'000;

std::vector<bool> answers_of(const any_filter& filter, const std::vector<std::string>& keys) {
  std::vector<bool> all;
  for (const std::string& key : keys) all.push_back(filter.may_contain(key));
  return all;
}

/// Answers of the calls for batches, of keys and of hashes.
void expect_batches_agree(const any_filter& filter, const std::vector<std::string>& keys) {
  const key_views views(keys.begin(), keys.end());
  std::vector<hash64> hashes;
  for (const std::string_view key : views) hashes.push_back(filter_hasher()(bytes_of(key)));
  const auto by_key = std::make_unique<bool[]>(keys.size());
  const auto by_hash = std::make_unique<bool[]>(keys.size());
  filter.may_contain(views, {by_key.get(), keys.size()});
  value_of(filter.may_contain(hashes, {by_hash.get(), keys.size()}));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(by_key[i], filter.may_contain(keys[i])) << keys[i];
    ASSERT_EQ(by_hash[i], filter.may_contain(keys[i])) << keys[i];
  }
}

class exceptions : public ::testing::TestWithParam<std::size_t> {
 protected:
  const kind_info& kind() const { return kinds()[GetParam()]; }
  any_filter made(std::string_view word = "member", std::uint64_t count = 500) const {
    return filter_of(kind(), {.capacity = 500, .fpr = 0.05, .hash_bits = 64}, words(word, count));
  }
  /// The keys x-0, x-1, ... that pass the filter.
  static std::vector<std::string> passing(const any_filter& filter, std::string_view word) {
    std::vector<std::string> keys = words(word, non_members);
    std::erase_if(keys, [&](const std::string& key) { return !filter.may_contain(key); });
    return keys;
  }
  static void except(any_filter& filter, const std::vector<std::string>& keys) {
    const auto added = value_of(filter.add_exceptions(key_views(keys.begin(), keys.end())));
    EXPECT_EQ(added.inserted, keys.size());
  }
};

TEST_P(exceptions, are_denied_and_other_answers_stay) {
  any_filter filter = made();
  const auto plain = answers_of(filter, words("other", non_members));
  const auto mistaken = passing(filter, "non-member");
  ASSERT_GT(mistaken.size(), 40U);
  except(filter, mistaken);
  EXPECT_EQ(filter.exceptions().size(), mistaken.size());
  EXPECT_EQ(filter.info().exceptions, mistaken.size());
  for (const std::string& key : words("non-member", non_members)) {
    EXPECT_FALSE(filter.may_contain(key));
  }
  for (const std::string& key : words("member", 500)) EXPECT_TRUE(filter.may_contain(key));
  EXPECT_EQ(answers_of(filter, words("other", non_members)), plain);
  expect_batches_agree(filter, words("non-member", non_members));
  expect_batches_agree(filter, words("member", 500));
  // Keys that get "no" are not listed, and a second time nothing is new.
  const auto all = words("non-member", non_members);
  EXPECT_EQ(value_of(filter.add_exceptions(key_views(all.begin(), all.end()))).inserted, 0U);
}

TEST_P(exceptions, go_with_the_file_and_the_copies) {
  any_filter filter = made();
  const auto plain = serialize(filter.image());
  const auto mistaken = passing(filter, "non-member");
  except(filter, mistaken);
  value_of(filter.labels().set("source", "x"));
  const auto bytes = serialize(filter.image());
  EXPECT_EQ(bytes.size(), serialized_size(filter.image()));
  EXPECT_EQ(bytes.size(), plain.size() + 64 + (8 * mistaken.size() + 8 + 63) / 64 * 64);
  const auto stored =
      value_of(read_stored(mapped_storage(nullptr, bytes), verification::always, "f"));
  for (const access how : {access::read_only, access::writable}) {
    any_filter again = value_of(open_any(stored, how, "f"));
    EXPECT_EQ(again.exceptions(), filter.exceptions());
    EXPECT_EQ(value_of(again.copy()).exceptions(), filter.exceptions());
    EXPECT_EQ(serialize(again.image()), bytes);
    for (const std::string& key : mistaken) EXPECT_FALSE(again.may_contain(key));
    EXPECT_EQ(value_of(again.remove_exceptions(key_views(mistaken.begin(), mistaken.end()))),
              mistaken.size());
    for (const std::string& key : mistaken) EXPECT_TRUE(again.may_contain(key));
    again.labels() = {};
    EXPECT_EQ(serialize(again.image()), plain);
  }
  if (kind().can.fold) {
    const any_filter folded = value_of(filter.fold_to(0.5));
    for (const std::string& key : mistaken) EXPECT_FALSE(folded.may_contain(key));
  }
}

TEST_P(exceptions, end_when_their_keys_are_inserted) {
  any_filter filter = made();
  if (!filter.can().insert) return;
  auto mistaken = passing(filter, "non-member");
  mistaken.resize(40);
  except(filter, mistaken);
  const key_views views(mistaken.begin(), mistaken.end());
  value_of(filter.insert(std::span(views).first(10)));
  const hash64 h = filter_hasher()(bytes_of(views[10]));
  value_of(filter.insert(std::span(&h, 1)));
  // insert_absent() tells that they are new.
  key_views mixed(views.begin() + 5, views.begin() + 20);
  mixed.emplace_back("member-0");
  std::array<bool, 16> added{};
  const auto done = value_of(filter.insert_absent(mixed, added));
  EXPECT_EQ(done.done, mixed.size());
  EXPECT_EQ(done.inserted, 9U);
  for (std::size_t i = 0; i < mixed.size(); ++i) EXPECT_EQ(added.at(i), i >= 6 && i < 15) << i;
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(filter.may_contain(views[i]), i < 20) << views[i];
  }
  EXPECT_EQ(filter.exceptions().size(), 20U);
  if (kind().name == "cuckoo") {  // full: what is behind the last key was not added
    const auto more = words("more", 5000);
    key_views rest(more.begin(), more.end());
    rest.insert(rest.begin(), {views[20], views[21]});
    rest.push_back(views[22]);
    const auto told = std::make_unique<bool[]>(rest.size());
    std::fill_n(told.get(), rest.size(), true);
    const auto part = value_of(filter.insert_absent(rest, {told.get(), rest.size()}));
    ASSERT_LT(part.done, rest.size());
    for (std::size_t i = part.done; i < rest.size(); ++i) ASSERT_FALSE(told[i]) << i;
    return;
  }
  // Nothing is inserted, so nothing ends.
  const hash64 last = filter_hasher()(bytes_of(views[39]));
  if (!filter.insert_part(std::span(&last, 1), 0, 1)) {
    EXPECT_EQ(filter.exceptions().size(), 20U);
  }
  value_of(filter.clear());
  EXPECT_TRUE(filter.exceptions().empty());
}

TEST_P(exceptions, are_neither_erased_nor_counted) {
  any_filter filter = made();
  auto mistaken = passing(filter, "non-member");
  except(filter, mistaken);
  key_views mixed(mistaken.begin(), mistaken.end());
  mixed.emplace_back("member-0");
  if (filter.can().count) {
    std::vector<std::uint64_t> counts(mixed.size(), 7);
    value_of(filter.count(mixed, counts));
    for (std::size_t i = 0; i + 1 < counts.size(); ++i) EXPECT_EQ(counts[i], 0U);
    EXPECT_GT(counts.back(), 0U);
  }
  if (filter.can().erase) {
    const auto erased = std::make_unique<bool[]>(mixed.size());
    value_of(filter.erase(mixed, {erased.get(), mixed.size()}));
    for (std::size_t i = 0; i < mixed.size(); ++i) EXPECT_EQ(erased[i], i + 1 == mixed.size());
    // No member is lost with them.
    for (std::uint64_t i = 1; i < 500; ++i) EXPECT_TRUE(filter.may_contain(word("member", i)));
  }
}

TEST_P(exceptions, of_a_union_are_members_of_neither) {
  if (!kind().can.merge) return;
  any_filter ours = made("a", 200);
  any_filter theirs = made("b", 200);
  value_of(ours.insert(key_views{"common"}));
  const auto only_ours = passing(ours, "non-member");
  except(ours, only_ours);
  // A member of the other filter must not be denied.
  auto of_theirs = passing(ours, "b");
  const auto added = value_of(ours.add_exceptions(key_views(of_theirs.begin(), of_theirs.end())));
  EXPECT_EQ(added.inserted, of_theirs.size());
  const auto answers = answers_of(theirs, only_ours);
  any_filter both = value_of(ours.copy());
  value_of(both.merge(theirs));
  for (const char* word : {"a", "b"}) {
    for (const std::string& key : words(word, 200)) EXPECT_TRUE(both.may_contain(key)) << key;
  }
  for (std::size_t i = 0; i < only_ours.size(); ++i) {
    EXPECT_EQ(both.may_contain(only_ours[i]), answers[i]);
  }
  any_filter reversed = value_of(theirs.copy());
  value_of(reversed.merge(ours));
  EXPECT_EQ(reversed.exceptions(), both.exceptions());
  if (kind().can.intersect) {
    value_of(theirs.intersect(ours));
    EXPECT_EQ(theirs.exceptions(), ours.exceptions());
  }
}

TEST_P(exceptions, a_known_type_does_not_open_them) {
  any_filter filter = made();
  except(filter, passing(filter, "non-member"));
  const auto bytes = serialize(filter.image());
  auto stored = value_of(read_stored(mapped_storage(nullptr, bytes), verification::always, "f"));
  EXPECT_EQ(kind().open(stored, access::read_only).error().code, errc::unsupported);
  stored.header.exceptions = {};
  EXPECT_TRUE(kind().open(stored, access::read_only));
}

INSTANTIATE_TEST_SUITE_P(kinds, exceptions, ::testing::Range(std::size_t{0}, kinds().size()),
                         [](const auto& each) { return std::string(kinds()[each.param].name); });

any_filter full_of_ones() {
  any_filter filter = filter_of(*value_of(find_kind("bloom")), {.capacity = 10, .fpr = 0.5}, {});
  const auto keys = words("member", 1000);
  value_of(filter.insert(key_views(keys.begin(), keys.end())));
  return filter;
}

TEST(exception_list, has_at_most_4096_hashes) {
  any_filter filter = full_of_ones();
  const auto keys = words("non-member", 4097);
  const key_views views(keys.begin(), keys.end());
  EXPECT_EQ(filter.add_exceptions(views).error().code, errc::full);
  EXPECT_TRUE(filter.exceptions().empty());
  value_of(filter.add_exceptions(std::span(views).first(4096)));
  EXPECT_EQ(filter.exceptions().size(), exception_list::max_size);
  EXPECT_EQ(filter.add_exceptions(std::span(views).last(1)).error().code, errc::full);
  const auto bytes = serialize(filter.image());
  const auto stored =
      value_of(read_stored(mapped_storage(nullptr, bytes), verification::always, "f"));
  EXPECT_EQ(stored.header.exceptions, filter.exceptions());
  // A union or intersection beyond the limit changes nothing.
  any_filter other = full_of_ones();
  value_of(other.add_exceptions(std::span(views).last(1)));
  EXPECT_EQ(other.intersect(filter).error().code, errc::full);
  EXPECT_EQ(other.exceptions().size(), 1U);
}

TEST(exception_list, needs_hashes_of_64_bits) {
  any_filter filter = filter_of(*value_of(find_kind("bloom")),
                                {.capacity = 9, .fpr = 0.01, .hash_bits = 128}, words("member", 9));
  EXPECT_EQ(filter.add_exceptions(key_views{"x"}).error().code, errc::unsupported);
}

TEST(exception_list, a_section_that_does_not_fit_is_refused) {
  any_filter filter =
      filter_of(*value_of(find_kind("bloom")), {.capacity = 9, .fpr = 0.5}, words("member", 9));
  std::vector<std::string> keys = words("non-member", 100);
  value_of(filter.add_exceptions(key_views(keys.begin(), keys.end())));
  const std::uint64_t count = filter.exceptions().size();
  ASSERT_GT(count, 20U);
  const auto good = serialize(filter.image());
  const std::size_t end =
      at::parameters + detail::load<std::uint32_t>(good.data() + at::parameter_bytes);
  const std::size_t begin = end - (8 * count + 8 + 63) / 64 * 64;
  const auto opens = [](const std::vector<std::byte>& bytes) {
    return read_stored(mapped_storage(nullptr, bytes), verification::always, "f").has_value();
  };
  EXPECT_TRUE(opens(good));
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t wrong :
       {std::uint64_t{0}, count - 1, count + 8, std::uint64_t{4097}, largest / 8, largest}) {
    EXPECT_FALSE(opens(forged(good, end - 8, wrong))) << wrong;
  }
  EXPECT_FALSE(opens(forged(good, begin, largest)));                          // not ascending
  EXPECT_FALSE(opens(forged(good, begin, filter.exceptions().hashes()[1])));  // twice
  const auto flags = detail::load<std::uint32_t>(good.data() + at::flags);
  // Hashes of 128 bits with exceptions, and the section without its flag.
  EXPECT_FALSE(opens(forged(forged(good, at::hash, std::uint16_t{4}), at::flags, flags | 2)));
  const auto plain = forged(good, at::flags, flags & ~16U);
  ASSERT_TRUE(opens(plain));
  auto stored = value_of(read_stored(mapped_storage(nullptr, plain), verification::always, "f"));
  EXPECT_FALSE(open_any(stored, access::read_only, "f"));
}

}  // namespace
}  // namespace bloomset::test
