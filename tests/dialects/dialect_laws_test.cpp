// Laws that hold for the filters of all other programs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/dialects/dialect.hpp>
#include <cmath>
#include <memory>
#include <set>

#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

namespace d = bloomset::dialects;

class every_dialect : public ::testing::TestWithParam<dialect_sample> {
 protected:
  const dialect_sample sample_ = GetParam();

  result<d::foreign_filter> opened(access how = access::read_only) const {
    return d::open(*d::find(sample_.format).value(), mapped_storage(nullptr, sample_.bytes),
                   {.name = "sample", .how = how, .options = sample_.reading});
  }
};

/// Formats that insert, and those that are built once.
class inserting_dialect : public every_dialect {};
class merging_dialect : public every_dialect {};
class static_dialect : public every_dialect {};

std::vector<dialect_sample> samples_that_merge() {
  std::vector<dialect_sample> some = dialect_samples();
  std::erase_if(
      some, [](const auto& each) { return each.row().is_static() || each.format == "passwdqc"; });
  return some;
}

std::vector<dialect_sample> samples_that_are(bool are_static) {
  std::vector<dialect_sample> some = dialect_samples();
  std::erase_if(some, [&](const auto& each) { return each.row().is_static() != are_static; });
  return some;
}

TEST_P(every_dialect, finds_every_key_and_few_non_members) {
  const auto filter = opened();
  ASSERT_TRUE(filter);
  ASSERT_TRUE(filter->askable());
  const auto keys = sample_.keys();
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const auto answers = std::make_unique<bool[]>(views.size());
  filter->may_contain(views, {answers.get(), views.size()});
  EXPECT_TRUE(std::all_of(answers.get(), answers.get() + views.size(), [](bool b) { return b; }));
  // 20,000 non-members: at most six standard deviations above the rate of info(). A false alarm has
  // a chance below 1e-6.
  const double rate = filter->info().current_fpr.value();
  std::uint64_t passed = 0;
  constexpr std::uint64_t non_members = 20'000;
  for (std::uint64_t i = 0; i < non_members; ++i) {
    const std::string key = sample_.key(1'000'000 + i * 7);
    const bool alone = filter->may_contain(key);
    passed += alone;
  }
  const double expected = rate * non_members;
  EXPECT_LT(static_cast<double>(passed), expected + 6 * std::sqrt(expected) + 3);
  EXPECT_GT(static_cast<double>(passed), expected - 6 * std::sqrt(expected) - 3);
}

TEST_P(every_dialect, is_written_as_it_was_read) {
  for (const access how : {access::read_only, access::writable}) {
    const auto filter = opened(how);
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->image()->bytes(), sample_.bytes);
  }
}

TEST_P(every_dialect, estimates_its_keys_and_says_its_figures) {
  const auto info = opened()->info();
  EXPECT_EQ(info.format, sample_.format);
  // 500 distinct keys; the estimate's deviation is below 15 in the smallest of these filters.
  if (info.estimated_size) EXPECT_NEAR(*info.estimated_size, 500, 90);
  if (info.fill) EXPECT_GT(*info.fill, 0);
  EXPECT_LT(info.current_fpr, 0.2);
  EXPECT_FALSE(info.variant.empty());
}

TEST_P(every_dialect, does_not_change_if_read_only) {
  auto reading = opened();
  EXPECT_EQ(insert_all(*reading, {"7"}).error().code, errc::unsupported);
  EXPECT_EQ(reading->merge(*opened()).error().code, errc::unsupported);
}

TEST_P(inserting_dialect, inserts_into_a_copy) {
  const auto before = sample_.bytes;
  auto writing = opened(access::writable);
  const std::string key = sample_.key(123456789);
  ASSERT_TRUE(insert_all(*writing, {key}));
  EXPECT_TRUE(writing->may_contain(key));
  EXPECT_EQ(sample_.bytes, before);
}

TEST_P(static_dialect, inserts_nothing) {
  auto writing = opened(access::writable);
  EXPECT_EQ(insert_all(*writing, {"7"}).error().code, errc::unsupported);
}

// NOLINTBEGIN(bugprone-use-after-move): that is the test
TEST_P(every_dialect, moved_from_it_is_only_assigned_to) {
  auto filter = opened();
  ASSERT_TRUE(filter);
  d::foreign_filter moved = std::move(*filter);
  EXPECT_DEATH((void)filter->may_contain("1"), "moved from");
  EXPECT_DEATH((void)filter->info(), "moved from");
  EXPECT_DEATH((void)filter->image(), "moved from");
  EXPECT_DEATH((void)moved.merge(*filter), "moved from");
  *filter = std::move(moved);
  EXPECT_EQ(filter->image()->bytes(), sample_.bytes);
}
// NOLINTEND(bugprone-use-after-move)

TEST_P(merging_dialect, a_merge_is_the_filter_of_both) {
  const auto& row = sample_.row();
  auto a = d::create(row, sample_.building).value();
  auto b = d::create(row, sample_.building).value();
  auto both = d::create(row, sample_.building).value();
  ASSERT_TRUE(insert_all(a, {"1", "2"}));
  ASSERT_TRUE(insert_all(b, {"2", "3"}));
  ASSERT_TRUE(insert_all(both, {"1", "2", "3"}));
  ASSERT_TRUE(a.merge(b));
  const auto merged = a.image();
  const auto whole = both.image();
  EXPECT_TRUE(std::ranges::equal(merged->bits, whole->bits));
  for (const d::dialect& other : d::all()) {
    if (other.name == sample_.format) continue;
    const auto another =
        d::open(*d::find(other.name).value(), mapped_storage(nullptr, sample(other.name).bytes),
                {.options = sample(other.name).reading});
    const auto bits = to_hex(a.image()->bytes());
    EXPECT_EQ(a.merge(*another).error().code, errc::incompatible) << other.name;
    EXPECT_EQ(a.convert(other, {}).error().code, errc::incompatible) << other.name;
    EXPECT_EQ(to_hex(a.image()->bytes()), bits);
  }
}

TEST_P(static_dialect, is_exact_in_its_universe) {
  const auto filter = opened();
  ASSERT_TRUE(filter);
  for (std::uint64_t i = 0; i < 10'500; ++i) {
    ASSERT_EQ(filter->may_contain(sample_.key(i)), i % 3 == 0 && i < 1500) << i;
  }
}

TEST_P(static_dialect, does_not_depend_on_the_order_of_keys) {
  const auto& row = sample_.row();
  auto members = sample_.keys();
  auto universe = sample_.universe();
  std::reverse(members.begin(), members.end());
  members.push_back(members.front());  // once more
  std::erase(universe, members.front());
  std::rotate(universe.begin(), universe.begin() + 100, universe.end());
  const auto member_views = views_of(members);
  const auto universe_views = views_of(universe);
  const auto filter = d::build(
      row, sample_.building,
      {.members = d::key_source::of(member_views), .universe = d::key_source::of(universe_views)});
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(filter->image()->bytes(), sample_.bytes);
  EXPECT_EQ(d::create(row, sample_.building).error().code, errc::unsupported);
}

TEST_P(merging_dialect, other_parameters_do_not_merge) {
  const auto& row = sample_.row();
  auto filter = d::create(row, sample_.building).value();
  for (plan_request other : sample_.incompatible()) {
    const auto another = d::create(row, other);
    ASSERT_TRUE(another) << another.error().message;
    const auto merged = filter.merge(*another);
    ASSERT_FALSE(merged);
    EXPECT_EQ(merged.error().code, errc::incompatible);
    EXPECT_EQ(merged.error().message.find('\n'), std::string::npos);
  }
}

TEST_P(every_dialect, is_recognised_by_its_content_where_that_is_certain) {
  const auto guess = d::recognise(sample_.bytes);
  if (sample_.format == "leveldb") {
    EXPECT_EQ(guess.certain, nullptr);
    EXPECT_EQ(d::find("leveldb").value()->recognise(sample_.bytes), d::recognition::maybe);
  } else {
    ASSERT_NE(guess.certain, nullptr);
    EXPECT_EQ(guess.certain->name, sample_.format);
  }
}

TEST_P(every_dialect, refuses_options_and_sizes_that_it_does_not_have) {
  auto request = sample_.building;
  request.options.emplace_back("no_such_option", "1");
  EXPECT_EQ(sample_.made(request).error().code, errc::invalid_argument);
  request = sample_.building;
  request.hashes = 3;
  EXPECT_EQ(sample_.made(request).error().code, errc::invalid_argument);
  if (sample_.format != "bip37" && (sample_.format != "spark" || sample_.name == "spark_1")) {
    request = sample_.building;
    request.seed = 1;
    EXPECT_EQ(sample_.made(request).error().code, errc::invalid_argument);
  }
  // No capacity is small enough to overflow anything, or large enough.
  for (const std::uint64_t n : {std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    request = sample_.building;
    request.capacity = n;
    std::erase_if(request.options, [](const auto& o) { return o.first == "blocks"; });
    const auto made = sample_.made(request);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.size(), 0U);
  }
}

std::string name_of(const ::testing::TestParamInfo<dialect_sample>& test) {
  return test.param.name;
}
INSTANTIATE_TEST_SUITE_P(dialects, every_dialect, ::testing::ValuesIn(dialect_samples()), name_of);
INSTANTIATE_TEST_SUITE_P(dialects, inserting_dialect, ::testing::ValuesIn(samples_that_are(false)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(dialects, merging_dialect, ::testing::ValuesIn(samples_that_merge()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(dialects, static_dialect, ::testing::ValuesIn(samples_that_are(true)),
                         name_of);

TEST(dialects, other_formats_have_no_universe) {
  const auto built = d::build(*d::find("dcso").value(), {.capacity = 1}, {});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, errc::unsupported);
}

TEST(dialects, samples_cover_the_registry) {
  std::set<std::string_view> names;
  for (const auto& each : dialect_samples()) names.insert(each.format);
  EXPECT_EQ(names.size(), d::all().size());
}

TEST(dialects, an_unknown_name_is_refused_with_those_that_exist) {
  const auto found = d::find("nosuch");
  ASSERT_FALSE(found);
  for (const d::dialect& row : d::all()) {
    EXPECT_NE(found.error().message.find(row.name), std::string::npos);
  }
}

TEST(dialects, our_own_files_and_texts_are_none_of_them) {
  for (const auto& bytes :
       {from_hex("89424c4f4f4d0d0a"), std::vector<std::byte>(1000),
        std::vector<std::byte>(1000, std::byte{'a'}), std::vector<std::byte>()}) {
    EXPECT_EQ(d::recognise(bytes).certain, nullptr);
  }
}

}  // namespace
}  // namespace bloomset::test
