// The texts of HTTP about ranges. Hostile servers are in test_wrong_servers.py.

#include "remote/byteranges.hpp"

#include <gtest/gtest.h>

#include <array>

namespace bloomset::cli {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(byteranges, content_ranges_are_read) {
  const auto range = parse_content_range("bytes 100-199/1000");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->bytes, (byte_interval{100, 200}));
  EXPECT_EQ(range->size, 1000U);
  for (const char* wrong :
       {"", "bytes", "bytes 0-1/2x", "bytes 0-2/2", "bytes 2-1/9", "bytes -1/9", "bytes 0-1/*",
        "bytes 0-1", "Bytes 0-1/9", "bytes 0-1/99999999999999999999", "bytes +0-1/9"}) {
    EXPECT_FALSE(parse_content_range(wrong)) << wrong;
  }
  EXPECT_EQ(parse_unsatisfied_range("bytes */1000"), 1000U);
  EXPECT_FALSE(parse_unsatisfied_range("bytes */1000 "));
}

TEST(byteranges, boundaries_are_found) {
  EXPECT_EQ(multipart_boundary("multipart/byteranges; boundary=abc"), "abc");
  EXPECT_EQ(multipart_boundary("Multipart/ByteRanges;boundary=\"a b\"; x=y"), "a b");
  EXPECT_EQ(multipart_boundary("multipart/byteranges; charset=x; boundary=abc;z=1"), "abc");
  EXPECT_EQ(multipart_boundary("multipart/byteranges"), "");
  EXPECT_EQ(multipart_boundary("text/plain; boundary=abc"), "");
}

// A part may have the delimiter among its own bytes: its length counts.
TEST(byteranges, parts_are_cut_by_their_lengths) {
  const std::string_view body =
      "\r\n--x\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-5/100\r\n\r\n\r\n--x\r"
      "\r\n--x\r\ncontent-range:bytes 50-51/100\r\n\r\nab\r\n--x--\r\n";
  std::string parts;
  const auto done = read_multipart(
      bytes_of(body), "x", [&](const content_range& range, std::span<const std::byte> part) {
        parts += std::to_string(range.bytes.begin) + ":";
        parts.append(reinterpret_cast<const char*>(part.data()), part.size());
        return result<void>();
      });
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(parts, "0:\r\n--x\r50:ab");
}

TEST(byteranges, near_ranges_become_one) {
  const std::array<byte_interval, 4> ranges = {byte_interval{0, 10}, byte_interval{20, 30},
                                               byte_interval{41, 50}, byte_interval{50, 60}};
  const auto joined = join_near(ranges, 10);
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0], (byte_interval{0, 30}));
  EXPECT_EQ(joined[1], (byte_interval{41, 60}));
  EXPECT_EQ(range_header(joined), "bytes=0-29,41-59");
}

}  // namespace
}  // namespace bloomset::cli
