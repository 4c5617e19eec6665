// Clubcards of revoked certificates, against files that the crate wrote.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bloomset/dialects/dialect.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <tuple>

#include "tests/dialects/revocation_files.hpp"
#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

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

}  // namespace
}  // namespace bloomset::test
