#include <bloomset/plan/ribbon_plan.hpp>

#include <algorithm>
#include <cmath>

#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/plan/units.hpp>

#include "plan/checks.hpp"
#include "plan/search.hpp"

namespace bloomset {
namespace {

namespace f = formulas;

constexpr unsigned max_columns = 31;
// Starts per shard. The 32 Ki keys of a shard and their equations need 1 MB while they are solved,
// which fits into the second-level cache.
constexpr std::uint64_t shard_starts = 4096;
// A level that bumps has 1.05 keys per slot: it bumps 4.9% of them and leaves 0.17% of the slots
// empty. Memory lost (measured): 0.45% at 1.04 keys per slot, 0.39% at 1.05, 0.36% at 1.06, where
// more keys need a second level.
constexpr std::uint64_t load_numerator = 21;
constexpr std::uint64_t load_denominator = 20;
// The figures of a plan, rounded for display, have to give the same plan again.
constexpr double rounding = 1 + 1e-6;
constexpr double min_fpr = 0x1p-32;

/// Sets the columns and the cut for a rate.
void set_rate(ribbon_level& level, double eps) noexcept {
  if (!(eps < 1)) {
    level.columns = 0;
    level.cut = level.all_starts();
    return;
  }
  // eps = m 2^e, 1/2 <= m < 1: between the rates of -e and 1 - e columns.
  int e = 0;
  const double m = std::frexp(std::max(eps, min_fpr), &e);
  level.columns = static_cast<std::uint32_t>(-e);
  const auto all = static_cast<double>(level.all_starts());
  level.cut = std::min(static_cast<std::uint64_t>((2 * m - 1) * all), level.all_starts());
}

/// An upper bound of the keys that a level bumps: n less the slots in use. 0.1% of the slots and 22
/// per system stay empty (measured); six standard deviations are added.
double bumped_keys(double n, const ribbon_level& level) noexcept {
  const auto slots = static_cast<double>(level.slots());
  const double empty = 0.001 * slots + 22 * static_cast<double>(level.shards + 1);
  return n - slots + empty + 6 * std::sqrt(empty);
}

/// The tries of a last level that a plan expects, and those that a build with a size limit has room
/// for, which it seldom exceeds (measured).
constexpr unsigned expected_attempt = 12;
constexpr unsigned largest_attempt = 40;

std::uint64_t bytes_for(std::uint64_t n, double eps, unsigned attempt = expected_attempt) noexcept {
  std::uint64_t bytes = detail::retrieval_padding;
  auto left = static_cast<double>(n);
  while (true) {
    const auto keys = static_cast<std::uint64_t>(std::ceil(left));
    const ribbon_level level = detail::plan_ribbon_level(keys, eps, attempt);
    bytes += level.bytes();
    if (!level.bumps) return bytes;
    left = bumped_keys(left, level);
  }
}

double rate_of_columns(double n, double eps) noexcept {
  return eps - f::hash_collision_fpr(n);
}

result<void> check_ranges(const ribbon_spec& spec) {
  if (auto ok = detail::check_common(spec, max_ribbon_keys); !ok) return ok;
  if (spec.fpr == 0) return {};
  return detail::check_ribbon_rate(spec.fpr, spec.capacity);
}

/// The lowest rate with which n keys fit, or 1.
double rate_that_fits(std::uint64_t n, std::uint64_t bits) noexcept {
  const double collisions = f::hash_collision_fpr(static_cast<double>(n));
  const auto fits = [&](double log2_eps) {
    return bytes_for(n, numeric::exp2(log2_eps), largest_attempt) * 8 <= bits;
  };
  const double least = fits(-32) ? -32 : detail::first_good_real(-32, 0, 50, fits);
  return std::min(numeric::exp2(least) + collisions, 1.0);
}

std::uint64_t keys_that_fit(double eps, std::uint64_t bits) noexcept {
  const auto are_too_many = [&](std::uint64_t n) {
    if (n != 0 && !detail::check_ribbon_rate(eps, n)) return true;
    const double rate = rate_of_columns(static_cast<double>(n), eps);
    return bytes_for(n, rate, largest_attempt) * 8 > bits;
  };
  return detail::first_good(0, max_ribbon_keys + 1, are_too_many) - 1;
}

constexpr auto level_fields = [](auto& block, auto& level) {
  block.values(level.seed, level.shards, level.starts, level.cut).u32(level.columns).zeros(4);
};

}  // namespace

std::uint64_t ribbon_params::payload_bytes() const noexcept {
  if (levels.empty()) return 0;
  std::uint64_t bytes = detail::retrieval_padding;
  for (const ribbon_level& level : levels) bytes += level.bytes();
  return bytes;
}

ribbon_level detail::plan_ribbon_level(std::uint64_t n, double eps, unsigned attempt) noexcept {
  ribbon_level level;
  level.bumps = n > last_ribbon_level_keys;
  std::uint64_t groups = 0;
  if (level.bumps) {
    groups = n * load_denominator / (8 * load_numerator);
    level.shards = std::max<std::uint64_t>(1, (groups + shard_starts / 2) / shard_starts);
  } else {
    groups = std::max<std::uint64_t>((n + 7) / 8 + attempt / 8, detail::window_64::groups);
  }
  set_starts(level, groups);
  set_rate(level, eps);
  return level;
}

result<void> detail::check_ribbon_rate(double eps, std::uint64_t n) {
  const double least = min_fpr + f::hash_collision_fpr(static_cast<double>(n));
  if (eps * rounding >= least) return {};
  return refuse(
      "a rate of {:.3g} with {} is below what 32 columns and 64-bit hashes give ({:.3g}); give a "
      "higher one",
      eps, format_count(n, "key"), least);
}

result<double> detail::ribbon_rate_for(const ribbon_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  if (spec.fpr != 0) return spec.fpr;
  const auto plan = plan_ribbon(spec);
  if (!plan) return fail(plan.error());
  return plan->fpr;
}

result<ribbon_plan> plan_ribbon(const ribbon_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  if ((spec.capacity != 0) + (spec.fpr != 0) + (spec.bits != 0) < 2) {
    return detail::size_is_open("a ribbon filter");
  }
  const auto too_little = [&](std::uint64_t keys) {
    return detail::too_few_bits(spec.bits, keys, "ribbon filter", detail::at_rate(spec.fpr));
  };
  ribbon_plan plan{.capacity = spec.capacity, .fpr = spec.fpr};
  if (plan.capacity == 0) {
    plan.capacity = keys_that_fit(plan.fpr, spec.bits);
    if (plan.capacity == 0) return too_little(1);
  } else if (plan.fpr == 0) {
    plan.fpr = rate_that_fits(plan.capacity, spec.bits);
    if (plan.fpr >= 1) return too_little(plan.capacity);
  }
  const double rate = rate_of_columns(static_cast<double>(plan.capacity), plan.fpr);
  plan.bytes = bytes_for(plan.capacity, rate);
  if (spec.bits != 0 && plan.bytes * 8 > spec.bits) return too_little(plan.capacity);
  return plan;
}

std::vector<std::byte> ribbon_params::encode() const {
  detail::record_writer writer;
  writer.values(fpr).u32(levels.size()).zeros(4);
  for (const ribbon_level& level : levels) level_fields(writer, level);
  return writer.finish();
}

bool ribbon_params::possible(std::uint64_t count) const noexcept {
  if (levels.size() > max_ribbon_levels || !(fpr > 0 && fpr < 1) ||
      levels.empty() != (count == 0)) {
    return false;
  }
  return std::ranges::all_of(levels, [this](const ribbon_level& level) {
    return level.possible(max_columns) && level.width == 64 &&
           level.bumps == (&level != &levels.back());
  });
}

result<ribbon_params> ribbon_params::decode(const filter_header& header,
                                            std::span<const std::byte> block) {
  return detail::decode_block<ribbon_params>(
      header, block, "ribbon filter",
      [](detail::record_reader& reader, ribbon_params& params) {
        std::uint32_t count = 0;
        reader.values(params.fpr, count).zeros(4);
        params.levels.resize(std::min<std::size_t>(count, max_ribbon_levels + 1));
        for (ribbon_level& level : params.levels) {
          level_fields(reader, level);
          level.bumps = &level != &params.levels.back();
        }
      },
      [&](const ribbon_params& params) { return params.possible(header.count); });
}

}  // namespace bloomset
