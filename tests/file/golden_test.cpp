// The golden files must be readable for ever, and today's code must write the same bytes, on every
// machine. When a test here fails, the code is wrong: a golden file is never rewritten. A changed
// layout needs a new kind_version, new files and new recipes. The old files stay.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/support/filter_types.hpp"
#include "tests/support/golden_recipes.hpp"

namespace bloomset::test {
namespace {

class golden : public ::testing::TestWithParam<recipe> {};

std::vector<std::byte> contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_P(golden, todays_code_writes_the_same_bytes) {
  const auto was = contents(golden_path(GetParam()));
  const auto is = serialize(cook(GetParam()).image());
  ASSERT_FALSE(was.empty()) << golden_path(GetParam());
  ASSERT_EQ(is.size(), was.size());
  const auto differs = std::mismatch(was.begin(), was.end(), is.begin());
  EXPECT_TRUE(differs.first == was.end()) << "at byte " << differs.first - was.begin();
}

TEST_P(golden, todays_code_reads_it) {
  const std::filesystem::path path = golden_path(GetParam());
  const auto mapped = open(path, verification::always, key_of(GetParam()));
  ASSERT_TRUE(mapped) << mapped.error().message;
  const auto loaded = load(path, key_of(GetParam()));
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto keys = golden_keys(GetParam());
  const double size = static_cast<double>(keys.size()) + (GetParam().layers.empty() ? 0 : 40);
  for (const any_filter* filter : {&*mapped, &*loaded}) {
    for (const std::string& key : keys) EXPECT_TRUE(filter->may_contain(key)) << key;
    const filter_info info = filter->info();
    EXPECT_EQ(info.kind_name, GetParam().kind);
    EXPECT_EQ(info.seed, GetParam().seed.value());
    // Kinds that count copies hold two more of one key; the others may have met a false positive.
    EXPECT_NEAR(static_cast<double>(info.count), size, 3);
    EXPECT_NEAR(info.estimated_size, size, 10);
    EXPECT_GE(info.plan.capacity, GetParam().capacity);
    EXPECT_LE(info.plan.planned_fpr, 0.02);
    EXPECT_EQ(serialize(filter->image()), contents(path)) << "read and written again";
    auto copied = filter->copy();
    ASSERT_TRUE(copied) << copied.error().message;
    EXPECT_EQ(serialize(copied->image()), contents(path)) << "copied";
    // A static or mapped one cannot be cleared; the others' copies are their own.
    EXPECT_EQ(copied->clear().has_value(), filter->can().insert);
    EXPECT_EQ(serialize(filter->image()), contents(path)) << "after a copy was cleared";
  }
  unsigned passing = 0;
  for (const std::string& key : words("non-member", 1000)) passing += mapped->may_contain(key);
  EXPECT_LT(passing, 100U);
}

INSTANTIATE_TEST_SUITE_P(files, golden, ::testing::ValuesIn(recipes().begin(), recipes().end()),
                         [](const auto& test) { return test_name(test.param); });

TEST(golden_files, there_is_one_for_each_recipe_and_a_recipe_for_each_kind) {
  std::set<std::string> expected;
  std::set<std::string_view> cooked;
  for (const recipe& how : recipes()) {
    expected.insert(golden_path(how).filename().string());
    cooked.insert(how.kind);
  }
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (entry.path().extension() == ".bloom") found.insert(entry.path().filename().string());
  }
  EXPECT_EQ(found, expected);
  for (const kind_info& row : kinds()) EXPECT_TRUE(cooked.contains(row.name)) << row.name;
}

}  // namespace
}  // namespace bloomset::test
