// The types that are keys, those that are batches of keys, and those that are neither. Bytes and
// characters must never count as small integers: a filter of digests would then hold at most 256
// different keys.

#include <gtest/gtest.h>

#include <array>
#include <bloomset/bloomset.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::test {
namespace {

template <class T>
concept inserts = requires(bloom& f, const T& t) { f.insert(t); };
template <class T>
concept builds = requires(const T& t) { fuse::build({.fpr = 0.01}, t); };

/// A single key, not a batch.
template <class T>
inline constexpr bool is_one_key = byte_key<T> && !detail::key_batch<T> && inserts<T> && !builds<T>;
/// A batch of keys.
template <class T>
inline constexpr bool is_batch = !key<T> && detail::key_batch<T> && inserts<T> && builds<T>;
/// Neither: the program does not compile.
template <class T>
inline constexpr bool is_refused = !key<T> && !detail::key_batch<T> && !inserts<T> && !builds<T>;

// Ranges of bytes are one key, whatever holds them.
static_assert(is_one_key<std::array<std::uint8_t, 20>>);
static_assert(is_one_key<std::array<const std::uint8_t, 20>>);
static_assert(is_one_key<std::vector<std::uint8_t>>);
static_assert(is_one_key<std::span<const std::uint8_t>>);
static_assert(is_one_key<std::span<std::uint8_t>>);
static_assert(is_one_key<std::span<const std::uint8_t, 32>>);
static_assert(is_one_key<std::basic_string<unsigned char>>);
static_assert(is_one_key<unsigned char[20]>);
static_assert(is_one_key<std::vector<char>>);
static_assert(is_one_key<std::array<char, 5>>);
static_assert(is_one_key<std::span<const char>>);
static_assert(is_one_key<std::u8string>);
static_assert(is_one_key<std::u8string_view>);
static_assert(is_one_key<std::vector<char8_t>>);
static_assert(is_one_key<char8_t[6]>);
static_assert(is_one_key<const char8_t*>);
static_assert(is_one_key<std::vector<std::byte>>);
static_assert(is_one_key<std::array<std::byte, 4>>);
static_assert(is_one_key<std::byte[4]>);
static_assert(is_one_key<std::string>);
static_assert(is_one_key<std::string_view>);
static_assert(is_one_key<char[6]>);
static_assert(is_one_key<const char*>);

// Batches of such keys, and of numbers.
static_assert(is_batch<std::vector<std::array<std::uint8_t, 20>>>);
static_assert(is_batch<std::vector<std::vector<std::uint8_t>>>);
static_assert(is_batch<std::vector<std::u8string>>);
static_assert(is_batch<std::vector<std::string>>);
static_assert(is_batch<std::span<const std::string_view>>);
static_assert(is_batch<std::array<const char*, 2>>);
static_assert(is_batch<std::vector<std::int16_t>>);
static_assert(is_batch<std::vector<std::uint64_t>>);
static_assert(is_batch<int[3]>);

// Bytes as numbers, and characters of more than a byte, whose bytes differ between machines.
static_assert(is_refused<std::nullptr_t>);
static_assert(is_refused<std::vector<std::int8_t>>);
static_assert(is_refused<std::array<signed char, 4>>);
static_assert(is_refused<std::wstring>);
static_assert(is_refused<std::wstring_view>);
static_assert(is_refused<wchar_t[6]>);
static_assert(is_refused<std::u16string>);
static_assert(is_refused<std::u32string_view>);
static_assert(is_refused<std::vector<char16_t>>);
static_assert(is_refused<std::vector<std::wstring>>);
static_assert(is_refused<std::vector<bool>>);
static_assert(is_refused<std::array<bool, 4>>);
static_assert(is_refused<std::vector<double>>);
static_assert(is_refused<std::vector<std::vector<int>>>);

// A single integer is a key; a character, a truth value and a fraction are not.
static_assert(inserts<std::int8_t> && inserts<std::uint8_t> && inserts<long long>);
static_assert(!inserts<char> && !inserts<wchar_t> && !inserts<char8_t> && !inserts<char16_t> &&
              !inserts<char32_t> && !inserts<bool> && !inserts<double> && !inserts<std::byte>);
__extension__ using wider = unsigned __int128;
static_assert(!inserts<wider>);

template <class K>
hash64 hash_of(const K& k) {
  hash64 hash{};
  with_hash(xxh3_hasher(1), k, [&](hash64 h) { hash = h; });
  return hash;
}

TEST(key_types, a_range_of_bytes_is_the_key_of_its_bytes) {
  const std::string text("di\0gest\xff", 8);
  const hash64 expected = hash_of(text);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  std::array<std::uint8_t, 8> array{};
  unsigned char raw[8];
  for (std::size_t i = 0; i < 8; ++i) raw[i] = array.at(i) = bytes[i];
  EXPECT_EQ(hash_of(bytes), expected);
  EXPECT_EQ(hash_of(std::span(bytes)), expected);
  EXPECT_EQ(hash_of(array), expected);
  EXPECT_EQ(hash_of(raw), expected);
  EXPECT_EQ(hash_of(std::vector<char>(text.begin(), text.end())), expected);
  EXPECT_EQ(hash_of(std::u8string(text.begin(), text.end())), expected);
}

TEST(key_types, text_is_one_key_in_every_type) {
  EXPECT_EQ(hash_of(u8"caf\u00e9"), hash_of("caf\xc3\xa9"));
  EXPECT_EQ(hash_of(std::u8string_view(u8"caf\u00e9")), hash_of("caf\xc3\xa9"));
  EXPECT_EQ(hash_of(u8""), hash_of(""));
  EXPECT_EQ(hash_of(std::vector<std::uint8_t>()), hash_of(""));
}

TEST(key_types, a_filter_of_digests_holds_digests) {
  std::vector<std::array<std::uint8_t, 16>> digests(1000);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    digests[i][0] = static_cast<std::uint8_t>(i);
    digests[i][15] = static_cast<std::uint8_t>(i >> 8);
  }
  blocked_bloom one_by_one({.capacity = 1000, .fpr = 1e-6});
  blocked_bloom batch({.capacity = 1000, .fpr = 1e-6});
  for (const auto& digest : digests) {
    EXPECT_EQ(one_by_one.insert(digest), insert_outcome::inserted);
  }
  EXPECT_EQ(batch.insert(digests).inserted, 1000U);
  for (const auto& digest : digests) EXPECT_TRUE(batch.may_contain(digest));
  EXPECT_FALSE(batch.may_contain(std::array<std::uint8_t, 16>{1, 2, 3}));
}

}  // namespace
}  // namespace bloomset::test
