// Poppy, version 2, against files that poppy-py wrote (tests/dialects/poppy/README.md).
// tests/cli/filters/test_poppy.py has the wheel itself on the other side.

#include <gtest/gtest.h>

#include <bloomset/dialects/dialect.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "dialects/src/hashes.hpp"
#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {
namespace poppy {

namespace d = bloomset::dialects;

const std::filesystem::path vectors = BLOOMSET_POPPY_VECTORS;

std::vector<std::byte> vector_file(const char* name) {
  const auto mapped = map_bytes(vectors / name);
  if (!mapped) throw std::runtime_error(mapped.error().message);
  return {mapped->bytes().begin(), mapped->bytes().end()};
}

std::vector<std::string> vector_keys() {
  std::vector<std::string> keys;
  std::ifstream file(vectors / "keys.hex");
  for (std::string line; std::getline(file, line);) {
    const auto bytes = from_hex(line);
    keys.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return keys;
}

TEST(poppy, files_of_the_wheel_are_made_bit_for_bit) {
  struct expected {
    const char* file;
    std::uint64_t capacity;
    double fpr;
    const char* mode;
  };
  const auto keys = vector_keys();
  ASSERT_EQ(keys.size(), 27U);
  for (const expected& each : {expected{"one-bucket.poppy", 1000, 0.001, "none"},
                               expected{"three-buckets.poppy", 6000, 0.001, "none"},
                               expected{"space.poppy", 1000, 0.01, "space"},
                               expected{"speed.poppy", 3000, 0.001, "speed"}}) {
    const auto bytes = vector_file(each.file);
    auto ours = d::create(
        *d::find("poppy").value(),
        {.capacity = each.capacity, .fpr = each.fpr, .options = {{"optimise", each.mode}}});
    ASSERT_TRUE(ours) << ours.error().message;
    ASSERT_TRUE(insert_all(*ours, keys));
    EXPECT_EQ(to_hex(ours->image()->bytes()), to_hex(bytes)) << each.file;
    const auto theirs = d::open(mapped_storage(nullptr, bytes));
    ASSERT_TRUE(theirs) << theirs.error().message;
    for (const std::string& key : keys) EXPECT_TRUE(theirs->may_contain(key)) << each.file;
    EXPECT_EQ(theirs->image()->bytes(), bytes);
  }
}

TEST(poppy, wyhash_is_the_first_version) {
  const std::string_view word = "poppy";
  EXPECT_EQ(d::wyhash_1(std::as_bytes(std::span(word)), 0x706f707079533d42), 16507271990128044474U);
}

TEST(poppy, short_keys_are_their_own_hashes) {
  auto filter = d::create(*d::find("poppy").value(), {.capacity = 1000}).value();
  const std::string with_nul("a\0", 2);
  ASSERT_TRUE(insert_all(filter, {"a"}));
  EXPECT_TRUE(filter.may_contain(with_nul));
  EXPECT_EQ(insert_all(filter, {with_nul})->maybe_present, 1U);
}

TEST(poppy, a_full_filter_refuses_new_keys_only) {
  auto filter = d::create(*d::find("poppy").value(), {.capacity = 3}).value();
  const auto inserted =
      insert_all(filter, {"first key", "second key", "second key", "third key", "fourth key"});
  EXPECT_EQ(inserted->done, 4U);
  EXPECT_EQ(inserted->stopped_by, insert_outcome::full);
  EXPECT_EQ(filter.info().count, 3U);
  EXPECT_EQ(insert_all(filter, {"third key"})->done, 1U);
  EXPECT_FALSE(filter.may_contain("fourth key"));
}

TEST(poppy, data_after_the_filter_are_kept) {
  auto bytes = vector_file("three-buckets.poppy");
  for (const char c : std::string_view("{\"source\": \"x\"}")) bytes.push_back(std::byte(c));
  auto filter = d::open(mapped_storage(nullptr, bytes), {.how = access::writable});
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->image()->bytes(), bytes);
}

}  // namespace poppy
}  // namespace
}  // namespace bloomset::test
