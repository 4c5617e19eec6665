// Filters of other programs, against vectors that their projects publish or that were recorded from
// the software itself. Each test names its source.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/dialects/dialect.hpp>
#include <set>

#include "tests/dialects/foreign_places.hpp"
#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

// Squid ----------------------------------------------------------------------------------------

// Recorded from Squid 5.7 (Debian).
TEST(squid, three_urls_at_capacity_10) {
  const plan_request ten{.capacity = 10};
  EXPECT_EQ(places("squid", ten, "http://example.com/"), (set{43, 31, 50, 51}));
  EXPECT_EQ(places("squid", ten, "http://example.com/a?b=c"), (set{49, 19, 29, 44}));
  EXPECT_EQ(places("squid", ten, "http://127.0.0.1:18080/obj/1"), (set{18, 1, 29, 28}));
  const std::string all =
      built("squid", ten,
            {"http://example.com/", "http://example.com/a?b=c", "http://127.0.0.1:18080/obj/1"});
  EXPECT_EQ(all, "000500030000000a0000000300000000000000070504" + std::string(212, '0') +
                     "02000cb000180e");
}

// The same, a mask of 592 bits.
TEST(squid, three_urls_at_592_bits) {
  const plan_request request{.capacity = 118};
  EXPECT_EQ(places("squid", request, "http://127.0.0.1:18080/obj/1"), (set{98, 105, 53, 428}));
  EXPECT_EQ(places("squid", request, "http://127.0.0.1:18080/obj/2"), (set{408, 444, 491, 13}));
  EXPECT_EQ(places("squid", request, "http://127.0.0.1:18080/"), (set{134, 197, 570, 339}));
}

TEST(squid, the_method_is_a_part_of_the_key) {
  const auto get = places("squid", {.capacity = 100}, "http://example.com/");
  EXPECT_EQ(
      places("squid", {.capacity = 100, .options = {{"method", "GET"}}}, "http://example.com/"),
      get);
  EXPECT_NE(
      places("squid", {.capacity = 100, .options = {{"method", "HEAD"}}}, "http://example.com/"),
      get);
}

TEST(squid, every_insert_counts) {
  auto filter = d::create(*d::find("squid").value(), {.capacity = 10}).value();
  ASSERT_TRUE(insert_all(filter, {"http://a/", "http://a/", "http://b/"}));
  EXPECT_EQ(filter.info().count, 3U);
}

// Parquet --------------------------------------------------------------------------------------

/// Block and mask words of a value in a filter of 32 blocks.
std::pair<std::size_t, std::string> parquet_block(std::string_view type, const std::string& value) {
  auto filter = d::create(*d::find("parquet").value(),
                          {.options = {{"type", std::string(type)}, {"blocks", "32"}}})
                    .value();
  EXPECT_TRUE(insert_all(filter, {value}));
  const auto image = filter.image();
  EXPECT_EQ(to_hex(image->head), "1580101c1c00001c1c00001c1c000000");
  for (std::size_t block = 0; block < 32; ++block) {
    const auto bytes = image->bits.subspan(block * 32, 32);
    if (std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; })) {
      continue;
    }
    std::string words;
    for (std::size_t word = 0; word < 8; ++word) {
      for (std::size_t i = 4; i-- > 0;) {
        words += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[word * 4 + i]));
      }
      words += word == 7 ? "" : " ";
    }
    return {block, words};
  }
  return {};
}

// Computed from the specification (parquet-format, BloomFilter.md), and the same in files that
// DuckDB wrote; XXH64's own values are xxHash's.
TEST(parquet, values_in_32_blocks) {
  using expected = std::pair<std::size_t, std::string>;
  EXPECT_EQ(parquet_block("bytes", "word0"),
            expected(1, "08000000 00000080 00000040 00000010 00002000 00200000 00000001 00100000"));
  EXPECT_EQ(
      parquet_block("bytes", "word42"),
      expected(19, "04000000 20000000 00080000 04000000 00200000 10000000 00000400 02000000"));
  EXPECT_EQ(
      parquet_block("int32", "1"),
      expected(30, "00000004 04000000 00004000 00000004 04000000 00002000 02000000 00000800"));
}

TEST(parquet, a_value_is_hashed_as_the_integer_that_it_is_stored_as) {
  EXPECT_EQ(parquet_block("uint32", "4000000005"), parquet_block("int32", "-294967291"));
  EXPECT_EQ(parquet_block("uint64", "18446744073709550005"), parquet_block("int64", "-1611"));
  EXPECT_EQ(parquet_block("date", "2020-01-05"), parquet_block("int32", "18266"));
  EXPECT_EQ(parquet_block("date", "1969-12-31"), parquet_block("date", "-1"));
  EXPECT_EQ(parquet_block("uuid", "30313233-3435-3637-3839-616263646566"),
            parquet_block("bytes", "0123456789abcdef"));
}

d::foreign_filter parquet_of(std::string_view type, const std::vector<std::string>& values) {
  auto filter = d::create(*d::find("parquet").value(),
                          {.options = {{"type", std::string(type)}, {"blocks", "4096"}}})
                    .value();
  EXPECT_TRUE(insert_all(filter, values));
  return filter;
}

TEST(parquet, values_that_engines_take_for_equal_are_one) {
  for (const std::string type : {"float16", "float", "double"}) {
    for (const std::string zero : {"0", "-0.0"}) {
      const auto filter = parquet_of(type, {zero, "1.5"});
      for (const std::string key : {"0", "-0", "0.0", "-0e5", "1.5"}) {
        EXPECT_TRUE(filter.may_contain(key)) << type << key;
      }
      EXPECT_FALSE(filter.may_contain("-1.5")) << type;
    }
    // Any NaN may be in a filter that has values, because NaNs have too many encodings to ask for.
    EXPECT_TRUE(parquet_of(type, {"1.5"}).may_contain("nan"));
    EXPECT_TRUE(parquet_of(type, {"-nan"}).may_contain("NaN"));
    EXPECT_FALSE(parquet_of(type, {}).may_contain("nan"));
    // A filter is built of the values as they are, as writers do.
    EXPECT_NE(parquet_of(type, {"0"}).image()->bytes(), parquet_of(type, {"-0"}).image()->bytes());
  }
}

// Two positive and negative bytes, little-endian, of IEEE 754's binary16.
TEST(parquet, numbers_of_16_bits_are_the_nearest) {
  const auto image_of = [](const std::string& type, const std::string& value) {
    return parquet_of(type, {value}).image()->bytes();
  };
  const std::vector<std::pair<std::string, unsigned>> halves = {
      {"1", 0x3c00},    {"-2.5", 0xc100},   {"0.1", 0x2e66},  {"65519.9", 0x7bff},
      {"6e-8", 0x0001}, {"6.1e-5", 0x03ff}, {"2049", 0x6800}, {"2051", 0x6802},  // ties go to even
      {"-inf", 0xfc00}};
  for (const auto& [number, bits] : halves) {
    const std::string bytes = {static_cast<char>(bits & 0xff), static_cast<char>(bits >> 8)};
    EXPECT_EQ(image_of("float16", number), image_of("bytes", bytes)) << number;
  }
  EXPECT_FALSE(parquet_of("float16", {}).accepts("65520"));
}

TEST(parquet, the_writers_sizes_are_powers_of_two) {
  const auto bits = [](std::uint64_t n, double p) {
    return d::create(*d::find("parquet").value(), {.capacity = n, .fpr = p})->info().bits;
  };
  // -8 / ln(1 - p^(1/8)) bits a value, as parquet-mr and Arrow have it: 5.8, 9.7, 14.6 and 21.0.
  EXPECT_EQ(bits(1'000'000, 0.1), std::uint64_t{1} << 23);
  EXPECT_EQ(bits(1'000'000, 0.01), std::uint64_t{1} << 24);
  EXPECT_EQ(bits(1'000'000, 0.001), std::uint64_t{1} << 24);
  EXPECT_EQ(bits(1'000'000, 0.0001), std::uint64_t{1} << 25);
  EXPECT_EQ(bits(1, 0.01), 256U);
  EXPECT_FALSE(d::create(*d::find("parquet").value(), {.capacity = 1'000'000'000, .fpr = 0.001}));
}

TEST(parquet, the_older_murmur_form_is_refused) {
  // Algorithm and hash function as numbers, and a hash function that is another member.
  for (const std::string head : {"15401500150000", "15401c1c00001c2c00001c1c000000"}) {
    auto bytes = from_hex(head);
    bytes.resize(bytes.size() + 32);
    const auto filter =
        d::open(*d::find("parquet").value(), mapped_storage(nullptr, bytes), {.name = "f"});
    ASSERT_FALSE(filter) << head;
    EXPECT_EQ(filter.error().code, errc::unsupported) << filter.error().message;
    EXPECT_NE(filter.error().message.find("Murmur3"), std::string::npos);
  }
}

// LevelDB --------------------------------------------------------------------------------------

// leveldb util/bloom_test.cc and runs of LevelDB 1.23 (Debian).
TEST(leveldb, hello_and_world_at_10_bits) {
  EXPECT_EQ(built("leveldb", {.capacity = 2}, {"hello", "world"}), "114000414410401006");
  EXPECT_EQ(built("leveldb", {.capacity = 1}, {}), "000000000000000006");
}

TEST(leveldb, k_is_bits_a_key_times_0_69_within_1_and_30) {
  const auto k = [](const std::string& bits) {
    return d::create(*d::find("leveldb").value(),
                     {.capacity = 100, .options = {{"bits_per_key", bits}}})
        ->info()
        .hashes;
  };
  EXPECT_EQ(k("1"), 1U);
  EXPECT_EQ(k("10"), 6U);
  EXPECT_EQ(k("20"), 13U);
  EXPECT_EQ(k("100"), 30U);
}

// DCSO -----------------------------------------------------------------------------------------

// Recorded from DCSO bloom 0.2.4 (Debian).
TEST(dcso, places_of_bar_foo_and_hello) {
  EXPECT_EQ(places("dcso", {.capacity = 100'000, .fpr = 0.01}, "bar"),
            (set{20311, 36825, 412501, 835777, 658914, 853361, 307361}));
  const plan_request hundred{.capacity = 100, .fpr = 0.01};
  EXPECT_EQ(places("dcso", hundred, "foo"), (set{797, 521, 697, 605, 711, 221, 799}));
  EXPECT_EQ(places("dcso", hundred, "hello"), (set{137, 59, 65, 555, 735, 839, 491}));
  const auto info = d::create(*d::find("dcso").value(), hundred)->info();
  EXPECT_EQ(info.bits, 958U);
  EXPECT_EQ(info.hashes, 7U);
  EXPECT_EQ(d::create(*d::find("dcso").value(), {.capacity = 100'000, .fpr = 0.01})->info().bits,
            958505U);
}

TEST(dcso, only_a_change_counts_and_a_merge_adds) {
  const auto make = [](const std::vector<std::string>& keys) {
    auto filter = d::create(*d::find("dcso").value(), {.capacity = 100, .fpr = 0.01}).value();
    EXPECT_TRUE(insert_all(filter, keys));
    return filter;
  };
  auto a = make({"x", "y", "x"});
  EXPECT_EQ(a.info().count, 2U);
  ASSERT_TRUE(a.merge(make({"y"})));
  EXPECT_EQ(a.info().count, 3U);
}

TEST(dcso, data_at_the_end_is_kept) {
  auto bytes = sample("dcso").bytes;
  const auto data = from_hex("00ff7b7d0a");
  bytes.insert(bytes.end(), data.begin(), data.end());
  const auto filter = d::open(mapped_storage(nullptr, bytes));
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->image()->bytes(), bytes);
  const auto packed = filter->convert(filter->format(), {{"gzip", "yes"}});
  ASSERT_TRUE(packed);
  const auto packed_bytes = packed->image()->bytes();
  EXPECT_NE(packed_bytes, bytes);
  const auto again = d::open(mapped_storage(nullptr, packed_bytes));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->convert(again->format(), {{"gzip", "no"}})->image()->bytes(), bytes);
}

// BIP37 ----------------------------------------------------------------------------------------

// Bitcoin Core, src/test/bloom_tests.cpp.
TEST(bip37, bitcoins_vectors) {
  const auto key = [](std::string_view hex) {
    const auto bytes = from_hex(hex);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const std::vector<std::string> keys = {key("99108ad8ed9bb6274d3980bab5a85c048f0950c8"),
                                         key("b5a2c786d9ef4658287ced5914b37a1b4aa32eee"),
                                         key("b9300670b4c5366e95b2699e8b18bc75e5f729c5")};
  plan_request request{.capacity = 3, .fpr = 0.01, .options = {{"flags", "1"}}};
  EXPECT_EQ(built("bip37", request, keys), "03614e9b050000000000000001");
  request.seed = 2147483649;
  EXPECT_EQ(built("bip37", request, keys), "03ce4299050000000100008001");
}

// CBloomFilter's constructor in src/common/bloom.cpp, which divides m by n as whole numbers.
TEST(bip37, functions_are_as_many_as_bitcoins) {
  struct row {
    std::uint64_t n;
    double fpr;
    std::uint64_t bits;
    unsigned hashes;
  };
  for (const auto& [n, fpr, bits, hashes] :
       {row{3, 0.01, 24, 5}, row{10, 0.01, 88, 5}, row{100, 0.1, 472, 2}, row{100, 0.005, 1096, 6},
        row{1000, 0.007, 10320, 6}, row{1000, 0.01, 9584, 6}}) {
    const auto info = d::create(*d::find("bip37").value(), {.capacity = n, .fpr = fpr})->info();
    EXPECT_EQ(info.bits, bits) << n << " " << fpr;
    EXPECT_EQ(info.hashes, hashes) << n << " " << fpr;
  }
}

TEST(bip37, lengths_from_253_take_three_bytes) {
  for (const std::uint64_t n : {std::uint64_t{200}, std::uint64_t{250}, std::uint64_t{1000}}) {
    auto filter = d::create(*d::find("bip37").value(), {.capacity = n}).value();
    ASSERT_TRUE(insert_all(filter, {"a"}));
    const auto bytes = filter.image()->bytes();
    const auto size = filter.info().bits / 8;
    EXPECT_EQ(bytes.size(), size + 9 + (size < 253 ? 1 : 3));
    EXPECT_TRUE(d::open(mapped_storage(nullptr, bytes))->may_contain("a"));
  }
  EXPECT_FALSE(d::create(*d::find("bip37").value(), {.capacity = 1'000'000}));
}

}  // namespace
}  // namespace bloomset::test
