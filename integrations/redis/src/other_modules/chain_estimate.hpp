#pragma once

#include <span>

#include "values/filter_value.hpp"

namespace bloomset::server {

/// The state of a chain of Bloom filters in which an item is stored only if no older filter matches
/// it.
class chain_estimate {
 public:
  /// Adds the next younger filter: its bits, of which the first `positions` are used, the number of
  /// its hash functions, and the items that it counted. O(size).
  void add(std::span<const std::byte> bits, std::uint64_t positions, std::uint32_t hashes,
           std::uint64_t counted_items) noexcept;
  filter_state state() const noexcept { return {1 - rejected_, items_}; }

 private:
  double rejected_ = 1;  // share of non-members that no filter so far matches
  double items_ = 0;
};

}  // namespace bloomset::server
