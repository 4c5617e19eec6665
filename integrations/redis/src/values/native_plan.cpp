#include "values/native_plan.hpp"

#include <algorithm>
#include <bloomset/plan/numeric.hpp>
#include <cmath>

namespace bloomset::server {
namespace {

// A growing filter for fewer items is an expandable from the start. Most filters that commands
// create without options outgrow such a front, and every query would still ask it.
constexpr std::uint64_t min_blocked_front = 10'000;
constexpr std::uint64_t min_quotient_front = 1025;  // CF.ADD creates filters for 1024 items
// The front's share of the rate. At 93% a blocked filter takes 0.18 bits per item more than at
// 100%; a vector quotient filter with half of the rate has the next longer remainder.
constexpr double blocked_share = 0.93;
constexpr double quotient_share = 0.5;
// A fixed filter is filled until it reports that it is full, about 3% beyond its capacity.
constexpr double fixed_quotient_share = 0.95;
// The back starts with room for this part of the front's items.
constexpr std::uint64_t back_divisor = 8;
constexpr std::uint64_t min_back = 100;

planned_part part(const filter_spec& spec, filter_kind kind, std::uint64_t capacity, double rate) {
  return {find_kind(kind), {.capacity = capacity, .fpr = rate, .seed = spec.seed}};
}

/// The mean false-positive rate of a Bloom filter while it fills up to `rate`: the share of new
/// items that match when they arrive, and so are not counted. By Simpson's rule:
///     integral of (1 - e^(-ax))^k over x from 0 to 1, with a such that the integrand ends at
///     `rate`
double overlooked_share(double rate) {
  const double k = std::max(1.0, std::round(-numeric::log2(rate)));
  const double a = -numeric::log1p(-numeric::pow(rate, 1 / k));
  const auto rate_at = [&](double x) { return numeric::pow(-numeric::expm1(-a * x), k); };
  constexpr int steps = 64;
  double sum = rate_at(1);
  for (int i = 1; i < steps; ++i) sum += (i % 2 == 0 ? 2 : 4) * rate_at(double(i) / steps);
  return sum / (3 * steps);
}

/// One cache line per item, while that takes at most a sixth more memory than the classic filter.
filter_kind bloom_kind(const filter_spec& spec) {
  return spec.error_rate < min_blocked_rate ? filter_kind::bloom : filter_kind::blocked_bloom;
}

/// A Bloom filter for as many items, counted as new, as the capacity. It is planned for all items,
/// with those that it overlooks.
planned_part counted_part(const filter_spec& spec, double rate) {
  const double offered = static_cast<double>(spec.capacity) / (1 - overlooked_share(rate));
  return part(spec, bloom_kind(spec), static_cast<std::uint64_t>(std::ceil(offered)), rate);
}

planned_part back_part(const filter_spec& spec, double share) {
  return part(spec, filter_kind::expandable, std::max(min_back, spec.capacity / back_divisor),
              spec.error_rate * share);
}

}  // namespace

native_plan plan_native(const filter_spec& spec) {
  using enum filter_kind;
  const bool grows = spec.expansion != 0;
  const bool keeps_copies = spec.family == filter_family::cuckoo || spec.deletable;
  if (grows && spec.capacity < (keeps_copies ? min_quotient_front : min_blocked_front)) {
    return {part(spec, expandable, spec.capacity, spec.error_rate), std::nullopt};
  }
  if (keeps_copies) {
    const double share = grows ? quotient_share : fixed_quotient_share;
    native_plan plan{part(spec, vector_quotient, spec.capacity, spec.error_rate * share),
                     std::nullopt};
    if (grows) plan.back = back_part(spec, 1 - share);
    return plan;
  }
  if (!grows) {
    return {counted_part(spec, spec.error_rate), std::nullopt};
  }
  return {counted_part(spec, spec.error_rate * blocked_share), back_part(spec, 1 - blocked_share)};
}

}  // namespace bloomset::server
