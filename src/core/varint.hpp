#pragma once

// Numbers of 1 to 9 bytes, the lowest seven bits first; the top bit of a byte says that more
// follow.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bloomset::detail {

/// Precondition: number < 2^63.
inline void append_varint(std::vector<std::byte>& into, std::uint64_t number) {
  for (; number >= 128; number >>= 7) into.push_back(static_cast<std::byte>(number | 128));
  into.push_back(static_cast<std::byte>(number));
}

/// Removes a number from the front; nothing if there is none of 63 bits.
inline std::optional<std::uint64_t> take_varint(std::span<const std::byte>& from) noexcept {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 63 && !from.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(from.front());
    from = from.subspan(1);
    number |= (byte & 127) << shift;
    if (byte < 128) return number;
  }
  return std::nullopt;
}

}  // namespace bloomset::detail
