#pragma once

// The hash of valkey-bloom's filters: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast
// short-input PRF", 2012) under two keys, of the item's length in 8 bytes and the item, as crate
// bloomfilter 3 computes it. Numbers are little-endian, like the machines of servers.

#include <array>
#include <cstdint>
#include <string_view>

#include "valkeybloom/valkey_spec.hpp"

namespace bloomset::server {

class sip_pair {
 public:
  explicit sip_pair(const sip_seed& seed) noexcept;

  struct hashes {
    std::uint64_t first;
    std::uint64_t second;
  };
  hashes operator()(std::string_view item) const noexcept;

 private:
  std::array<std::uint64_t, 4> words_;
};

}  // namespace bloomset::server
