#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(hidden)

namespace bloomset::detail {

/// The length of the file that the header at the front of these bytes announces. It may be wrong.
/// Precondition: the bytes have the signature and are at least a header.
std::uint64_t announced_bytes(std::span<const std::byte> file) noexcept;

/// The bytes of a header without parameters.
inline constexpr std::size_t file_header_bytes = 64;

/// The offset of the payload that this header announces; file_header_bytes if it is of another
/// version. It may be wrong. The same precondition.
std::uint64_t announced_payload_at(std::span<const std::byte> file) noexcept;

}  // namespace bloomset::detail

#pragma GCC visibility pop
