// The probe rules of lectures, against other implementations and the lectures' own figures.

#include <gtest/gtest.h>

#include <bloomset/probe.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "teach/rules.hpp"
#include "tests/support/places.hpp"

namespace bloomset::teach {
namespace {

using test::bytes;
using test::indices;
using test::places;

static_assert(hasher<fnv_murmur_hasher>);
static_assert(probe_scheme<salted_hashing> && probe_scheme<md5_hashing> &&
              probe_scheme<fnv_murmur_hashing>);

TEST(lecture_rules, places_of_salted_hashing_are_pinned) {
  EXPECT_EQ(places<salted_hashing>("", 3, 1000, 0), (indices{564, 838, 259}));
  EXPECT_EQ(places<salted_hashing>("hello", 7, 9585, 0),
            (indices{6304, 8977, 4463, 8725, 2411, 2804, 7055}));
  EXPECT_EQ(places<salted_hashing>("alice@example.com", 4, 1099511627776, 0),
            (indices{564641563026, 1027630888929, 456351445410, 638700431716}));
  EXPECT_EQ(places<salted_hashing>("hello", 7, 9585, 42),
            (indices{7432, 6215, 4278, 5325, 9068, 1843, 779}));
  EXPECT_EQ(places<salted_hashing>("hello", 3, 1000003, 0x8000000000000001),
            (indices{583876, 669092, 430424}));
}

TEST(lecture_rules, places_of_md5_hashing_are_pinned) {
  EXPECT_EQ(places<md5_hashing>("", 3, 1000, 0), (indices{583, 570, 859}));
  EXPECT_EQ(places<md5_hashing>("hello", 7, 9585, 0),
            (indices{3265, 6837, 5356, 2024, 8683, 7593, 4814}));
  EXPECT_EQ(places<md5_hashing>("alice@example.com", 4, 1099511627776, 0),
            (indices{469653663910, 121360819283, 295025052589, 824409400553}));
  EXPECT_EQ(places<md5_hashing>("hello", 7, 9585, 42),
            (indices{3265, 6837, 5356, 2024, 8683, 7593, 4814}));
  EXPECT_EQ(places<md5_hashing>("hello", 3, 1000003, 0x8000000000000001),
            (indices{690120, 907812, 915355}));
}

TEST(lecture_rules, places_of_fnv_murmur_are_pinned) {
  EXPECT_EQ(places<fnv_murmur_hashing>("", 3, 1000, 0), (indices{261, 0, 261}));
  EXPECT_EQ(places<fnv_murmur_hashing>("hello", 7, 9585, 0),
            (indices{6561, 1410, 9381, 1206, 2616, 4026, 5436}));
  EXPECT_EQ(places<fnv_murmur_hashing>("alice@example.com", 4, 4294967296, 0),
            (indices{1979110063, 520283668, 3019677399, 3539961067}));
  EXPECT_EQ(places<fnv_murmur_hashing>("hello", 7, 9585, 42),
            (indices{6561, 1410, 9381, 1206, 2616, 4026, 5436}));
  EXPECT_EQ(places<fnv_murmur_hashing>("hello", 3, 1000003, 0x8000000000000001),
            (indices{567260, 338611, 244479}));
}

// The two words of the well-known tutorial, on its 15 bits.
TEST(lecture_rules, fnv_and_murmur_are_those_of_the_tutorial) {
  EXPECT_EQ(places<fnv_murmur_hashing>("hello", 2, 15), (indices{6, 0}));
  EXPECT_EQ(places<fnv_murmur_hashing>("world", 2, 15), (indices{7, 1}));
}

// MD5("hello0") is 4f6d054536d6613a91472139cc60f072, MD5("hello1") 203ad5ffa1d7c650ad681fdff3965cd2
// (any md5sum): the first eight bytes, big-endian.
TEST(lecture_rules, md5_hashing_is_md5_of_the_key_and_the_number) {
  EXPECT_EQ(md5_hashing::word({bytes("hello")}, 0), 0x4f6d054536d6613aU);
  EXPECT_EQ(md5_hashing::word({bytes("hello")}, 1), 0x203ad5ffa1d7c650U);
  EXPECT_EQ(md5_hashing::word({bytes("hello")}, 10), md5_hashing::word({bytes("hello1")}, 0));
}

// Where the last block begins and ends: `printf "%s3" $(printf 'x%.0s' {1..54}) | md5sum`.
TEST(lecture_rules, md5_hashing_takes_keys_of_any_length) {
  const std::vector<std::pair<std::size_t, std::uint64_t>> digests = {
      {0, 0xeccbc87e4b5ce2fe},   {54, 0x76bcb43d51561729},  {55, 0x78c699fa459f7b32},
      {62, 0xbd1a5486cb25616e},  {63, 0xa59e0c44141589aa},  {64, 0x450783a5d8a4a684},
      {118, 0x3d19439bb5ce07f6}, {119, 0x00b5eb69502331e5}, {127, 0xed3f71b41497461a},
      {1000, 0x7667f512d7d959cb}};
  for (const auto& [length, digest] : digests) {
    const std::string key(length, 'x');
    EXPECT_EQ(md5_hashing::word({bytes(key)}, 3), digest) << length;
  }
}

TEST(lecture_rules, every_place_exists) {
  for (const std::uint64_t m : {1ULL, 2ULL, 3ULL, 10ULL, 64ULL, 4294967296ULL}) {
    for (int key = 0; key < 200; ++key) {
      const std::string text = std::to_string(key);
      for (const auto& found :
           {places<salted_hashing>(text, 64, m), places<md5_hashing>(text, 8, m),
            places<fnv_murmur_hashing>(text, 64, m)}) {
        for (const std::uint64_t place : found) ASSERT_LT(place, m);
      }
    }
  }
}

}  // namespace
}  // namespace bloomset::teach
