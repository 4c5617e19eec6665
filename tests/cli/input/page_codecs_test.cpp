// Codecs of Parquet's pages: hand-made blocks, and any bytes without a read beyond them.

#include "input/page_codecs.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>
#include <string_view>

namespace bloomset::cli {
namespace {

constexpr std::int64_t snappy = 1;
constexpr std::int64_t gzip = 2;
constexpr std::int64_t zstd = 6;
constexpr std::int64_t lz4 = 7;

std::string unpacked(std::int64_t codec, std::string_view packed, std::size_t size) {
  std::vector<std::byte> page;
  const auto done = unpack_page(codec, std::as_bytes(std::span(packed)), size, page);
  if (!done) return done.error().message;
  return {reinterpret_cast<const char*>(page.data()), page.size()};
}

TEST(page_codecs, snappy_has_literals_and_three_forms_of_copies) {
  using namespace std::string_view_literals;
  const auto block =
      "\x1c"
      "\x0c"
      "abcd"          // a literal of 4 bytes
      "\x01\x04"      // 4 bytes from a distance of 4
      "\x12\x01\x00"  // 5 bytes from a distance of 1: they overlap
      "\xf0\x01"      // a literal whose length of 2 is in the next byte
      "xy"
      "\x33\x02\x00\x00\x00"sv;  // 13 bytes from a distance of 2, in 4 bytes
  EXPECT_EQ(unpacked(snappy, block, 28),
            "abcdabcdddddd"
            "xy"
            "xyxyxyxyxyxyx");
  EXPECT_EQ(unpacked(snappy, "\x00"sv, 0), "");
}

TEST(page_codecs, lz4_has_literals_and_copies) {
  using namespace std::string_view_literals;
  // 3 literals, 4 + 15 + 1 bytes from a distance of 3, then 16 literals at the end.
  const auto block =
      "\x3f"
      "abc"
      "\x03\x00\x01"
      "\xf0\x01"
      "0123456789abcdef"sv;
  EXPECT_EQ(unpacked(lz4, block, 39), "abcabcabcabcabcabcabcab0123456789abcdef");
}

std::string gzipped(std::string_view text) {
  std::string packed(100, '\0');
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string from(text);
  stream.next_in = reinterpret_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

TEST(page_codecs, gzip_has_members_and_zeros_between_them) {
  const std::string zeros(9, '\0');
  const std::string members = gzipped("one ") + zeros + gzipped("") + gzipped("two");
  EXPECT_EQ(unpacked(gzip, members, 7), "one two");
  EXPECT_EQ(unpacked(gzip, members + zeros, 7), "one two");
  EXPECT_EQ(unpacked(gzip, members + gzipped(""), 7), "one two");
  constexpr std::string_view damaged = "a page's gzip data is damaged; get the file anew";
  EXPECT_EQ(unpacked(gzip, members + "x", 7), damaged);
  EXPECT_EQ(unpacked(gzip, members + gzipped("x"), 7), damaged);
  EXPECT_EQ(unpacked(gzip, members, 8), damaged);
  EXPECT_EQ(unpacked(gzip, members.substr(0, members.size() - 1), 7), damaged);
}

TEST(page_codecs, damage_and_other_codecs_are_refused_with_a_sentence) {
  using namespace std::string_view_literals;
  EXPECT_EQ(unpacked(snappy,
                     "\x04\x00"
                     "a"sv,
                     4),
            "a page's Snappy data is damaged; get the file anew");
  EXPECT_EQ(unpacked(snappy, "\x04\x01\x04"sv, 4),
            "a page's Snappy data is damaged; get the file anew");
  EXPECT_EQ(unpacked(lz4, "\x10"sv, 1), "a page's LZ4 data is damaged; get the file anew");
  EXPECT_EQ(unpacked(zstd, "x"sv, 1), "a page's zstd data is damaged; get the file anew");
  EXPECT_EQ(unpacked(gzip, "x"sv, 1), "a page's gzip data is damaged; get the file anew");
  EXPECT_TRUE(unpacked(4, "x"sv, 1).starts_with("its pages are packed with the codec Brotli"));
  EXPECT_TRUE(unpacked(99, "x"sv, 1).starts_with("its pages are packed with the codec number 99"));
}

TEST(page_codecs, no_memory_for_a_size_that_the_bytes_cannot_have) {
  for (const auto codec : {snappy, gzip, zstd, lz4}) {
    std::vector<std::byte> page;
    const std::string few(1000, '\0');
    EXPECT_FALSE(unpack_page(codec, std::as_bytes(std::span(few)), std::size_t{1} << 62, page));
    EXPECT_EQ(page.capacity(), 0U);
  }
}

TEST(page_codecs, random_bytes_are_refused_or_give_a_page_of_the_stated_size) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 10'000; ++round) {
    std::vector<std::byte> packed(random() % 40);
    for (std::byte& each : packed) each = static_cast<std::byte>(random() % 8 == 0 ? random() : 4);
    const std::size_t size = random() % 64;
    if (!packed.empty()) packed[0] = static_cast<std::byte>(size);
    for (const auto codec : {snappy, lz4}) {
      std::vector<std::byte> page;
      const auto done = unpack_page(codec, packed, size, page);
      if (done) {
        EXPECT_EQ(page.size(), size);
      }
    }
  }
}

}  // namespace
}  // namespace bloomset::cli
