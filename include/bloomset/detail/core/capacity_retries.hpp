#pragma once

#include <cstdint>

#include "../../concepts.hpp"

namespace bloomset::detail {

/// Builds of filters whose capacity is the counted number of keys. Copies of a key share their
/// buckets, so they can fill a cuckoo filter before its capacity; it is then built again with a
/// capacity one tenth larger, up to about twice the first one.
class capacity_retries {
 public:
  /// A capacity that was asked for, and not counted, stays.
  explicit capacity_retries(bool is_counted) noexcept : left_(is_counted ? 8 : 0) {}

  /// After a build that stopped for that reason: raises the capacity, or returns false if another
  /// build would not help.
  bool raise(std::uint64_t& capacity, insert_outcome why) noexcept {
    if (why != insert_outcome::full || left_ == 0) return false;
    --left_;
    capacity += (capacity + 9) / 10;
    return true;
  }

 private:
  int left_;
};

}  // namespace bloomset::detail
