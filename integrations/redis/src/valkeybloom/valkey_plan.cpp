#include "valkeybloom/valkey_plan.hpp"

#include <algorithm>
#include <bit>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "server/settings.hpp"

namespace bloomset::server {
namespace {

// Sums of a few such sizes do not overflow.
constexpr std::uint64_t max_bit_bytes = std::uint64_t{1} << 62;

}  // namespace

std::uint64_t valkey_bit_bytes(std::uint64_t capacity, double error_rate) noexcept {
  constexpr double squared_ln_2 = std::numbers::ln2 * std::numbers::ln2;
  const double bytes =
      std::ceil(static_cast<double>(capacity) * numeric::log(error_rate) / (-8.0 * squared_ln_2));
  if (!(bytes < static_cast<double>(max_bit_bytes))) return max_bit_bytes;
  return static_cast<std::uint64_t>(bytes);
}

std::uint32_t valkey_hash_functions(std::uint64_t bit_bytes, std::uint64_t capacity) noexcept {
  const auto bits = static_cast<double>(8 * bit_bytes);
  const double hashes = std::round(bits / static_cast<double>(capacity) * std::numbers::ln2);
  return static_cast<std::uint32_t>(std::clamp(hashes, 1.0, 4294967295.0));
}

std::optional<double> valkey_rate(double error_rate, double ratio, std::uint64_t i) noexcept {
  const double rate = error_rate * numeric::power(ratio, static_cast<unsigned>(i));
  return rate > std::numeric_limits<double>::min() ? std::optional(rate) : std::nullopt;
}

valkey_growth simulate_growth(const valkey_spec& spec, std::uint64_t target) noexcept {
  const auto limit = static_cast<std::uint64_t>(current_settings().bloom_memory_usage_limit);
  valkey_growth reached;
  std::uint64_t capacity = spec.capacity;
  std::uint64_t bytes = 0;
  constexpr std::uint64_t max_steps = 1 << 16;  // far more than a filter of any use has
  for (std::uint64_t i = 0; reached.capacity < target; ++i) {
    if (i == max_steps) return {reached.capacity, stop_reason::limit};
    const auto rate = valkey_rate(spec.error_rate, spec.tightening, i);
    if (!rate) return {reached.capacity, stop_reason::rate_underflow};
    // Its vector of sub-filters has room for 1, then for 4, 8, 16 and so on.
    const std::uint64_t room = i == 0 ? 1 : std::bit_ceil(std::max<std::uint64_t>(4, i + 1));
    bytes += valkey_sub_filter_bytes + valkey_bit_bytes(capacity, *rate);
    if (valkey_object_bytes + room * valkey_pointer_bytes + bytes > limit) {
      return {reached.capacity, stop_reason::limit};
    }
    reached.capacity += capacity;
    if (__builtin_mul_overflow(capacity, std::uint64_t{spec.expansion}, &capacity) ||
        capacity > max_valkey_capacity) {
      return {reached.capacity, stop_reason::capacity_overflow};
    }
  }
  return reached;
}

}  // namespace bloomset::server
