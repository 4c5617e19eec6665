// Layers: keys that were added to a filter after it was published.

#include <bloomset/layers.hpp>

#include <gtest/gtest.h>

#include <bloomset/bloomset.hpp>
#include <limits>
#include <memory>
#include <random>

#include "tests/support/filter_types.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

using layer_bytes = std::vector<std::byte>;

std::vector<hash64> random_hashes(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<hash64> hashes(n);
  for (hash64& h : hashes) h = {random()};
  return hashes;
}

TEST(layers, have_every_key_and_the_rate_of_others) {
  for (const std::size_t n : {1U, 2U, 100U, 10'000U}) {
    for (const double fpr : {1.0 / 64, 1.0 / 4096, 1e-9}) {
      const auto keys = random_hashes(n, n);
      const auto list = value_of(layer_list::of({value_of(make_layer(keys, fpr, 7))}, 7));
      for (const hash64 h : keys) ASSERT_TRUE(list.contains(h));
      EXPECT_LE(list.fpr(), fpr * 1.000001);
      EXPECT_GE(list.fpr(), fpr * 0.95);
    }
  }
  // 1,000,000 hashes at 1/64: 15,625 are expected, with a deviation of 124. A false alarm: 1e-9.
  const auto list =
      value_of(layer_list::of({value_of(make_layer(random_hashes(10'000, 1), 1.0 / 64, 7))}, 7));
  std::size_t hits = 0;
  for (const hash64 h : random_hashes(1'000'000, 2)) hits += list.contains(h) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(hits), list.fpr() * 1e6, 6.1 * 124);
}

TEST(layers, of_several_are_the_union) {
  std::vector<layer_bytes> all;
  std::vector<layer_list> single;
  std::uint64_t seed = 10;
  for (const double fpr : {1.0 / 64, 1.0 / 100, 1.0 / 1000, 1.0 / 77}) {
    all.push_back(value_of(make_layer(random_hashes(500, ++seed), fpr, 7)));
    single.push_back(value_of(layer_list::of({all.back()}, 7)));
  }
  const auto list = value_of(layer_list::of(all, 7));
  EXPECT_EQ(list.all(), all);
  for (const hash64 h : random_hashes(100'000, 3)) {
    const bool any = std::ranges::any_of(single, [&](const auto& one) { return one.contains(h); });
    ASSERT_EQ(list.contains(h), any);
  }
}

TEST(layers, reach_both_ends_of_the_hashes) {
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (const double fpr : {1.0 / 64, 1e-9}) {
    const auto list =
        value_of(layer_list::of({value_of(make_layer({{0}, {last}, {last - 1}}, fpr, 7))}, 7));
    EXPECT_TRUE(list.contains({0}) && list.contains({last}) && list.contains({last - 1}));
    EXPECT_FALSE(list.contains({last / 2}));
  }
}

TEST(layers, cost_their_rate_and_a_bit_and_a_half) {
  for (const auto& [n, most] : {std::pair{100U, 15.5}, {1000U, 13.8}, {10'000U, 13.6}}) {
    const auto layer = value_of(make_layer(random_hashes(n, n), 1.0 / 4096, 7));
    EXPECT_LT(8 * static_cast<double>(layer.size()) / n, most);
  }
}

TEST(layers, damaged_ones_are_refused) {
  const auto good = value_of(make_layer(random_hashes(50, 5), 1.0 / 200, 7));
  EXPECT_TRUE(layer_list::of({good}, 7).has_value());
  EXPECT_EQ(layer_list::of({good}, 8).error().message, "a layer belongs to another filter");
  for (std::size_t i = 0; i < good.size(); ++i) {
    layer_bytes bad = good;
    bad[i] ^= std::byte{4};
    EXPECT_FALSE(layer_list::of({bad}, 7).has_value()) << i;
    bad = layer_bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(layer_list::of({bad}, 7).has_value()) << i;
  }
  layer_bytes longer = good;
  longer.push_back({});
  EXPECT_FALSE(layer_list::of({longer}, 7).has_value());
}

// Behind a right checksum: refused, or a list that can be asked.
TEST(layers, forged_ones_are_refused_or_harmless) {
  std::mt19937_64 random(9);
  const auto good = value_of(make_layer(random_hashes(50, 5), 1.0 / 200, 7));
  std::size_t usable = 0;
  for (int i = 0; i < 20'000; ++i) {
    layer_bytes bad = good;
    for (int changes = 0; changes < 1 + i % 3; ++changes) {
      bad[16 + random() % (bad.size() - 16)] = static_cast<std::byte>(random());
    }
    if (i % 5 == 0) bad.resize(17 + random() % (bad.size() - 17));
    detail::store(bad.data() + 4,
                  static_cast<std::uint32_t>(xxh3_hasher()(std::span(bad).subspan(8)).value));
    const auto list = layer_list::of({bad}, 7);
    if (!list) continue;
    ++usable;
    EXPECT_LE(list->fpr(), 1.0);
    (void)list->contains({random()});
  }
  EXPECT_GT(usable, 0U);
}

class layers_of_a_filter : public ::testing::TestWithParam<std::size_t> {};

TEST_P(layers_of_a_filter, come_back_from_a_file) {
  const kind_info& kind = kinds()[GetParam()];
  const auto members = words("member", 300);
  const auto filter = filter_of(kind, {.capacity = 300, .fpr = 0.01, .hash_bits = 64}, members);
  const auto base = serialize(filter.image());
  std::vector<hash64> hashes;
  const auto added = words("added", 200);
  for (const std::string& key : added) hashes.push_back(filter_hasher()(bytes_of(key)));
  const std::uint64_t checksum = layer_base_of(base);
  auto stored = value_of(read_stored({nullptr, base}, verification::always, "f"));
  stored.header.layers =
      value_of(layer_list::of({value_of(make_layer(hashes, 1.0 / 4096, checksum))}, checksum));
  const auto file = serialize({stored.header, stored.parameters, {stored.payload.bytes()}});

  const auto again = value_of(read_stored({nullptr, file}, verification::always, "f"));
  auto opened = value_of(open_any(again, access::writable, "f"));
  EXPECT_EQ(serialize(opened.image()), file);
  const std::vector<std::string_view> views(added.begin(), added.end());
  const auto answers = std::make_unique<bool[]>(views.size());
  opened.may_contain(views, {answers.get(), views.size()});
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_TRUE(answers[i] && opened.may_contain(views[i]));
  }
  for (const std::string& key : members) EXPECT_TRUE(opened.may_contain(key));
  EXPECT_GT(opened.current_fpr(), filter.current_fpr() + 1.0 / 4500);
  EXPECT_EQ(opened.info().layer_keys, 200U);
  EXPECT_EQ(serialize(value_of(opened.copy()).image()), file);

  // Whatever would lose or ignore the layers is refused.
  EXPECT_EQ(opened.insert(views).error().code, errc::unsupported);
  EXPECT_EQ(opened.clear().error().code, errc::unsupported);
  EXPECT_EQ(opened.merge(filter).error().code, errc::unsupported);
  auto other = value_of(filter.copy());
  EXPECT_FALSE(other.merge(opened).has_value());
  EXPECT_EQ(opened.fold(2).error().code, errc::unsupported);
  EXPECT_EQ(opened.add_exceptions(views).error().code, errc::unsupported);
  EXPECT_FALSE(opened.can().insert || opened.can().merge || opened.can().erase);
  if (kind.kind == filter_kind::bloom) {
    EXPECT_EQ(open_stored<bloom_view>(again).error().code, errc::unsupported);
  }

  // Without them it is the base; layers of another base are refused.
  stored.header.layers = {};
  EXPECT_EQ(serialize({stored.header, stored.parameters, {stored.payload.bytes()}}), base);
  auto forgery = forged(file, at::count, std::uint64_t{7});
  const auto refused = read_stored({nullptr, forgery}, verification::always, "f");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("a layer belongs to another filter"), std::string::npos);
  for (std::size_t i = 0; i < file.size(); i += 5) {
    layer_bytes bad = file;
    bad[i] ^= std::byte{8};
    EXPECT_FALSE(read_stored({nullptr, bad}, verification::always, "f").has_value()) << i;
  }
}

// Removed keys: an exception holds for base and layers, and changes neither layers nor their base.
TEST_P(layers_of_a_filter, stay_its_own_when_keys_become_exceptions) {
  const kind_info& kind = kinds()[GetParam()];
  const auto members = words("member", 300);
  const auto added = words("added", 200);
  const auto filter = filter_of(kind, {.capacity = 300, .fpr = 0.01, .hash_bits = 64}, members);
  const auto base = serialize(filter.image());
  std::vector<hash64> hashes;
  for (const std::string& key : added) hashes.push_back(filter_hasher()(bytes_of(key)));
  const std::uint64_t number = layer_base_of(base);
  auto stored = value_of(read_stored({nullptr, base}, verification::always, "f"));
  stored.header.labels = value_of(label_list::parse("source=test\n"));
  const auto labelled = serialize({stored.header, stored.parameters, {stored.payload.bytes()}});
  EXPECT_NE(layer_base_of(labelled), number);
  stored.header.labels = {};
  stored.header.exceptions.add(filter_hasher()(bytes_of(members[7])));
  stored.header.exceptions.add(hashes[5]);
  const auto excepting = serialize({stored.header, stored.parameters, {stored.payload.bytes()}});
  EXPECT_NE(excepting, base);
  EXPECT_EQ(layer_base_of(excepting), number);
  stored.header.layers =
      value_of(layer_list::of({value_of(make_layer(hashes, 1.0 / 4096, number))}, number));
  const auto file = serialize({stored.header, stored.parameters, {stored.payload.bytes()}});
  EXPECT_EQ(layer_base_of(file), number);
  const auto opened = value_of(open_any(
      value_of(read_stored({nullptr, file}, verification::always, "f")), access::read_only, "f"));
  std::vector<std::string_view> keys(members.begin(), members.end());
  keys.insert(keys.end(), added.begin(), added.end());
  const auto answers = std::make_unique<bool[]>(keys.size());
  opened.may_contain(keys, {answers.get(), keys.size()});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool is_removed = i == 7 || i == members.size() + 5;
    EXPECT_EQ(answers[i], !is_removed) << keys[i];
    EXPECT_EQ(opened.may_contain(keys[i]), !is_removed) << keys[i];
  }
}

// The count is part of the file that the layers belong to.
TEST_P(layers_of_a_filter, keep_their_base_when_its_keys_are_counted_anew) {
  const kind_info& kind = kinds()[GetParam()];
  const auto filter =
      filter_of(kind, {.capacity = 300, .fpr = 0.01, .hash_bits = 64}, words("member", 300));
  const auto base = serialize(filter.image());
  auto stored = value_of(read_stored({nullptr, base}, verification::always, "f"));
  stored.header.count += 5;
  const auto counted = serialize({stored.header, stored.parameters, {stored.payload.bytes()}});
  const std::uint64_t number = layer_base_of(counted);
  const std::vector<hash64> hashes = {filter_hasher()(bytes_of("added"))};
  stored.header.layers =
      value_of(layer_list::of({value_of(make_layer(hashes, 1.0 / 4096, number))}, number));
  const auto file = serialize({stored.header, stored.parameters, {stored.payload.bytes()}});
  const auto read = read_stored({nullptr, file}, verification::always, "f");
  ASSERT_TRUE(read);
  auto opened = open_any(*read, access::writable, "f");
  if (!opened) return;  // a kind whose count is a fact of its payload
  opened->settle_count();
  EXPECT_EQ(serialize(opened->image()), file);
}

INSTANTIATE_TEST_SUITE_P(kinds, layers_of_a_filter,
                         ::testing::Range(std::size_t{0}, kinds().size()),
                         [](const auto& test) { return std::string(kinds()[test.param].name); });

}  // namespace
}  // namespace bloomset::test
