// Hash values and places, pinned. These functions chose the bits in files: when a value here
// changes, every saved filter answers "no" for its members. If one of these tests fails, the code
// is wrong, not the number. Undo the change, or give the new function an id of its own (hash_id,
// probe_id) beside the old one. Never edit a number in this file.

#include <gtest/gtest.h>

#include <array>
#include <bloomset/bloomset.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/instruction_sets.hpp"

namespace bloomset::test {
namespace {

static_assert(hasher<xxh3_hasher> && hasher<filter_hasher> && hasher<key_ref_hasher> &&
              hasher<fnv_murmur_hasher> && hasher<element_hasher>);
static_assert(probe_scheme<double_hashing> && probe_scheme<salted_hashing> &&
              probe_scheme<md5_hashing> && probe_scheme<fnv_murmur_hashing>);

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// XXH3_64bits of the buffer that xxHash's own sanity check fills (tests/sanity_test of the xxHash
// project: byte i is the top byte of PRIME32 * PRIME64^i), under seed 0 and under seed PRIME64.
TEST(hash, xxh3_gives_the_values_that_its_project_publishes) {
  constexpr std::uint64_t prime32 = 2654435761U;
  constexpr std::uint64_t prime64 = 11400714785074694797U;
  std::vector<std::byte> buffer(2368);
  std::uint64_t state = prime32;
  for (std::byte& byte : buffer) {
    byte = static_cast<std::byte>(state >> 56);
    state *= prime64;
  }
  struct vector {
    std::size_t length;
    std::uint64_t unseeded, seeded;
  };
  // One per path of the algorithm, by length: 0, 1-3, 4-8, 9-16, 17-128, 129-240, longer.
  constexpr std::array vectors = {
      vector{0, 0x2D06800538D394C2, 0xA8A6B918B2F0364A},
      vector{1, 0xC44BDFF4074EECDB, 0x032BE332DD766EF8},
      vector{6, 0x27B56A84CD2D7325, 0x84589C116AB59AB9},
      vector{12, 0xA713DAF0DFBB77E7, 0xE7303E1B2336DE0E},
      vector{24, 0xA3FE70BF9D3510EB, 0x850E80FC35BDD690},
      vector{48, 0x397DA259ECBA1F11, 0xADC2CBAA44ACC616},
      vector{80, 0xBCDEFBBB2C47C90A, 0xC6DD0CB699532E73},
      vector{195, 0xCD94217EE362EC3A, 0xBA68003D370CB3D9},
      vector{403, 0xCDEB804D65C6DEA4, 0x6259F6ECFD6443FD},
      vector{512, 0x617E49599013CB6B, 0x3CE457DE14C27708},
      vector{2048, 0xDD59E2C3A5F038E0, 0x66F81670669ABABC},
  };
  for (const auto& [length, unseeded, seeded] : vectors) {
    const auto input = std::span<const std::byte>(buffer).first(length);
    EXPECT_EQ(xxh3_hasher()(input).value, unseeded) << length;
    EXPECT_EQ(xxh3_hasher(prime64)(input).value, seeded) << length;
  }
}

// The first is CPython's hash of these bytes with a key of zeros (`PYTHONHASHSEED=0`, 3.11 and
// later), the others are of the test of Rust's standard library: bytes 0, 1, ... under the key of
// bytes 0 to 15.
TEST(hash, siphash_gives_the_values_of_other_implementations) {
  EXPECT_EQ(siphash({}, bytes("abcdefgh01234")).value, 6262391933080463020U);
  std::array<std::byte, 16> counting{};
  for (unsigned i = 0; i < 16; ++i) counting[i] = static_cast<std::byte>(i);
  const hash_key key = hash_key::of(counting);
  EXPECT_EQ(siphash(key, {}).value, 0xabac0158050fc4dcU);
  EXPECT_EQ(siphash(key, std::span(counting).first(1)).value, 0xc9f49bf37d57ca93U);
  EXPECT_EQ(hash_seed(key).value(), 0x0572b98a486ec795U);
}

// Batches hash several keys at once. Every mixture of lengths gives the hashes of single keys.
TEST(hash, batches_of_keyed_hashes_are_those_of_single_keys) {
  const filter_hasher hash(hash_key{{0x0123456789abcdef, 0xfedcba9876543210}});
  std::vector<std::byte> text(300);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::byte>(i * 7 + 1);
  with_each_instruction_set([&] {
    for (const std::size_t step : {0U, 1U, 7U, 8U, 61U}) {
      std::vector<std::span<const std::byte>> keys;
      for (std::size_t i = 0; i < 77; ++i) {
        keys.push_back(std::span(text).subspan(i % 9, (i * step + step) % 270));
      }
      std::vector<hash64> hashes(keys.size());
      hash(keys, hashes.data());
      for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(hashes[i], hash(keys[i])) << i;
    }
  });
}

TEST(hash, remix64_is_pinned) {
  EXPECT_EQ(detail::remix64(0), 0U);
  EXPECT_EQ(detail::remix64(1), 0x3c0aad46f555e0b9U);
  EXPECT_EQ(detail::remix64(0x0123456789abcdef), 0x960cbea3c15f985aU);
  EXPECT_EQ(detail::remix64(0xffffffffffffffff), 0x9055d46b73492210U);
}

TEST(hash, mulhi64_is_the_upper_half_of_the_product) {
  EXPECT_EQ(detail::mulhi64(0xffffffffffffffff, 10), 9U);
  EXPECT_EQ(detail::mulhi64(0x8000000000000000, 10), 5U);
  EXPECT_EQ(detail::mulhi64(0xffffffffffffffff, 0xffffffffffffffff), 0xfffffffffffffffeU);
  EXPECT_EQ(detail::mulhi64(0x123456789abcdef0, 0xfedcba9876543210), 0x121fa00ad77d7422U);
}

template <class Probe>
std::vector<std::uint64_t> places(std::string_view key, unsigned k, std::uint64_t m,
                                  std::uint64_t seed = 0) {
  std::vector<std::uint64_t> all;
  const typename Probe::hasher_type hash(seed);
  for (unsigned i = 0; i < k; ++i) all.push_back(Probe().position(hash(bytes(key)), i, m));
  return all;
}
using indices = std::vector<std::uint64_t>;

TEST(probe, places_of_double_hashing_are_pinned) {
  EXPECT_EQ(places<double_hashing>("", 3, 1000, 0), (indices{146, 663, 522}));
  EXPECT_EQ(places<double_hashing>("hello", 7, 9585, 0),
            (indices{789, 8003, 4636, 7627, 1022, 2129, 6529}));
  EXPECT_EQ(places<double_hashing>("alice@example.com", 4, 1099511627776, 0),
            (indices{1006018202405, 234281827502, 1066873087708, 664466109709}));
  EXPECT_EQ(places<double_hashing>("hello", 7, 9585, 42),
            (indices{5899, 6397, 6609, 8649, 6625, 5938, 5890}));
  EXPECT_EQ(places<double_hashing>("hello", 3, 1000003, 0x8000000000000001),
            (indices{582507, 914836, 996455}));
}

TEST(probe, places_of_salted_hashing_are_pinned) {
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

TEST(probe, places_of_md5_hashing_are_pinned) {
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

TEST(probe, places_of_fnv_murmur_are_pinned) {
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
TEST(probe, fnv_and_murmur_are_those_of_the_tutorial) {
  EXPECT_EQ(places<fnv_murmur_hashing>("hello", 2, 15), (indices{6, 0}));
  EXPECT_EQ(places<fnv_murmur_hashing>("world", 2, 15), (indices{7, 1}));
}

// MD5("hello0") is 4f6d054536d6613a91472139cc60f072, MD5("hello1") 203ad5ffa1d7c650ad681fdff3965cd2
// (any md5sum): the first eight bytes, big-endian.
TEST(probe, md5_hashing_is_md5_of_the_key_and_the_number) {
  EXPECT_EQ(md5_hashing::word({bytes("hello")}, 0), 0x4f6d054536d6613aU);
  EXPECT_EQ(md5_hashing::word({bytes("hello")}, 1), 0x203ad5ffa1d7c650U);
  EXPECT_EQ(md5_hashing::word({bytes("hello")}, 10), md5_hashing::word({bytes("hello1")}, 0));
}

// Where the last block begins and ends: `printf "%s3" $(printf 'x%.0s' {1..54}) | md5sum`.
TEST(probe, md5_hashing_takes_keys_of_any_length) {
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

TEST(probe, every_place_exists) {
  for (const std::uint64_t m : {1ULL, 2ULL, 3ULL, 10ULL, 64ULL, 4294967296ULL}) {
    for (int key = 0; key < 200; ++key) {
      const std::string text = std::to_string(key);
      for (const auto& found :
           {places<double_hashing>(text, 64, m), places<salted_hashing>(text, 64, m),
            places<md5_hashing>(text, 8, m), places<fnv_murmur_hashing>(text, 64, m)}) {
        for (const std::uint64_t place : found) ASSERT_LT(place, m);
      }
    }
  }
  constexpr std::uint64_t most = 0xffffffffffffffff;
  for (const std::uint64_t place : places<double_hashing>("key", 64, most)) EXPECT_LT(place, most);
}

}  // namespace
}  // namespace bloomset::test
