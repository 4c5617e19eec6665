#include "native_plan.hpp"

#include <algorithm>
#include <bloomery/plan/numeric.hpp>
#include <cmath>

namespace bloomery::server {
namespace {

// Growing filters of fewer items are one expandable from the start: most of those that are made
// without being asked for grow far beyond, and what stands in front would be asked for nothing.
constexpr std::uint64_t min_front = 10'000;
// Shares of the rate that the front may use. A blocked filter pays 0.18 bits an item for the 7%
// that it leaves, a vector quotient filter goes to the next longer remainder.
constexpr double blocked_share = 0.93;
constexpr double quotient_share = 0.5;
// A filter that does not grow is filled until it says that it is full, 3% beyond its capacity.
constexpr double lone_quotient_share = 0.95;
// What comes behind begins with room for this share of the front's items.
constexpr std::uint64_t back_divisor = 8;
constexpr std::uint64_t min_back = 100;

planned_part part(filter_kind kind, std::uint64_t capacity, double rate) {
  return {find_kind(kind), {.capacity = capacity, .fpr = rate}};
}

/// The part of items offered to a Bloom filter of this rate, until it has those that it is planned
/// for, which it takes for members when they come and does not count: the mean of its rate on the
/// way, (1 - e^(-ax))^k for x from 0 to 1, where a is such that it ends at `rate`, by Simpson's
/// rule.
double overlooked(double rate) {
  const double k = std::max(1.0, std::round(-numeric::log2(rate)));
  const double a = -numeric::log1p(-numeric::pow(rate, 1 / k));
  const auto rate_at = [&](double x) { return numeric::pow(-numeric::expm1(-a * x), k); };
  constexpr int steps = 64;
  double sum = rate_at(1);
  for (int i = 1; i < steps; ++i) sum += (i % 2 == 0 ? 2 : 4) * rate_at(double(i) / steps);
  return sum / (3 * steps);
}

/// A Bloom filter that takes so many items which were new when they came: those that it overlooked
/// were offered, too, and it is as full as they would have made it.
planned_part part_of_new(filter_kind kind, std::uint64_t items, double rate) {
  const double offered = static_cast<double>(items) / (1 - overlooked(rate));
  return part(kind, static_cast<std::uint64_t>(std::ceil(offered)), rate);
}

/// One line an item as long as that takes at most a sixth more memory than the classic filter.
filter_kind bloom_kind(const filter_spec& spec) {
  return spec.error_rate < min_blocked_rate ? filter_kind::bloom : filter_kind::blocked_bloom;
}

planned_part back_of(const filter_spec& spec, double share) {
  return part(filter_kind::expandable, std::max(min_back, spec.capacity / back_divisor),
              spec.error_rate * share);
}

}  // namespace

native_plan plan_native(const filter_spec& spec) {
  using enum filter_kind;
  const bool grows = spec.expansion != 0;
  if (spec.family == filter_family::cuckoo || spec.deletable) {
    const double share = grows ? quotient_share : lone_quotient_share;
    native_plan plan{part(vector_quotient, spec.capacity, spec.error_rate * share), std::nullopt};
    if (grows) plan.back = back_of(spec, 1 - share);
    return plan;
  }
  if (!grows) {
    return {part_of_new(bloom_kind(spec), spec.capacity, spec.error_rate), std::nullopt};
  }
  if (spec.capacity < min_front) {
    return {part(expandable, spec.capacity, spec.error_rate), std::nullopt};
  }
  return {part_of_new(bloom_kind(spec), spec.capacity, spec.error_rate * blocked_share),
          back_of(spec, 1 - blocked_share)};
}

std::uint64_t slice_milliseconds(const filter_spec& spec) noexcept {
  return (1000 * spec.window + spec.generations - 1) / spec.generations;
}

bool may_be_front(filter_kind kind, const native_plan& plan) noexcept {
  using enum filter_kind;
  const filter_kind planned = plan.front.kind->kind;
  if (kind == planned) return true;
  if (planned != bloom && planned != blocked_bloom) return false;
  return kind == bloom || kind == blocked_bloom || (kind == expandable && plan.back);
}

filter_spec generation_spec(const filter_spec& spec) noexcept {
  return {.family = spec.family,
          .error_rate = spec.error_rate / (spec.generations + 1),
          .capacity = (spec.capacity + spec.generations - 1) / spec.generations,
          .expansion = spec.expansion};
}

}  // namespace bloomery::server
