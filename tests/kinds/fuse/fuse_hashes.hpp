#pragma once

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bloomery::test {

/// n distinct hashes; those of two streams are disjoint.
inline std::vector<hash64> some_hashes(std::uint64_t stream, std::size_t n) {
  std::vector<hash64> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = {detail::remix64((stream << 40) + i + 1)};
  return all;
}

}  // namespace bloomery::test
