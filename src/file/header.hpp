#pragma once

// The fixed 64 bytes at the start of every file (docs/format.md, "Header").

#include <array>
#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

inline constexpr std::size_t header_bytes = 64;

struct file_header {
  filter_header filter;
  std::uint32_t parameter_bytes;
  std::uint64_t payload_bytes;
  std::uint64_t payload_checksum;
};

using raw_header = std::array<std::byte, header_bytes>;

/// The header of a filter in its present state. Its checksum reads the whole payload.
raw_header header_of(const filter_image& image);

/// Reads a header and checks it against the bytes of the whole file: magic, versions, flags, both
/// lengths, and the checksum of header and parameters. Without `with_payload` the bytes end where
/// the payload begins.
result<file_header> decode_header(std::span<const std::byte> file, const std::string& name,
                                  bool with_payload = true);

/// XXH3-64 of the pieces, as if they were one run of bytes.
std::uint64_t checksum(std::span<const std::span<const std::byte>> pieces) noexcept;

}  // namespace bloomery::detail

#pragma GCC visibility pop
