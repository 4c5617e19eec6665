#pragma once

// Measures the speed, size and rate of a kind of filter on this machine.

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace bloomset::cli {

/// Keys per batch.
inline constexpr std::size_t speed_batch = 4096;
/// Bytes per key, at least: the number of a key, in 16 hexadecimal digits.
inline constexpr std::size_t min_key_bytes = 16;

/// Nanoseconds per key in one thread, including hashing: the median of several runs.
struct speeds {
  std::optional<double> insert_one;  ///< empty for kinds that are built once
  double insert_batch = 0;           ///< for kinds that are built once: the build
  double absent_one = 0;
  double absent_batch = 0;
  double present_one = 0;
  double present_batch = 0;
};

struct measured_kind {
  plan_report plan;
  std::uint64_t bytes = 0;  ///< of the payload with all keys
  speeds ns;
  std::uint64_t non_members = 0;      ///< queried
  std::uint64_t false_positives = 0;  ///< among them

  double bits_per_key() const noexcept {
    return 8 * static_cast<double>(bytes) / static_cast<double>(plan.capacity);
  }
  double rate() const noexcept {
    return static_cast<double>(false_positives) / static_cast<double>(non_members);
  }
};

/// The number of keys that measure() processes.
std::uint64_t keys_to_measure(const kind_info& kind, std::uint64_t capacity);

/// Fills filters of that kind to the plan's capacity and queries them through any_filter. Keys have
/// `key_bytes` bytes, at least min_key_bytes. Calls `worked` with the number of keys processed
/// since the last call. Fails if the filter cannot be created or is full before its capacity.
result<measured_kind> measure(const kind_info& kind, const plan_request& request,
                              const plan_report& plan, std::size_t key_bytes,
                              const std::function<void(std::uint64_t keys)>& worked);

}  // namespace bloomset::cli
