#pragma once

#include <cstdint>

namespace bloomset {

/// Bytes [begin, end) of a payload or of a file.
struct byte_interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const noexcept { return end - begin; }
  bool operator==(const byte_interval&) const = default;
};

}  // namespace bloomset
