// Filters of other programs, against vectors that their projects publish or that were recorded from
// the software itself. Each test names its source.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/dialects/dialect.hpp>
#include <set>

#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

namespace d = bloomset::dialects;

/// The filter of these keys as the bytes of a file of that software, in hexadecimal.
std::string built(std::string_view format, plan_request request,
                  const std::vector<std::string>& keys) {
  auto filter = d::create(*d::find(format).value(), request);
  if (!filter) return filter.error().message;
  if (const auto ok = insert_all(*filter, keys); !ok) return ok.error().message;
  return to_hex(filter->image()->bytes());
}

/// The places of a key in a filter, from the bits that it sets in an empty one. `order` flips the
/// places of formats with big-endian words.
std::set<std::uint64_t> places(std::string_view format, const plan_request& request,
                               const std::string& key, std::uint64_t order = 0) {
  auto filter = d::create(*d::find(format).value(), request);
  if (!filter) throw std::runtime_error(filter.error().message);
  if (!insert_all(*filter, {key})) throw std::runtime_error("no such key");
  const auto image = filter->image();
  std::set<std::uint64_t> found;
  for (std::uint64_t p = 0; p < image->bits.size() * 8; ++p) {
    if ((std::to_integer<unsigned>(image->bits[p / 8]) >> (p % 8) & 1U) != 0) {
      found.insert(p ^ order);
    }
  }
  return found;
}

using set = std::set<std::uint64_t>;

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

// Guava ----------------------------------------------------------------------------------------

// Recorded from Guava 31.1.
TEST(guava, three_words_and_a_long) {
  EXPECT_EQ(built("guava", {.capacity = 10, .fpr = 0.03, .options = {{"funnel", "utf8"}}},
                  {"hello", "world", "foo"}),
            "01050000000200100010090000042040854240042000");
  EXPECT_EQ(built("guava", {.capacity = 10, .fpr = 0.03, .options = {{"funnel", "int64"}}}, {"42"}),
            "01050000000200000000000000000100000000000000");
}

TEST(guava, utf16le_is_the_bytes_of_the_units) {
  // a, é, the euro sign and a treble clef, which is a pair of surrogates.
  const std::string text = "a\u00e9\u20ac\U0001d11e";
  const std::string units("a\0\xe9\0\xac\x20\x34\xd8\x1e\xdd", 10);
  const plan_request request{.capacity = 1000, .fpr = 0.01};
  const auto with = [&](std::string funnel, const std::string& key) {
    plan_request one = request;
    one.options = {{"funnel", std::move(funnel)}};
    return places("guava", one, key);
  };
  EXPECT_EQ(with("utf16le", text), with("bytes", units));
  EXPECT_NE(with("utf16le", text), with("utf8", text));
  EXPECT_EQ(with("int32", "-2"), with("bytes", "\xfe\xff\xff\xff"));
  EXPECT_EQ(with("int64", "-2"), with("bytes", "\xfe\xff\xff\xff\xff\xff\xff\xff"));
}

TEST(guava, a_key_that_the_funnel_cannot_take_is_no_member_and_is_not_inserted) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"int32", {"", "x", "1x", "2147483648", "-2147483649", "1.5", " 1", "+1"}},
      {"int64", {"9223372036854775808", "0x10"}},
      {"utf16le", {"\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}},
  };
  for (const auto& [funnel, keys] : cases) {
    auto filter =
        d::create(*d::find("guava").value(), {.capacity = 10, .options = {{"funnel", funnel}}})
            .value();
    for (const std::string& key : keys) {
      EXPECT_FALSE(filter.accepts(key)) << funnel << ": " << key;
      EXPECT_FALSE(filter.may_contain(key));
      const std::vector<std::string_view> batch = {"1", key, "2"};
      EXPECT_EQ(filter.insert(batch)->done, 1U) << funnel << ": " << key;
    }
  }
}

TEST(guava, the_32_bit_strategy_and_the_other_funnels) {
  const auto request = [](const std::string& funnel, const std::string& strategy = "64") {
    return plan_request{
        .capacity = 10, .fpr = 0.03, .options = {{"funnel", funnel}, {"strategy", strategy}}};
  };
  EXPECT_EQ(built("guava", request("utf8", "32"), {"hello", "world", "foo"}),
            "00050000000200200000129001020011201000004084");
  EXPECT_EQ(built("guava", request("int32"), {"42", "-2"}),
            "01050000000204000080200200010810002000808000");
  EXPECT_EQ(built("guava", request("utf16le"), {"a\u00e9\u20ac\U0001d11e"}),
            "01050000000220010008004002000000000000000000");
  std::vector<std::string> twenty;
  for (int i = 0; i < 20; ++i) twenty.push_back("key" + std::to_string(i));
  plan_request hundred = request("utf8", "32");
  hundred.capacity = 100;
  hundred.fpr = 0.01;
  EXPECT_EQ(built("guava", hundred, twenty),
            "00070000000f60400c90808000420000000004001083110000084850400002020890004000212602000000"
            "008102000030404114050000000040000000180910010004206000800002082542440824142a120000040c"
            "00200040000c0208200001d000a0022004e0c8004408202d80410444002704040081004024800040");
  hundred.options.back().second = "64";
  EXPECT_EQ(built("guava", hundred, twenty),
            "01070000000f10c500048080004519000042c010008004105004008001000a061051102034000480000000"
            "2120000443400600220020040006001027580a0104601c0000400000200200144008000040000000a45004"
            "1108000004014818401a440000240080040411000120000400804000206621000500800010020503");
}

// k follows from the m that was cut to a whole number.
TEST(guava, sizes) {
  struct row {
    std::uint64_t n;
    double p;
    std::string head;
  };
  for (const auto& [n, p, head] :
       {row{1, 0.01, "010600000001"}, row{2, 0.01, "010700000001"}, row{10, 0.0215, "010500000002"},
        row{1000, 0.0215, "01060000007d"}, row{1000, 0.5, "010100000017"},
        row{1, 1e-6, "011300000001"}, row{10, 1e-6, "011400000005"},
        row{1000, 1e-6, "0114000001c2"}}) {
    EXPECT_EQ(built("guava", {.capacity = n, .fpr = p}, {}).substr(0, 12), head) << n << " " << p;
  }
}

TEST(guava, without_its_funnel_it_answers_nothing) {
  const auto bytes = from_hex("01050000000200100010090000042040854240042000");
  const auto filter = d::open(mapped_storage(nullptr, bytes));
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->format().name, "guava");
  ASSERT_FALSE(filter->askable());
  EXPECT_NE(filter->askable().error().message.find("give --with funnel=utf8"), std::string::npos);
  EXPECT_EQ(filter->info().bits, 128U);
  EXPECT_FALSE(filter->may_contain("hello"));
}

// Spark ----------------------------------------------------------------------------------------

plan_request spark(const std::string& type, const std::string& version = "2") {
  return {.capacity = 10, .fpr = 0.03, .options = {{"type", type}, {"version", version}}};
}

// Recorded from Spark 4.3.0 (spark-sketch), as all vectors of this section.
TEST(spark, strings_and_longs_of_both_versions) {
  // Bytes above 0x7f at the end of a key are hashed with their sign.
  const std::vector<std::string> strings = {"hello",  "world",           "foo",
                                            "\u00e9", "gr\u00fc\u00dfe", ""};
  const std::vector<std::string> longs = {"42", "-1", "-9223372036854775808"};
  EXPECT_EQ(built("spark", spark("string", "1"), strings),
            "000000010000000500000002830c0884380120010640082000020420");
  EXPECT_EQ(built("spark", spark("long", "1"), longs),
            "00000001000000050000000208245000010880002002000000040492");
  EXPECT_EQ(built("spark", spark("string"), strings),
            "000000020000000500000000000000021000020448102a410102200006008082");
  EXPECT_EQ(built("spark", spark("long"), longs),
            "0000000200000005000000000000000240080001200000840402000010024b20");
  EXPECT_EQ(built("spark", spark("bytes"), strings), built("spark", spark("string"), strings));
  EXPECT_EQ(built("spark", spark("int64"), longs), built("spark", spark("long"), longs));
}

TEST(spark, the_seed_of_version_2_is_a_number_of_32_bits) {
  const std::vector<std::string> longs = {"42", "-1", "-9223372036854775808"};
  plan_request seeded = spark("long");
  seeded.seed = 77;
  EXPECT_EQ(built("spark", seeded, longs),
            "00000002000000050000004d000000021010000000c080402010180000101012");
  seeded.seed = 0xfffffffb;  // -5
  EXPECT_EQ(built("spark", seeded, longs),
            "0000000200000005fffffffb0000000200040000006003002622300040008000");
  seeded.seed = std::uint64_t{1} << 32;
  EXPECT_EQ(built("spark", seeded, longs), "the seed of Spark's filter is a number of 32 bits");
}

TEST(spark, twenty_strings) {
  std::vector<std::string> twenty;
  for (int i = 0; i < 20; ++i) twenty.push_back("key" + std::to_string(i));
  plan_request hundred = spark("string", "1");
  hundred.capacity = 100;
  hundred.fpr = 0.01;
  EXPECT_EQ(built("spark", hundred, twenty),
            "00000001000000070000000f100020460000008200246000880a2100008000008304000000000400004080"
            "000400000080040000222008402220020880240005488000c06081490d2400000200040044200000000208"
            "70410040003202400023200000401002082032000a0010410400000006020482460c523001030c06022018"
            "1a2008");
  hundred.options.back().second = "2";
  EXPECT_EQ(built("spark", hundred, twenty),
            "0000000200000007000000000000000f0020c4c010040120d24e4000040090040000420481702024104000"
            "004101004800021840200071000a0000000230203004c100042132451052c0402000000403104000000400"
            "0800001a4400100410008000014000002404020c141088c40000040200000050040008290200a042112020"
            "02002108042002");
}

// Two keys whose sums cross zero, with 255 functions: their first hashes are -7 and 19, their
// second ones are negative.
TEST(spark, sums_below_zero) {
  const plan_request request{.capacity = 1, .bits = 368, .options = {{"type", "long"}}};
  EXPECT_EQ(built("spark", request, {"282190854"}),
            "00000002000000ff0000000000000006" + std::string(96, '5'));
  EXPECT_EQ(built("spark", request, {"66813494"}),
            "00000002000000ff0000000000000006249249249249249292492492492492494924924924924924249249"
            "249249249292492492492492494924924924924924");
}

TEST(spark, sizes) {
  struct row {
    plan_request request;
    std::string head;
  };
  for (const auto& [request, head] :
       {row{{.capacity = 1, .fpr = 0.01}, "00000002000000060000000000000001"},
        row{{.capacity = 10, .fpr = 0.0215}, "00000002000000050000000000000002"},
        row{{.capacity = 1000, .fpr = 0.0215}, "0000000200000006000000000000007d"},
        row{{.capacity = 1000, .fpr = 1e-6}, "000000020000001400000000000001c2"},
        row{{.capacity = 3}, "00000002000000050000000000000001"},
        row{{.capacity = 10, .bits = 1000}, "00000002000000450000000000000010"},
        row{{.capacity = 1000, .bits = 8192}, "00000002000000060000000000000080"},
        row{{.capacity = 1000, .bits = 100}, "00000002000000010000000000000002"}}) {
    EXPECT_EQ(built("spark", request, {}).substr(0, 32), head);
  }
  EXPECT_NE(
      built("spark", {.capacity = 1, .bits = 400}, {}).find("more than the 255 hash functions"),
      std::string::npos);
  EXPECT_EQ(built("spark", {.capacity = 1, .fpr = 0.1, .bits = 400}, {}),
            "give a rate or a number of bits, not both");
}

TEST(spark, versions_and_seeds_do_not_merge) {
  const auto& row = *d::find("spark").value();
  plan_request seeded = spark("long");
  seeded.seed = 1;
  auto filter = d::create(row, spark("long")).value();
  EXPECT_TRUE(filter.merge(d::create(row, spark("long")).value()));
  for (const plan_request& other : {spark("long", "1"), seeded, spark("string")}) {
    EXPECT_EQ(filter.merge(d::create(row, other).value()).error().code, errc::incompatible);
  }
}

// Cassandra ------------------------------------------------------------------------------------

d::foreign_filter cassandra(std::string_view hex, const std::string& version) {
  static std::vector<std::vector<std::byte>> kept;
  kept.push_back(from_hex(hex));
  auto filter = d::open(mapped_storage(nullptr, kept.back()),
                        {.name = "f", .options = {{"version", version}, {"type", "bytes"}}});
  if (!filter) throw std::runtime_error(filter.error().message);
  return std::move(*filter);
}

// Scylla's tests of reading sstables (test/resource/sstables) of version mc and la.
TEST(cassandra, filters_of_scyllas_tests) {
  const std::string five("\0\0\0\5", 4);
  const std::string one("\0\0\0\1", 4);
  const auto mc = cassandra("0000000500000002802028008006281621021242c8002000", "mc");
  EXPECT_TRUE(mc.may_contain(five));
  EXPECT_TRUE(mc.may_contain(one));
  const auto la = cassandra("00000005000000010108000210000400", "la");
  EXPECT_TRUE(la.may_contain("keykeykeykey"));
  const plan_request seven{.capacity = 7, .options = {{"version", "mc"}, {"type", "bytes"}}};
  EXPECT_EQ(places("cassandra", seven, five, 56), (set{63, 11, 43, 97, 105}));
  EXPECT_EQ(places("cassandra", seven, one, 56), (set{102, 53, 4, 45, 94}));
  EXPECT_EQ(built("cassandra", {.capacity = 1, .options = {{"version", "la"}, {"type", "text"}}},
                  {"keykeykeykey"}),
            "00000005000000010108000210000400");
}

// The same filter, whose table has the key int.
TEST(cassandra, a_key_is_serialised_by_its_type) {
  const auto bytes = from_hex("0000000500000002802028008006281621021242c8002000");
  const auto opened = [&](const d::option_list& options) {
    return d::open(mapped_storage(nullptr, bytes),
                   {.name = "mc-1-big-Filter.db", .options = options});
  };
  const auto of_ints = opened({{"type", "int"}});
  ASSERT_TRUE(of_ints);
  EXPECT_TRUE(of_ints->may_contain("5") && of_ints->may_contain("1"));
  EXPECT_FALSE(of_ints->may_contain("42"));
  EXPECT_FALSE(of_ints->accepts("4294967296"));
  EXPECT_FALSE(of_ints->fits("five"));
  EXPECT_NE(opened({})->askable().error().message.find("give --with type=bytes (or text"),
            std::string::npos);
  EXPECT_FALSE(opened({{"type", "long"}}));
  const auto serialised = [](std::string_view type, const std::string& key,
                             const std::string& as_bytes) {
    const auto of = [](std::string_view name) {
      return plan_request{.capacity = 1000,
                          .options = {{"version", "nb"}, {"type", std::string(name)}}};
    };
    EXPECT_EQ(places("cassandra", of(type), key), places("cassandra", of("bytes"), as_bytes))
        << type;
  };
  serialised("int", "-2", "\xff\xff\xff\xfe");
  serialised("bigint", "258", std::string("\0\0\0\0\0\0\1\2", 8));
  serialised("smallint", "258", "\1\2");
  serialised("tinyint", "-1", "\xff");
  serialised("text", "42", "42");
  serialised("uuid", "30313233-3435-3637-3839-616263646566", "0123456789abcdef");
}

// The order of m*, in bytes as Cassandra 4 has them.
TEST(cassandra, since_na_the_bytes_are_the_bits) {
  const plan_request mc{.capacity = 7, .options = {{"version", "mc"}, {"type", "bytes"}}};
  const plan_request nb{.capacity = 7, .options = {{"version", "nb"}, {"type", "bytes"}}};
  const std::string key("\0\0\0\5", 4);
  EXPECT_EQ(places("cassandra", nb, key), places("cassandra", mc, key, 56));
  const auto hex = "0000000500000002802028008006281621021242c8002000";
  const auto old = cassandra(hex, "mc");
  auto converted = old.convert(old.format(), {{"version", "nb"}});
  ASSERT_TRUE(converted);
  EXPECT_TRUE(converted->may_contain(key));
  EXPECT_EQ(to_hex(converted->image()->bytes()),
            "0000000500000002162806800028208000"
            "2000c842120221");
  EXPECT_EQ(to_hex(converted->convert(old.format(), {{"version", "me"}})->image()->bytes()), hex);
  EXPECT_FALSE(old.convert(old.format(), {{"version", "la"}}));
}

TEST(cassandra, the_version_is_read_from_the_files_name) {
  const auto bytes = from_hex("00000005000000010108000210000400");
  const auto variant = [&](const std::string& name) {
    return d::open(mapped_storage(nullptr, bytes), {.name = name})->info().variant;
  };
  EXPECT_EQ(variant("data/ks/t/mc-1-big-Filter.db"), "versions ma to mt");
  EXPECT_EQ(variant("la-3-big-Filter.db"), "versions ka and la");
  EXPECT_EQ(variant("ks-table-ka-1-Filter.db"), "versions ka and la");
  EXPECT_EQ(variant("nb-1-big-Filter.db"), "version na and later");
  EXPECT_EQ(variant("da-1-bti-Filter.db"), "version na and later");
  for (const std::string name : {"me", "ms", "mt"}) {  // the last two are Scylla's
    EXPECT_EQ(variant(name + "-3gfb_0t1s_2alio2tdbvbb3alk8z-big-Filter.db"), "versions ma to mt");
  }
  EXPECT_EQ(variant("mc-1-big-Other.db"), "of an unknown version");
  EXPECT_EQ(variant("nb-3gfb_0t1s_2alio2tdbvbb3alk8z-big-Filter.db"), "version na and later");
  EXPECT_EQ(variant("ks-table.index-ka-1-Filter.db"), "versions ka and la");
  EXPECT_EQ(variant("my-users-ka-1-Filter.db"), "versions ka and la");
  for (const std::string name :
       {"jb-1-Filter.db", "my-Filter.db", "mc-Filter.db", "mz-1-big-Filter.db",
        "da-1-big-Filter.db", "nb-1-bti-Filter.db", "-Filter.db", "Filter.db", "ka-1-Filter.db"}) {
    EXPECT_EQ(variant(name), "of an unknown version") << name;
  }
}

TEST(cassandra, a_name_to_be_written_tells_the_version_too) {
  const auto& format = *d::find("cassandra").value();
  using options = d::option_list;
  EXPECT_EQ(d::options_for(format, "out/nb-1-big-Filter.db", {}).value(),
            (options{{"version", "nb"}}));
  EXPECT_EQ(d::options_for(format, "plain", {{"version", "mc"}}).value(),
            (options{{"version", "mc"}}));
  const auto refused = d::options_for(format, "nb-1-big-Filter.db", {{"version", "mc"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "nb-1-big-Filter.db: its name says version=nb, not mc; give it another name or leave the "
      "option out");
}

// The same bits, of tables whose filters probe or lie otherwise.
TEST(cassandra, filters_of_unknown_versions_do_not_merge) {
  const auto bytes = from_hex("00000005000000010108000210000400");
  const auto named = [&](const std::string& name) {
    return d::open(mapped_storage(nullptr, bytes), {.name = name, .how = access::writable}).value();
  };
  auto known = named("mc-1-big-Filter.db");
  auto unknown = named("saved");
  EXPECT_TRUE(known.merge(named("md-2-big-Filter.db")));
  for (auto* into : {&known, &unknown}) {
    const auto refused = into->merge(named("other"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::invalid_argument);
  }
  EXPECT_FALSE(known.merge(named("nb-1-big-Filter.db")));
}

TEST(cassandra, sizes_are_those_of_its_table) {
  // Of BloomCalculations: rate, bits a key, functions.
  struct row {
    double fpr;
    unsigned per_key;
    unsigned hashes;
  };
  for (const auto& [fpr, per_key, hashes] :
       {row{0.5, 1, 2}, row{0.1, 5, 3}, row{0.092, 5, 3}, row{0.01, 10, 5}, row{0.001, 15, 7},
        row{0.0001, 20, 10}, row{6.71e-05, 20, 14}}) {
    const auto filter = d::create(*d::find("cassandra").value(),
                                  {.capacity = 6400, .fpr = fpr, .options = {{"version", "mc"}}});
    ASSERT_TRUE(filter) << fpr;
    EXPECT_EQ(filter->info().bits, 6400 * per_key + 64) << fpr;
    EXPECT_EQ(filter->info().hashes, hashes) << fpr;
  }
  EXPECT_FALSE(d::create(*d::find("cassandra").value(),
                         {.capacity = 6400, .fpr = 6e-5, .options = {{"version", "mc"}}}));
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
