#pragma once

// How fast a kind of filter is on this machine, and how large and how often wrong it is.

#include <bloomery/any_filter.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace bloomery::cli {

/// Keys that are handed over at once where batches are measured.
inline constexpr std::size_t speed_batch = 4096;
/// Bytes of each key: 16 hexadecimal digits.
inline constexpr std::size_t speed_key_bytes = 16;

/// Nanoseconds a key in one thread, hashing included: the median of several runs.
struct speeds {
  std::optional<double> insert_one;  ///< not of kinds that are built once
  double insert_batch = 0;           ///< of those: the build
  double absent_one = 0;
  double absent_batch = 0;
  double present_one = 0;
  double present_batch = 0;
};

struct measured_kind {
  plan_report plan;
  std::uint64_t bytes = 0;  ///< of the filter's payload with all keys in it
  speeds ns;
  std::uint64_t strangers = 0;  ///< keys asked for that were never inserted
  std::uint64_t passed = 0;     ///< those of them that passed as members

  double bits_per_key() const noexcept {
    return 8 * static_cast<double>(bytes) / static_cast<double>(plan.capacity);
  }
  double rate() const noexcept {
    return static_cast<double>(passed) / static_cast<double>(strangers);
  }
};

/// How many keys measure() works through.
std::uint64_t keys_to_measure(const kind_info& kind, std::uint64_t capacity);

/// Fills filters of that kind to the plan's capacity and asks them, through any_filter as every
/// user of a filter file does. `worked` is told of keys as they are worked through. Fails where the
/// filter cannot be made or has no room for the keys that it was planned for.
result<measured_kind> measure(const kind_info& kind, const plan_request& request,
                              const plan_report& plan,
                              const std::function<void(std::uint64_t keys)>& worked);

}  // namespace bloomery::cli
