#pragma once

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace bloomset::python {

/// The sentence about an overfilled filter.
std::string overfilled_text(const filter_info& info);

/// Decides when a filter is looked at, which reads its bits: when it has so many keys that it may
/// be overfilled, and then after each further sixteenth. Guarded by the GIL.
class overfill_watch {
 public:
  explicit overfill_watch(const any_filter& filter);

  /// Whether inserts are refused once the filter is overfilled.
  bool is_strict = false;

  bool is_overfilled() const noexcept { return overfilled_; }
  /// Whether keys can be refused now. Strict filters only.
  bool refuses() const noexcept { return is_strict && overfilled_; }

  /// Takes the filter's size(). True if the filter must be looked at now.
  bool must_look(std::uint64_t size) noexcept {
    size_ = size;
    if (is_strict && overfilled_ && size < retry_size_) forget();
    return size >= next_look_ && !overfilled_;
  }
  /// Takes what was seen. True if the filter is overfilled and was not before.
  bool look(const filter_info& info) noexcept;
  /// After it was made empty.
  void forget() noexcept;

  /// The most keys to insert before a strict filter is looked at; any number for others.
  std::size_t room_of_turn() const noexcept {
    if (!is_strict) return std::numeric_limits<std::size_t>::max();
    return next_look_ > size_ ? next_look_ - size_ : 1;
  }

 private:
  std::uint64_t size_;
  std::uint64_t first_look_;
  std::uint64_t next_look_;
  std::uint64_t retry_size_ = 0;  // below it, an overfilled strict filter may have room again
  bool overfilled_ = false;
};

}  // namespace bloomset::python
