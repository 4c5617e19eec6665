#pragma once

// The places that a probe rule gives a key, as tests pin them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bloomset::test {

using indices = std::vector<std::uint64_t>;

inline std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// The first k places among m.
template <class Probe>
indices places(std::string_view key, unsigned k, std::uint64_t m, std::uint64_t seed = 0) {
  indices all;
  const typename Probe::hasher_type hash(seed);
  for (unsigned i = 0; i < k; ++i) all.push_back(Probe().position(hash(bytes(key)), i, m));
  return all;
}

}  // namespace bloomset::test
