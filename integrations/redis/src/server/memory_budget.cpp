#include "server/memory_budget.hpp"

#include <bloomset/plan/numeric.hpp>

#include "values/native_plan.hpp"
#include "values/native_value.hpp"

namespace bloomset::server {
namespace {

// Allowance for the rest of MEMORY USAGE: the objects, and the key's name unless it is long.
constexpr std::uint64_t key_overhead = 700;
// The rate that 64-bit hashes can keep at the largest capacity.
constexpr double min_rate = 1e-9;
// Rates are searched in steps of a factor 2^(1/1024).
constexpr int rate_steps = 1024;

bool fits(const filter_spec& spec, std::uint64_t bytes) {
  const auto planned = planned_native_bytes(spec);
  return planned && *planned + key_overhead <= bytes;
}

void find_capacity(std::uint64_t bytes, filter_spec& spec) {
  std::uint64_t fitting = 0;
  for (std::uint64_t step = max_capacity; step != 0; step /= 2) {
    spec.capacity = fitting + step;
    if (spec.capacity <= max_capacity && fits(spec, bytes)) fitting += step;
  }
  spec.capacity = std::max<std::uint64_t>(fitting, 1);
  if (fitting != 0) return;
  if (!planned_native_bytes(spec)) throw refusal("ERR " + low_rate_obstacle(spec));
  throw refusal("ERR the memory is too small for any item at this rate; give more");
}

void find_rate(std::uint64_t bytes, filter_spec& spec) {
  const auto rate_at = [](int i) {
    return max_error_rate * numeric::exp2(-double(i) / rate_steps);
  };
  const auto first_below = [](double rate) {
    return static_cast<int>(numeric::log2(max_error_rate / rate) * rate_steps) + 1;
  };
  const auto fits_at = [&](int i) {
    spec.error_rate = rate_at(i);
    return fits(spec, bytes);
  };
  if (!fits_at(0)) {
    throw refusal(
        "ERR the memory is too small for this capacity at any rate; give more, or reserve for "
        "fewer items");
  }
  // Size is not monotonic in the rate: at min_blocked_rate the kind changes to a smaller one.
  const int classic = first_below(min_blocked_rate);
  const bool is_classic = !spec.deletable && fits_at(classic);
  int fitting = is_classic ? classic : 0;
  int too_low = is_classic || spec.deletable ? first_below(min_rate) : classic;
  while (too_low - fitting > 1) {
    const int middle = fitting + (too_low - fitting) / 2;
    (fits_at(middle) ? fitting : too_low) = middle;
  }
  spec.error_rate = rate_at(fitting);
}

}  // namespace

void fit_budget(const memory_budget& budget, filter_spec& spec) {
  if (budget.bytes == 0) return;
  (budget.replaces_rate ? find_rate : find_capacity)(budget.bytes, spec);
}

}  // namespace bloomset::server
