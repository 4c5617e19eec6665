// Filters of Guava, Spark and Cassandra, against vectors that were recorded from the software
// itself or that its projects publish. Each test names its source.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/dialects/dialect.hpp>
#include <set>

#include "tests/dialects/foreign_places.hpp"
#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

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

}  // namespace
}  // namespace bloomset::test
