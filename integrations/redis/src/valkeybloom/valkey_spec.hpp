#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bloomset::server {

/// The two keys of SipHash of a filter of valkey-bloom, 16 bytes each.
using sip_seed = std::array<std::byte, 32>;

/// The seed of filters that valkey-bloom makes while bf.bloom-use-random-seed is off.
inline constexpr sip_seed fixed_sip_seed = [] {
  constexpr std::array<unsigned char, 32> bytes = {0x59, 0x0f, 0xf5, 0x22, 0xea, 0x78, 0x11, 0xda,
                                                   0xa7, 0x14, 0xd8, 0x09, 0x3b, 0x3e, 0x7b, 0xd9,
                                                   0x1d, 0x89, 0x8a, 0x73, 0x3e, 0x98, 0x88, 0x87,
                                                   0x30, 0x7f, 0x97, 0xcd, 0x28, 0x07, 0x33, 0x83};
  sip_seed seed = {};
  for (std::size_t i = 0; i < seed.size(); ++i) seed.at(i) = std::byte{bytes.at(i)};
  return seed;
}();

/// The specification of a filter of valkey-bloom.
struct valkey_spec {
  double error_rate = 0;        ///< of the first sub-filter
  double tightening = 0;        ///< rate of a sub-filter, divided by that of the one before
  std::uint64_t capacity = 0;   ///< of the first sub-filter
  std::uint32_t expansion = 0;  ///< ratio of the capacities of successive sub-filters; 0: one only
  sip_seed seed = fixed_sip_seed;

  bool has_random_seed() const noexcept { return seed != fixed_sip_seed; }
};

}  // namespace bloomset::server
