#include <bloomset/plan/bloom_plan.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <bloomset/detail/core/bloom_sets.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>

#include "core/format.hpp"
#include "plan/checks.hpp"
#include "plan/search.hpp"

namespace bloomset {
namespace {

namespace f = formulas;

/// The mean rate, or the rate `deviations` standard deviations above it.
double full_fpr(double n, std::uint64_t m, unsigned k, double deviations = 0) {
  double rate = f::bloom_fpr(n, m, k);
  if (deviations != 0) rate = f::fpr_at(rate, f::bloom_fpr_scatter(n, m, k), deviations);
  return std::min(1.0, rate + f::hash_collision_fpr(n));
}

// With more than 28 functions the rate of a small array is known only by an expansion
// (formulas.hpp). Such arrays are never smaller than 512 bytes, where the expansion is accurate.
std::uint64_t min_bits(unsigned k) {
  return k > 28 ? 4096 : 1;
}

// The number of functions with the lowest measure. It is usually one of the two whole numbers
// around the ideal one. In small arrays it may be shifted, so a window of five is searched.
template <class Measure>
unsigned best_hashes(double ideal, Measure&& measure) {
  const auto first =
      static_cast<unsigned>(std::clamp(std::floor(ideal) - 2, 1.0, double{max_hash_functions - 4}));
  unsigned best = first;
  auto lowest = measure(first);
  for (unsigned k = first + 1; k < first + 5; ++k) {
    const auto now = measure(k);
    if (now < lowest) best = k;
    lowest = std::min(lowest, now);
  }
  return best;
}

unsigned best_hashes_in(std::uint64_t m, std::uint64_t keys) {
  const auto n = static_cast<double>(keys);
  return best_hashes(f::optimal_hashes(n, static_cast<double>(m)),
                     [&](unsigned k) { return f::bloom_fpr(n, m, k); });
}

// The largest number of keys whose rate is at most eps, with the best number of functions for them.
std::uint64_t max_capacity(std::uint64_t bits, double eps, unsigned fixed_hashes,
                           double deviations) {
  return detail::last_fitting(max_keys, [&](std::uint64_t n) {
    const unsigned k = fixed_hashes != 0 ? fixed_hashes : best_hashes_in(bits, n);
    return full_fpr(static_cast<double>(n), bits, k, deviations) <= eps;
  });
}

result<void> check_ranges(const bloom_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (spec.hashes > max_hash_functions) {
    return detail::refuse("{} hash functions are too many; give at most {}", spec.hashes,
                          max_hash_functions);
  }
  if (spec.bits != 0 && spec.bits < min_bits(spec.hashes)) {
    return detail::refuse("{} hash functions need at least {} bits; give more memory", spec.hashes,
                          min_bits(spec.hashes));
  }
  return detail::check_hash_collisions(spec.fpr, spec.capacity);
}

constexpr auto fields = [](auto& block, auto& params) {
  block.values(params.capacity, params.fpr, params.bits);
  block.u32(params.hashes).u16(params.probe).zeros(2).values(params.chance_keys);
};

}  // namespace

result<bloom_params> plan_bloom(const bloom_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  bloom_params plan{
      .capacity = spec.capacity, .bits = spec.bits, .hashes = spec.hashes, .seed = spec.seed};
  const auto keys = static_cast<double>(spec.capacity);
  const double deviations = spec.confidence != 0 ? f::normal_quantile(spec.confidence) : 0;
  if (spec.capacity != 0 && spec.bits != 0) {
    if (plan.hashes == 0) plan.hashes = best_hashes_in(spec.bits, spec.capacity);
  } else if (spec.capacity != 0 && spec.fpr != 0) {
    const double target = spec.fpr - f::hash_collision_fpr(keys);
    const auto bits_for = [&](unsigned k) {
      return std::max(min_bits(k), f::bloom_bits(keys, target, k, deviations));
    };
    if (plan.hashes == 0) plan.hashes = best_hashes(f::information_bound(spec.fpr), bits_for);
    plan.bits = bits_for(plan.hashes);
    if (spec.foldable && plan.bits <= max_bits) plan.bits = detail::foldable_size(plan.bits);
    if (plan.bits > max_bits) {
      return detail::refuse(
          "{} at a rate of {:.3g} would need more than 2^62 bits; give fewer keys or a higher rate",
          format_count(spec.capacity, "key"), spec.fpr);
    }
  } else if (spec.bits != 0 && spec.fpr != 0) {
    plan.capacity = max_capacity(spec.bits, spec.fpr, spec.hashes, deviations);
    if (plan.capacity == 0) return detail::no_key_fits(spec.bits, spec.fpr);
    if (plan.hashes == 0) plan.hashes = best_hashes_in(spec.bits, plan.capacity);
  } else if (spec.hashes != 0 && spec.capacity != 0) {
    const double bits = std::ceil(spec.hashes * keys / std::numbers::ln2);
    if (bits > static_cast<double>(max_bits)) {
      return fail(errc::invalid_argument,
                  "so many keys and functions would need more than 2^62 bits; give fewer");
    }
    plan.bits = std::max(min_bits(spec.hashes), static_cast<std::uint64_t>(bits));
  } else if (spec.hashes != 0 && spec.bits != 0) {
    const double best = static_cast<double>(spec.bits) * std::numbers::ln2 / spec.hashes;
    plan.capacity = std::clamp(static_cast<std::uint64_t>(best), std::uint64_t{1}, max_keys);
  } else {
    return detail::size_is_open("a Bloom filter");
  }
  plan.fpr = full_fpr(static_cast<double>(plan.capacity), plan.bits, plan.hashes);
  const double promised =
      full_fpr(static_cast<double>(plan.capacity), plan.bits, plan.hashes, deviations);
  if (auto ok = detail::check_promise(spec.fpr, promised, plan.capacity, plan.bits); !ok) {
    return fail(std::move(ok.error()));
  }
  return plan;
}

result<bloom_params> fold_params(const bloom_params& params, std::uint64_t factor, double fpr) {
  if (auto ok = detail::check_factor(factor, params.bits, "bits"); !ok) return fail(ok.error());
  bloom_params folded = params;
  folded.bits /= factor;
  folded.capacity = fpr != 0
                        ? max_capacity(folded.bits, fpr, params.hashes, 0)
                        : std::max<std::uint64_t>(1, params.capacity / factor);  // 0 is no capacity
  if (fpr != 0 && folded.capacity == 0) return detail::no_key_fits(folded.bits, fpr);
  folded.fpr = full_fpr(static_cast<double>(folded.capacity), folded.bits, params.hashes);
  return folded;
}

double bloom_params::scatter() const {
  return formulas::bloom_fpr_scatter(static_cast<double>(capacity), bits, hashes);
}

result<void> same_shape(const bloom_params& a, const bloom_params& b) {
  const auto number_of = [](probe_id probe) { return static_cast<std::uint64_t>(probe); };
  return detail::check_equal({{"bits", a.bits, b.bits},
                              {"hashes", a.hashes, b.hashes},
                              {"seed", a.seed, b.seed},
                              {"probe rule", number_of(a.probe), number_of(b.probe)}},
                             "bits, hashes and seed");
}

result<void> detail::check_probe(const bloom_params& array, probe_id rule, unsigned max_hashes,
                                 std::uint64_t max_places) {
  if (array.probe != rule) {
    if (array.probe == probe_id::double_hashing) {
      return fail(errc::incompatible,
                  "the filter was built with another probe rule than this type reads");
    }
    return format_failure(errc::unsupported,
                          "the filter's probe rule {} is not known here; use a newer bloomset",
                          static_cast<unsigned>(array.probe));
  }
  if (array.bits == 0 || array.hashes == 0) {
    return fail(errc::invalid_argument, "a Bloom filter has at least one bit and one function");
  }
  if (array.hashes > max_hashes || array.bits > max_places) {
    return fail(errc::invalid_argument,
                "the probe rule has fewer functions or fewer places than the filter needs");
  }
  return {};
}

std::vector<std::byte> bloom_params::encode() const {
  return detail::encode_block(*this, fields);
}

result<bloom_params> bloom_params::decode(const filter_header& header,
                                          std::span<const std::byte> block) {
  return detail::decode_block<bloom_params>(
      header, block, "Bloom filter", fields, [](const bloom_params& params) {
        return detail::is_capacity(params.capacity) && detail::in_range(params.fpr, 0, 1) &&
               params.bits != 0 && params.bits <= max_bits && params.hashes != 0 &&
               params.hashes <= max_hash_functions && detail::is_chance_keys(params.chance_keys);
      });
}

}  // namespace bloomset
