#include "fit.hpp"

#include <bloomery/plan/numeric.hpp>

#include "native_plan.hpp"
#include "native_value.hpp"
#include "settings.hpp"

namespace bloomery::server {
namespace {

// What MEMORY USAGE counts beside the bits: the key's name, which may be longer, and the objects.
constexpr std::uint64_t beside = 700;
// Below, items are told apart as surely as their 64-bit hashes are at the largest capacity.
constexpr double min_rate = 1e-9;
// The rate is found to a thousandth of a doubling.
constexpr int rate_steps = 1024;

bool fits(const filter_spec& spec, std::uint64_t bytes) {
  const auto planned = planned_native_bytes(spec);
  return planned && *planned + beside <= bytes;
}

wire_error find_capacity(std::uint64_t bytes, filter_spec& spec) {
  std::uint64_t known = 0;  // to fit
  for (std::uint64_t step = max_capacity; step != 0; step /= 2) {
    if (known + step > max_capacity) continue;
    spec.capacity = known + step;
    if (fits(spec, bytes)) known += step;
  }
  spec.capacity = known;
  return known != 0 ? nullptr : "ERR the memory is too small for any item at this rate; give more";
}

wire_error find_rate(std::uint64_t bytes, filter_spec& spec) {
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
    return "ERR the memory is too small for this capacity at any rate; give more, or reserve for "
           "fewer items";
  }
  // From there on filters are of another kind, and smaller than those of somewhat higher rates.
  const int other_kind = first_below(min_blocked_rate);
  const bool is_below = !spec.deletable && fits_at(other_kind);
  int known = is_below ? other_kind : 0;
  int beyond = is_below || spec.deletable ? first_below(min_rate) : other_kind;
  while (beyond - known > 1) {
    const int middle = known + (beyond - known) / 2;
    (fits_at(middle) ? known : beyond) = middle;
  }
  spec.error_rate = rate_at(known);
  return nullptr;
}

}  // namespace

wire_error fit_into(const memory_request& memory, filter_spec& spec) {
  if (memory.bytes == 0) return nullptr;
  return memory.finds_rate ? find_rate(memory.bytes, spec) : find_capacity(memory.bytes, spec);
}

}  // namespace bloomery::server
