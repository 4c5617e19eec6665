#pragma once

// Numbers without padding, little-endian like the machines of servers.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace bloomset::server {

/// More memory than machines have. Sums of a few such sizes do not overflow.
inline constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 47;

/// Reads numbers. Precondition of each read: enough bytes are left.
struct packed_reader {
  template <class Number>
  packed_reader& operator>>(Number& number) noexcept {
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes.remove_prefix(sizeof number);
    return *this;
  }

  std::string_view bytes;
};

struct packed_writer {
  template <class Number>
  packed_writer& operator<<(Number number) {
    const auto* const first = reinterpret_cast<const std::byte*>(&number);
    bytes.insert(bytes.end(), first, first + sizeof number);
    return *this;
  }

  std::vector<std::byte> bytes;
};

}  // namespace bloomset::server
