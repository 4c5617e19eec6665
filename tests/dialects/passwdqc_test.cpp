// passwdqc's filters of leaked passwords, against files that pwqfilter wrote
// (tests/dialects/passwdqc/README.md). tests/cli/filters/test_passwdqc.py has the programs
// themselves on the other side.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bloomset/dialects/dialect.hpp>
#include <bloomset/figures.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {
namespace passwdqc {

namespace d = bloomset::dialects;

const std::filesystem::path vectors = BLOOMSET_PASSWDQC_VECTORS;
const std::string md4_of_password = "8a9d093f14f8701df17732b2bb182c74";

std::string text_of(std::string_view hex) {
  const auto bytes = from_hex(hex);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> vector_file(const char* name) {
  const auto mapped = map_bytes(vectors / name);
  if (!mapped) throw std::runtime_error(mapped.error().message);
  return {mapped->bytes().begin(), mapped->bytes().end()};
}

d::foreign_filter made(std::uint64_t capacity) {
  return d::create(*d::find("passwdqc").value(),
                   {.capacity = capacity, .options = {{"hash", "md4"}}})
      .value();
}

std::uint64_t figure(const d::foreign_filter& filter, std::string_view name) {
  for (const property& each : filter.info().extras) {
    if (each.name == name) return std::get<std::uint64_t>(each.value);
  }
  throw std::runtime_error("no such figure");
}

TEST(passwdqc, files_of_pwqfilter_are_read_and_written_as_they_were) {
  struct expected {
    const char* file;
    std::string_view variant;
    std::string_view reader;
    std::uint64_t capacity;
    std::uint64_t count;
    std::uint64_t bucket_size;
    std::uint64_t kicks;
    std::vector<std::string_view> members;
  };
  const std::vector<expected> all = {
      {"md4-64.pwq", "MD4", "md4", 64, 5, 2, 0, {md4_of_password}},
      {"ntlm.pwq",
       "NTLM of CP1252",
       "ntlm:cp1252",
       64,
       5,
       2,
       0,
       {"8846f7eaee8fb117ad06bdd830b7586c", "32ed87bdb5fdc5e9cba88547376818d4"}},
      {"load89.pwq", "MD4", "md4", 112, 100, 4, 21, {}},
      {"opaque.pwq",
       "opaque hashes",
       "hex",
       16,
       2,
       2,
       0,
       {"8846f7eaee8fb117ad06bdd830b7586c", "32ed87bdb5fdc5e9cba88547376818d4"}},
  };
  for (const expected& each : all) {
    const auto bytes = vector_file(each.file);
    for (const access how : {access::read_only, access::writable}) {
      const auto filter = d::open(mapped_storage(nullptr, bytes), {.name = each.file, .how = how});
      ASSERT_TRUE(filter) << filter.error().message;
      EXPECT_EQ(filter->image()->bytes(), bytes);
      const auto info = filter->info();
      EXPECT_EQ(info.variant, each.variant);
      EXPECT_EQ(info.capacity, each.capacity);
      EXPECT_EQ(info.count, each.count);
      EXPECT_EQ(figure(*filter, "bucket_size"), each.bucket_size);
      EXPECT_EQ(figure(*filter, "kicks"), each.kicks);
      EXPECT_EQ(filter->key_reader(), each.reader);
      for (const std::string_view member : each.members) {
        EXPECT_TRUE(filter->may_contain(text_of(member))) << each.file << member;
      }
      for (std::uint64_t i = 0; i < 10'000; ++i) {
        ASSERT_FALSE(filter->may_contain(dialect_sample::hash_of(i))) << each.file;
      }
    }
  }
}

// Of 16 buckets "password" has number 10. A fingerprint alone in a bucket has all its 64 bits.
TEST(passwdqc, a_hash_goes_to_its_bucket) {
  auto filter = made(35);
  ASSERT_EQ(filter.info().capacity, 64U);
  ASSERT_TRUE(insert_all(filter, {text_of(md4_of_password)}));
  const std::string bits = to_hex(filter.image()->bits);
  EXPECT_EQ(bits, std::string(320, '0') + "0100000000000000" + "f17732b2bb182c74" +
                      std::string(5 * 32, '0'));
}

TEST(passwdqc, every_planned_number_of_keys_fits) {
  std::vector<std::uint64_t> sizes = {1000, 5000, 100'000};
  for (std::uint64_t n = 1; n < 300; ++n) sizes.push_back(n);
  for (const std::uint64_t n : sizes) {
    auto filter = made(n);
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < n; ++i)
      keys.push_back(dialect_sample::hash_of(n * 1'000'000 + i));
    const auto inserted = insert_all(filter, keys);
    ASSERT_TRUE(inserted);
    ASSERT_EQ(inserted->done, n);
    ASSERT_EQ(filter.info().count, n);
    for (const std::string& key : keys) ASSERT_TRUE(filter.may_contain(key)) << n;
    const auto again = insert_all(filter, keys);
    EXPECT_EQ(again->maybe_present, n);
    EXPECT_EQ(figure(filter, "duplicates"), n);
    // Readers check the buckets, and their number of entries.
    const auto bytes = filter.image()->bytes();
    const auto opened = d::open(mapped_storage(nullptr, bytes));
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE(opened->may_contain(keys.back()));
  }
}

TEST(passwdqc, the_fuller_the_shorter_are_fingerprints) {
  auto filter = made(100'000);
  std::uint64_t next = 0;
  const auto fill_to = [&](std::uint64_t count) {
    std::vector<std::string> keys;
    while (next < count) keys.push_back(dialect_sample::hash_of(next++));
    ASSERT_EQ(insert_all(filter, keys)->done, keys.size());
  };
  fill_to(40'000);
  EXPECT_EQ(figure(filter, "bucket_size"), 2U);
  EXPECT_LT(filter.info().current_fpr, 4 * std::ldexp(1, -61));
  fill_to(70'000);
  EXPECT_EQ(figure(filter, "bucket_size"), 3U);
  EXPECT_LT(filter.info().current_fpr, 6 * std::ldexp(1, -41));
  fill_to(100'000);
  EXPECT_EQ(figure(filter, "bucket_size"), 4U);
  EXPECT_LT(filter.info().current_fpr, 8 * std::ldexp(1, -33));
  EXPECT_GT(filter.info().current_fpr, 4 * std::ldexp(1, -33));
}

TEST(passwdqc, a_full_filter_stays_as_it_is) {
  auto filter = made(1000);
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 2000; ++i) keys.push_back(dialect_sample::hash_of(i));
  const auto inserted = insert_all(filter, keys);
  ASSERT_TRUE(inserted);
  EXPECT_EQ(inserted->stopped_by, insert_outcome::full);
  EXPECT_GT(inserted->done, 1000U);
  keys.resize(inserted->done);
  for (const std::string& key : keys) ASSERT_TRUE(filter.may_contain(key));
  const auto bytes = filter.image()->bytes();
  ASSERT_EQ(insert_all(filter, {dialect_sample::hash_of(inserted->done)})->done, 0U);
  EXPECT_EQ(filter.image()->bytes(), bytes);
}

TEST(passwdqc, what_is_not_a_hash_is_no_key) {
  auto filter = made(10);
  EXPECT_FALSE(filter.accepts("password"));
  EXPECT_FALSE(filter.accepts(std::string(20, 'x')));
  EXPECT_EQ(insert_all(filter, {"password"})->done, 0U);
  EXPECT_FALSE(filter.may_contain("password"));
  const auto no_hash = d::create(*d::find("passwdqc").value(), {.capacity = 5});
  EXPECT_NE(no_hash.error().message.find("--with hash: give"), std::string::npos);
}

TEST(passwdqc, a_malformed_bucket_is_named_or_may_contain_anything) {
  auto bytes = vector_file("md4-64.pwq");
  std::size_t empty = 64;
  while (bytes[empty] != std::byte{0} || bytes[empty + 8] != std::byte{0}) empty += 16;
  bytes[empty] = std::byte{2};
  const auto refused = d::open(mapped_storage(nullptr, bytes), {.name = "f"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            fmt::format("f: its bucket {}, at byte {}, has no valid entries; get the file anew",
                        (empty - 64) / 16, empty));
  const auto unread =
      d::open(mapped_storage(nullptr, bytes), {.name = "f", .verify = verification::header});
  ASSERT_TRUE(unread);
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < 1000; ++i)
    passed += unread->may_contain(dialect_sample::hash_of(i));
  EXPECT_GT(passed, 0U);
}

}  // namespace passwdqc
}  // namespace
}  // namespace bloomset::test
