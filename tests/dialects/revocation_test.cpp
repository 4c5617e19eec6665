// Filters of revoked certificates and of blocked add-ons, against files that the original software
// wrote (tests/dialects/revocation/README.md).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/dialects/dialect.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <tuple>

#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

namespace d = bloomset::dialects;

const std::filesystem::path vectors = BLOOMSET_REVOCATION_VECTORS;

std::vector<std::byte> bytes_of(const std::filesystem::path& file) {
  const auto mapped = map_bytes(file);
  if (!mapped) throw std::runtime_error(mapped.error().message);
  return {mapped->bytes().begin(), mapped->bytes().end()};
}

/// Opens a file by its content, as the command does.
result<d::foreign_filter> open_file(const std::filesystem::path& file,
                                    access how = access::read_only) {
  auto bytes = map_bytes(file);
  if (!bytes) return fail(bytes.error());
  return d::open(*bytes, {.name = file.string(), .how = how});
}

std::string id(char digit) {
  return std::string(64, digit);
}

/// The serial number of certificate j in the vectors: of one form if j is even, else with a leading
/// zero.
std::string serial(unsigned j) {
  return j % 2 == 0 ? fmt::format("{:04x}", j) : fmt::format("00{:02x}{:02x}", 0x80 + j, j);
}

enum class answer : std::uint8_t { unknown, good, revoked };

answer ask(const d::foreign_filter& filter, std::string_view key) {
  bool covered = false;
  filter.covers({&key, 1}, {&covered, 1});
  const bool revoked = filter.may_contain(key);
  EXPECT_TRUE(covered || !revoked) << key;
  return !covered ? answer::unknown : revoked ? answer::revoked : answer::good;
}

// Cascades -------------------------------------------------------------------------------------

struct cascade_vector {
  std::string_view file;
  std::string_view hash;
  std::uint64_t layers;
};

TEST(cascade, answers_as_rust_cascade) {
  for (const auto& [file, hash, layers] :
       {cascade_vector{"cascade-deep-sha256l32.mlbf", "sha256", 7},
        cascade_vector{"cascade-deep-murmur3.mlbf", "murmur3", 6}}) {
    const auto filter = open_file(vectors / file);
    ASSERT_TRUE(filter) << filter.error().message;
    for (int i = 0; i < 20'000; ++i) {
      if (i < 300) EXPECT_TRUE(filter->may_contain(fmt::format("in{}@x:{}", i, i % 7)));
      EXPECT_FALSE(filter->may_contain(fmt::format("out{}@x:{}", i, i % 7))) << file << i;
    }
    const auto info = filter->info();
    EXPECT_EQ(std::get<std::uint64_t>(find_property(info.extras, "layers")->value), layers);
    EXPECT_EQ(std::get<std::string>(find_property(info.extras, "hash")->value), hash);
    EXPECT_NEAR(info.estimated_size.value(), 300, 15);
  }
}

TEST(cascade, the_stream_of_hash_3_runs_on_from_layer_to_layer) {
  const auto filter = open_file(vectors / "cascade-sha256ctr.mlbf");
  ASSERT_TRUE(filter) << filter.error().message;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(filter->may_contain(fmt::format("addon{}@example.com:1.{}", i, i % 3)), i < 20) << i;
  }
}

/// A cascade of those members among the numbers below n.
result<d::foreign_filter> cascade_of(unsigned n, unsigned members, d::option_list options = {}) {
  std::vector<std::string> all;
  for (unsigned i = 0; i < n; ++i) all.push_back(std::to_string(i));
  const auto views = views_of(all);
  return d::build(*d::find("cascade").value(), {.options = std::move(options)},
                  {.members = d::key_source::of(std::span(views).first(members)),
                   .universe = d::key_source::of(views)});
}

TEST(cascade, every_share_of_members_is_exact) {
  for (const unsigned members : {0U, 1U, 10U, 500U, 501U, 990U, 999U, 1000U}) {
    const auto filter = cascade_of(1000, members);
    ASSERT_TRUE(filter) << filter.error().message;
    for (unsigned i = 0; i < 1000; ++i) {
      ASSERT_EQ(filter->may_contain(std::to_string(i)), i < members) << members;
    }
    const bool inverted = std::get<bool>(find_property(filter->info().extras, "inverted")->value);
    EXPECT_EQ(inverted, members > 500);
  }
}

TEST(cascade, options_are_refused_that_it_cannot_store) {
  const auto says = [](unsigned members, d::option_list options) {
    const auto filter = cascade_of(10, members, std::move(options));
    return filter ? std::string() : filter.error().message;
  };
  EXPECT_EQ(says(1, {{"version", "1"}}), "");
  EXPECT_NE(says(6, {{"version", "1"}}).find("leave version out"), std::string::npos);
  EXPECT_NE(says(1, {{"version", "1"}, {"salt", "00"}}).find("no salt"), std::string::npos);
  EXPECT_NE(says(1, {{"version", "3"}}).find("from 1 to 2"), std::string::npos);
  EXPECT_NE(says(1, {{"hash", "md5"}}).find("murmur3"), std::string::npos);
  EXPECT_NE(says(1, {{"hash", "murmur3"}, {"salt", "00"}}).find("no salt"), std::string::npos);
  for (const std::string& salt : {std::string("0"), std::string("xy"), std::string(512, '0')}) {
    EXPECT_NE(says(1, {{"salt", salt}}).find("hexadecimal"), std::string::npos) << salt;
  }
  EXPECT_EQ(says(1, {{"salt", std::string(510, '0')}}), "");
}

TEST(cascade, cannot_be_merged) {
  auto filter = open_file(vectors / "cascade-sha256ctr.mlbf", access::writable);
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->merge(*open_file(vectors / "cascade-sha256ctr.mlbf")).error().code,
            errc::unsupported);
}

TEST(cascade, wrong_fields_are_named) {
  const auto good = bytes_of(vectors / "cascade-deep-sha256l32.mlbf");
  const auto says = [&](std::size_t at, unsigned byte) {
    auto bytes = good;
    bytes[at] = static_cast<std::byte>(byte);
    const auto opened = d::open(*d::find("cascade").value(), mapped_storage(nullptr, bytes));
    return opened ? std::string() : opened.error().message;
  };
  // 2 bytes of version, a flag, the salt's length, 16 bytes of salt, then the first layer.
  EXPECT_NE(says(0, 3).find("its version is 3"), std::string::npos);
  EXPECT_NE(says(2, 2).find("is inverted is 2"), std::string::npos);
  EXPECT_NE(says(3, 255).find("layer 1"), std::string::npos);
  EXPECT_NE(says(20, 4).find("hash function 4"), std::string::npos);
  EXPECT_NE(says(24, 255).find("bytes follow"), std::string::npos);
  EXPECT_NE(says(26, 255).find("hash functions"), std::string::npos);
  EXPECT_NE(says(29, 2).find("says that it is layer 2"), std::string::npos);
}

// Clubcards ------------------------------------------------------------------------------------

/// The right answer of five.v4.clubcard, in which two exceptions stand.
answer answer_of_five(char issuer, unsigned j) {
  switch (issuer) {
    case 'a':
      return j < 10 && j != 3 ? answer::revoked : answer::good;
    case 'b':
      return j < 10 ? answer::revoked : answer::good;
    case 'c':
      return answer::revoked;
    case 'd':
      return answer::good;
    default:
      return j < 30 || j == 35 ? answer::revoked : answer::good;
  }
}

constexpr std::array<std::pair<char, unsigned>, 5> issuers = {
    {{'a', 100}, {'b', 100}, {'c', 5}, {'d', 5}, {'e', 40}}};

TEST(clubcard, answers_as_the_crate) {
  for (const std::string_view file : {"five.v4.clubcard", "five.v3.clubcard"}) {
    for (const access how : {access::read_only, access::writable}) {
      const auto filter = open_file(vectors / file, how);
      ASSERT_TRUE(filter) << filter.error().message;
      for (const auto& [issuer, certificates] : issuers) {
        for (unsigned j = 0; j < certificates; ++j) {
          EXPECT_EQ(ask(*filter, id(issuer) + ":" + serial(j)), answer_of_five(issuer, j))
              << file << issuer << j;
        }
      }
      EXPECT_EQ(ask(*filter, id('1') + ":" + serial(0)), answer::unknown);
      EXPECT_EQ(filter->image()->bytes(), bytes_of(vectors / file));
    }
  }
  const auto two = open_file(vectors / "two.v4.clubcard");
  ASSERT_TRUE(two);
  for (unsigned j = 0; j < 100; ++j) {
    EXPECT_EQ(ask(*two, id('a') + ":" + serial(j)), j < 10 ? answer::revoked : answer::good);
  }
  EXPECT_EQ(ask(*two, id('c') + ":" + serial(0)), answer::unknown);
}

TEST(clubcard, a_log_shows_whether_a_certificate_is_covered) {
  const auto filter = open_file(vectors / "five.v4.clubcard");
  ASSERT_TRUE(filter);
  const auto log = [](int byte) {
    std::string text;
    for (int i = 0; i < 32; ++i) text += fmt::format("{:02x}", byte);
    return text;
  };
  const std::string key = id('a') + ":0000:";
  EXPECT_EQ(ask(*filter, key + log(1) + "@1000"), answer::revoked);
  EXPECT_EQ(ask(*filter, key + log(1) + "@999"), answer::unknown);
  EXPECT_EQ(ask(*filter, key + log(1) + "@2000000000000"), answer::revoked);
  EXPECT_EQ(ask(*filter, key + log(1) + "@2000000000001"), answer::unknown);
  EXPECT_EQ(ask(*filter, key + log(3) + "@1000"), answer::unknown);
  EXPECT_EQ(ask(*filter, key + log(2) + "@1000"), answer::unknown);
  EXPECT_EQ(ask(*filter, key + log(3) + "@1," + log(2) + "@1086400000"), answer::revoked);
}

TEST(clubcard, keys_have_one_form) {
  const auto filter = open_file(vectors / "five.v4.clubcard");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->stores_key_type());
  EXPECT_FALSE(filter->takes_any_key());
  EXPECT_EQ(ask(*filter, id('A') + ":0000"), answer::revoked);
  const std::string log = id('1');
  for (const std::string& key :
       {std::string(), std::string(":"), id('a'), id('a') + ":", id('a') + ":0", id('a') + ":0g",
        id('a').substr(2) + ":0000", id('a') + "0:0000",
        id('a') + ":0000:", id('a') + ":0000:" + log, id('a') + ":0000:" + log + "@",
        id('a') + ":0000:" + log + "@x", id('a') + ":0000:" + log + "@1,",
        id('a') + ":0000:" + log + "@-1", id('a') + ":0000:" + log + "@18446744073709551616",
        id('a') + ":0000:@1", id('a') + ":0000::"}) {
    const auto accepted = filter->accepts(key);
    ASSERT_FALSE(accepted) << key;
    EXPECT_NE(accepted.error().message.find("ISSUER:SERIAL"), std::string::npos);
    EXPECT_EQ(ask(*filter, key), answer::unknown) << key;
  }
}

TEST(clubcard, versions_are_converted_without_loss) {
  const auto three = open_file(vectors / "five.v3.clubcard");
  ASSERT_TRUE(three);
  const auto four = three->convert(three->format(), {});
  ASSERT_TRUE(four) << four.error().message;
  EXPECT_EQ(four->info().variant, "version 4");
  const auto back = four->convert(four->format(), {{"version", "3"}});
  ASSERT_TRUE(back);
  const auto again = back->convert(back->format(), {{"version", "4"}});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->image()->bytes(), four->image()->bytes());
  EXPECT_EQ(back->image()->bytes().size(), bytes_of(vectors / "five.v3.clubcard").size());
  EXPECT_EQ(four->image()->bytes().size(), bytes_of(vectors / "five.v4.clubcard").size());
  for (const auto& [issuer, certificates] : issuers) {
    for (unsigned j = 0; j < certificates; ++j) {
      EXPECT_EQ(ask(*four, id(issuer) + ":" + serial(j)), answer_of_five(issuer, j));
    }
  }
  EXPECT_EQ(three->convert(three->format(), {{"version", "2"}}).error().code,
            errc::invalid_argument);
  EXPECT_EQ(three->convert(three->format(), {{"coverage", ""}}).error().code,
            errc::invalid_argument);
}

/// Issuers of all sorts: none or all revoked, one of two, few, many, more than half.
TEST(clubcard, a_universe_of_several_issuers_is_exact) {
  std::mt19937_64 random(7);
  struct block {
    char issuer;
    unsigned certificates;
    unsigned revoked;
  };
  std::vector<std::string> members;
  std::vector<std::string> universe;
  double bound = 0;  // log2 of the number of such sets of members
  for (const auto& [issuer, certificates, revoked] :
       {block{'0', 1, 0}, block{'1', 1, 1}, block{'2', 2, 1}, block{'3', 100, 0},
        block{'4', 100, 100}, block{'5', 8'000, 80}, block{'6', 3'000, 1'490},
        block{'7', 1'000, 960}, block{'8', 5'000, 1}, block{'9', 1'000, 500}}) {
    for (unsigned i = 0; i < certificates; ++i) {
      universe.push_back(id(issuer) + fmt::format(":{:016x}{:08x}", random(), i));
      if (i < revoked) members.push_back(universe.back());
    }
    bound += (std::lgamma(certificates + 1.0) - std::lgamma(revoked + 1.0) -
              std::lgamma(certificates - revoked + 1.0)) /
             std::log(2.0);
  }
  const auto member_views = views_of(members);
  const auto universe_views = views_of(universe);
  const auto filter = d::build(
      *d::find("clubcard").value(), {},
      {.members = d::key_source::of(member_views), .universe = d::key_source::of(universe_views)});
  ASSERT_TRUE(filter) << filter.error().message;
  const std::set<std::string_view> revoked(member_views.begin(), member_views.end());
  for (const std::string_view key : universe_views) {
    ASSERT_EQ(ask(*filter, key), revoked.contains(key) ? answer::revoked : answer::good) << key;
  }
  // 2% more rows than equations, and whole columns; each column ends in some words more.
  const auto info = filter->info();
  const auto columns = std::get<std::uint64_t>(find_property(info.extras, "columns")->value) + 1;
  EXPECT_LT(static_cast<double>(info.bits), 1.15 * bound + 128.0 * static_cast<double>(columns));
}

TEST(clubcard, a_large_universe_is_read_twice_and_may_repeat_certificates) {
  std::mt19937_64 random(11);
  std::vector<std::string> members;
  std::vector<std::string> universe;
  // Others are about as many as members, twice and 64 times as many: estimates are near limits.
  for (const auto& [issuer, certificates, revoked] :
       {std::tuple{'1', 4'000U, 2'000U}, std::tuple{'2', 6'000U, 2'000U},
        std::tuple{'3', 65'000U, 1'000U}, std::tuple{'4', 4'000U, 2'500U}}) {
    for (unsigned i = 0; i < certificates; ++i) {
      universe.push_back(id(issuer) + fmt::format(":{:016x}{:08x}", random(), i));
      if (i < revoked) members.push_back(universe.back());
    }
  }
  unsigned passes = 0;
  const auto built = [&](const std::vector<std::string>& of, const std::vector<std::string>& in) {
    const auto member_views = views_of(of);
    const auto universe_views = views_of(in);
    passes = 0;
    const d::key_source counted{[&](const d::key_source::sink& use) {
      ++passes;
      return use(universe_views);
    }};
    return d::build(*d::find("clubcard").value(), {},
                    {.members = d::key_source::of(member_views), .universe = counted});
  };
  const auto filter = built(members, universe);
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(passes, 2U);
  const std::set<std::string> revoked(members.begin(), members.end());
  for (const std::string& key : universe) {
    ASSERT_EQ(filter->may_contain(key), revoked.contains(key)) << key;
  }
  std::shuffle(members.begin(), members.end(), random);
  for (std::size_t i = 0; i < 1'000; ++i) members.push_back(std::string(members[i]));
  std::erase_if(universe, [&](const std::string& key) { return revoked.contains(key); });
  const auto once = universe;
  for (int time = 0; time < 3; ++time) universe.insert(universe.end(), once.begin(), once.end());
  std::shuffle(universe.begin(), universe.end(), random);
  const auto again = built(members, universe);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->image()->bytes() == filter->image()->bytes());
}

TEST(clubcard, a_universe_that_cannot_be_read_again_is_named) {
  const std::string key = id('a') + ":00";
  const std::string_view view = key;
  int left = 1;
  const d::key_source once{[&](const d::key_source::sink& use) -> result<void> {
    if (left-- == 0) return fail(errc::io, "gone");
    return use({&view, 1});
  }};
  const auto filter = d::build(*d::find("clubcard").value(), {}, {.members = {}, .universe = once});
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().message, "gone");
}

TEST(clubcard, a_build_refuses_what_is_no_certificate_or_coverage) {
  const auto says = [](std::string_view key, d::option_list options) {
    const auto filter = d::build(*d::find("clubcard").value(), {.options = std::move(options)},
                                 {.members = d::key_source::of({&key, 1}), .universe = {}});
    return filter ? std::string() : filter.error().message;
  };
  const std::string key = id('a') + ":00";
  EXPECT_EQ(says(key, {}), "");
  EXPECT_NE(says("x", {}).find("'x' is not a certificate"), std::string::npos);
  EXPECT_EQ(says(key, {{"coverage", id('b') + "@1-2," + id('c') + "@0-18446744073709551615"}}), "");
  for (const std::string& coverage : {std::string(), id('b'), id('b') + "@1", id('b') + "@1-",
                                      id('b') + "@1-2,", id('b') + "@a-b"}) {
    EXPECT_NE(says(key, {{"coverage", coverage}}).find("LOG@FIRST-LAST"), std::string::npos)
        << coverage;
  }
  // A log can be named once.
  EXPECT_NE(says(key, {{"coverage", id('b') + "@1-2," + id('b') + "@1-2"}}).find("twice"),
            std::string::npos);
}

TEST(clubcard, wrong_fields_are_named) {
  const auto good = bytes_of(vectors / "two.v4.clubcard");
  const auto says = [&](std::size_t at, unsigned byte) {
    auto bytes = good;
    bytes[at] = static_cast<std::byte>(byte);
    const auto opened = d::open(*d::find("clubcard").value(), mapped_storage(nullptr, bytes));
    return opened ? std::string() : opened.error().message;
  };
  // 4 bytes of head, two logs of 48 bytes, the number of issuers, two issuers of 52 bytes.
  constexpr std::size_t issuer = 4 + 2 * 48 + 4;
  EXPECT_NE(says(0, 5).find("begin with 3 or 4"), std::string::npos);
  EXPECT_NE(says(1, 1).find("begin with 3 or 4"), std::string::npos);
  EXPECT_NE(says(2, 255).find("ends within its coverage"), std::string::npos);
  EXPECT_NE(says(issuer - 4, 255).find("ends within its issuers"), std::string::npos);
  EXPECT_NE(says(issuer, 0xff).find("issuer 2 is not in the order"), std::string::npos);
  EXPECT_NE(says(issuer + 36, 200).find("3 columns, but an issuer has 200"), std::string::npos);
  EXPECT_NE(says(issuer + 49, 2).find("issuer 1 is inverted is 2"), std::string::npos);
  EXPECT_NE(says(issuer + 50, 255).find("ends within its exceptions"), std::string::npos);
}

// The index ------------------------------------------------------------------------------------

class clubcard_index : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("bloomset-index-{}", std::random_device()());
    std::filesystem::create_directory(folder_);
    for (const std::string_view file : {"two.v4.clubcard", "five.v4.clubcard", "index.bin"}) {
      std::filesystem::copy_file(vectors / file, folder_ / file);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(std::string_view file, const std::vector<std::byte>& bytes) const {
    std::ofstream to(folder_ / file, std::ios::binary);
    to.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  }
  std::string says(const std::vector<std::byte>& index) const {
    write("index.bin", index);
    const auto opened = open_file(folder_ / "index.bin");
    return opened ? std::string() : opened.error().message;
  }

  std::filesystem::path folder_;
};

std::string log_01_at(std::uint64_t time) {
  std::string text = ":";
  for (int i = 0; i < 32; ++i) text += "01";
  return text + fmt::format("@{}", time);
}

TEST_F(clubcard_index, asks_all_filters_that_cover_a_certificate) {
  const auto filter = open_file(folder_ / "index.bin");
  ASSERT_TRUE(filter) << filter.error().message;
  for (const auto& [issuer, certificates] : issuers) {
    for (unsigned j = 0; j < certificates; ++j) {
      // In the first filter no exception hides aa's certificate 3.
      const answer right = issuer == 'a' && j == 3 ? answer::revoked : answer_of_five(issuer, j);
      const std::string key = id(issuer) + ":" + serial(j);
      EXPECT_EQ(ask(*filter, key + log_01_at(1'500'000'000'000)), right) << key;
      EXPECT_EQ(ask(*filter, key + log_01_at(999)), answer::unknown);
      EXPECT_EQ(ask(*filter, key), answer::unknown);
      EXPECT_FALSE(filter->accepts(key));
    }
  }
  EXPECT_EQ(ask(*filter, id('1') + ":0000" + log_01_at(1'500'000'000'000)), answer::unknown);
  EXPECT_EQ(filter->image()->bytes(), bytes_of(folder_ / "index.bin"));
  EXPECT_EQ(filter->convert(filter->format(), {}).error().code, errc::unsupported);
}

TEST_F(clubcard_index, a_merge_writes_it) {
  auto merged = open_file(folder_ / "two.v4.clubcard", access::writable);
  ASSERT_TRUE(merged);
  // Both, in the vector's order; then the index itself, which names nothing new.
  for (const std::string_view other : {"five.v4.clubcard", "index.bin", "two.v4.clubcard"}) {
    ASSERT_TRUE(merged->merge(*open_file(folder_ / other))) << other;
    EXPECT_EQ(merged->image()->bytes(), bytes_of(vectors / "index.bin")) << other;
  }
  const std::string key = id('a') + ":" + serial(3) + log_01_at(1'500'000'000'000);
  EXPECT_EQ(ask(*merged, key), answer::revoked);
  // A third filter is added to an index.
  std::filesystem::copy_file(vectors / "five.v3.clubcard", folder_ / "five.v3.clubcard");
  ASSERT_TRUE(merged->merge(*open_file(folder_ / "five.v3.clubcard")));
  EXPECT_EQ(says(merged->image()->bytes()), "");
  const auto again = open_file(folder_ / "index.bin");
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<std::uint64_t>(find_property(again->info().extras, "filters")->value), 3U);
  EXPECT_EQ(std::get<std::uint64_t>(find_property(again->info().extras, "intervals")->value), 6U);
}

TEST_F(clubcard_index, cannot_name_every_file) {
  auto merged = open_file(folder_ / "two.v4.clubcard", access::writable);
  ASSERT_TRUE(merged);
  const auto elsewhere = merged->merge(*open_file(vectors / "five.v4.clubcard"));
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, errc::incompatible);
  for (const std::string& name : {std::string("a b"), std::string(33, 'x')}) {
    std::filesystem::copy_file(vectors / "five.v3.clubcard", folder_ / name);
    const auto unnamed = merged->merge(*open_file(folder_ / name));
    ASSERT_FALSE(unnamed);
    EXPECT_NE(unnamed.error().message.find("cannot name the file '" + name + "'"),
              std::string::npos);
  }
  EXPECT_EQ(merged->image()->bytes(), bytes_of(vectors / "two.v4.clubcard"));
  auto reading = open_file(folder_ / "two.v4.clubcard");
  EXPECT_EQ(reading->merge(*open_file(folder_ / "five.v4.clubcard")).error().code,
            errc::unsupported);
}

TEST_F(clubcard_index, version_0_has_one_byte_for_files) {
  // The same index by hand: two files, the logs, the entries.
  const auto one = bytes_of(vectors / "index.bin");
  std::vector<std::byte> zero(one.begin(), one.begin() + 8);
  zero[7] = std::byte{'0'};
  zero.push_back(one[9]);
  zero.insert(zero.end(), one.begin() + 10, one.begin() + 14 + 64);
  constexpr std::size_t logs_at = 14 + 64;
  const std::size_t logs = std::to_integer<std::size_t>(one[13]);
  std::vector<std::byte> entries;
  const std::size_t first_entry = 13 + 64 + logs * 42;
  for (std::size_t log = 0; log < logs; ++log) {
    const std::byte* const at = one.data() + logs_at + log * 42;
    std::size_t from =
        std::to_integer<std::size_t>(at[38]) * 256 + std::to_integer<std::size_t>(at[39]);
    const std::size_t count = std::to_integer<std::size_t>(at[41]);
    zero.insert(zero.end(), at, at + 38);
    const std::size_t offset = first_entry + entries.size();
    zero.push_back(static_cast<std::byte>(offset / 256));
    zero.push_back(static_cast<std::byte>(offset % 256));
    zero.insert(zero.end(), at + 40, at + 42);
    for (std::size_t i = 0; i < count; ++i, from += 18) {
      entries.insert(entries.end(), one.begin() + static_cast<std::ptrdiff_t>(from) + 1,
                     one.begin() + static_cast<std::ptrdiff_t>(from) + 18);
    }
  }
  zero.insert(zero.end(), entries.begin(), entries.end());
  ASSERT_EQ(says(zero), "");
  const auto filter = open_file(folder_ / "index.bin");
  EXPECT_EQ(filter->info().variant, "index, upkiidx0");
  EXPECT_EQ(ask(*filter, id('e') + ":" + serial(35) + log_01_at(1'500'000'000'000)),
            answer::revoked);
  EXPECT_EQ(ask(*filter, id('e') + ":" + serial(34) + log_01_at(1'500'000'000'000)), answer::good);
}

TEST_F(clubcard_index, every_damage_is_refused_or_harmless) {
  const auto good = bytes_of(vectors / "index.bin");
  for (std::size_t size = 8; size < good.size(); ++size) {
    EXPECT_NE(says({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
  }
  for (std::size_t at = 8; at < good.size(); ++at) {
    for (const unsigned byte : {0U, 1U, 0x2fU, 0x7fU, 0xffU}) {
      auto bytes = good;
      bytes[at] = static_cast<std::byte>(byte);
      const std::string why = says(bytes);
      EXPECT_TRUE(why.empty() || why.starts_with(folder_.string())) << why;
    }
  }
  auto slash = good;
  slash[14] = std::byte{'/'};
  EXPECT_NE(says(slash).find("other characters"), std::string::npos);
  auto padded = good;
  padded[14 + 31] = std::byte{'x'};
  EXPECT_NE(says(padded).find("other characters"), std::string::npos);
}

TEST_F(clubcard_index, a_filter_that_is_missing_or_damaged_is_named) {
  const auto good = bytes_of(vectors / "index.bin");
  auto card = bytes_of(vectors / "two.v4.clubcard");
  card.pop_back();
  write("two.v4.clubcard", card);
  EXPECT_NE(says(good).find("its filter two.v4.clubcard: it ends"), std::string::npos);
  std::filesystem::remove(folder_ / "two.v4.clubcard");
  EXPECT_NE(says(good).find("names the filter two.v4.clubcard, which is not in its folder"),
            std::string::npos);
}

}  // namespace
}  // namespace bloomset::test
