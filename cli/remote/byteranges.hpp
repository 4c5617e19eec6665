#pragma once

// The texts of HTTP about ranges of bytes (RFC 9110, section 14).

#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::cli {

/// The value of a Content-Range header: bytes [begin, end) of a file of `size` bytes.
struct content_range {
  byte_interval bytes;
  std::uint64_t size = 0;
};

/// Reads "bytes 0-99/1000". Nothing for any other text, and for a file whose size is not told.
std::optional<content_range> parse_content_range(std::string_view text) noexcept;

/// The size in "bytes */1000", which comes with status 416.
std::optional<std::uint64_t> parse_unsatisfied_range(std::string_view text) noexcept;

/// The boundary in a Content-Type of multipart/byteranges; empty for any other type.
std::string multipart_boundary(std::string_view content_type);

/// Calls `use` for each part of a multipart/byteranges body. Fails with a sentence without a
/// subject if the body is malformed, and as `use` does.
result<void> read_multipart(
    std::span<const std::byte> body, std::string_view boundary,
    const std::function<result<void>(const content_range&, std::span<const std::byte>)>& use);

/// The value of a Range header for these ranges, of which none is empty.
std::string range_header(std::span<const byte_interval> ranges);

/// The ranges, where those with at most `gap` bytes between them are one. They are in ascending
/// order and do not overlap.
std::vector<byte_interval> join_near(std::span<const byte_interval> ranges, std::uint64_t gap);

}  // namespace bloomset::cli
