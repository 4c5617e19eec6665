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

#include "tests/support/function_family.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/places.hpp"

namespace bloomset::test {
namespace {

static_assert(hasher<xxh3_hasher> && hasher<filter_hasher> && hasher<key_ref_hasher> &&
              hasher<element_hasher>);
static_assert(probe_scheme<double_hashing>);

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

TEST(probe, every_place_exists) {
  for (const std::uint64_t m : {1ULL, 2ULL, 3ULL, 10ULL, 64ULL, 4294967296ULL}) {
    for (int key = 0; key < 200; ++key) {
      const std::string text = std::to_string(key);
      for (const std::uint64_t place : places<double_hashing>(text, 64, m)) ASSERT_LT(place, m);
    }
  }
  constexpr std::uint64_t most = 0xffffffffffffffff;
  for (const std::uint64_t place : places<double_hashing>("key", 64, most)) EXPECT_LT(place, most);
}

}  // namespace
}  // namespace bloomset::test
