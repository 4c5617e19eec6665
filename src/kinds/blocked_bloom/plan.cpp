#include <bloomset/plan/blocked_bloom_plan.hpp>

#include <algorithm>

#include <bloomset/detail/core/bloom_sets.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>

#include "core/format.hpp"
#include "plan/block_rates.hpp"
#include "plan/checks.hpp"
#include "plan/search.hpp"

namespace bloomset {
namespace {

namespace f = formulas;

// Between these rates the split layout needs at most 4.4% more bits than the free one, and is
// faster.
constexpr double split_from = 0.0005;
constexpr double split_to = 0.02;
// The share of the requested rate that the plan aims at; see plan_blocked_bloom.
constexpr double caution = 0.997;
constexpr std::uint64_t max_parquet_blocks = std::uint64_t{1} << 31;

std::uint64_t max_blocks(block_layout layout) {
  return layout == block_layout::parquet_256 ? max_parquet_blocks : max_bits / 512;
}

double scatter_of(double n, block_layout layout, std::uint64_t blocks, unsigned k) {
  return layout == block_layout::free_512
             ? f::free_block_fpr_scatter(n, blocks, 512, k)
             : f::split_block_fpr_scatter(n, blocks, 8,
                                          layout == block_layout::split_512 ? 64 : 32);
}

/// The rate of one layout for many sizes: blocked_bloom_fpr, or a rate that is a number of standard
/// deviations above it. Values common to the sizes are computed once.
class rates {
 public:
  rates(block_layout layout, unsigned k, double deviations = 0)
      : layout_(layout),
        k_(k),
        deviations_(deviations),
        split_(f::split_block(8, layout == block_layout::split_512 ? 64 : 32)),
        free_(f::free_block(512, k)) {}

  double operator()(double n, std::uint64_t blocks) {
    double rate =
        layout_ == block_layout::free_512 ? free_.mean(n, blocks) : split_.mean(n, blocks);
    if (deviations_ != 0) {
      rate = f::fpr_at(rate, scatter_of(n, layout_, blocks, k_), deviations_);
    }
    return std::min(1.0, rate + f::hash_collision_fpr(n));
  }

 private:
  block_layout layout_;
  unsigned k_;
  double deviations_;
  f::block_rates<f::split_block> split_;
  f::block_rates<f::free_block> free_;
};

// The fewest blocks for that rate, or a number above max_blocks if that many are not enough.
std::uint64_t blocks_for(double n, double eps, block_layout layout, unsigned k, double deviations) {
  rates fpr(layout, k, deviations);
  const auto fits = [&](std::uint64_t blocks) { return fpr(n, blocks) <= eps; };
  // No filter of that rate has fewer bits than the information bound.
  const double min_blocks = n * f::information_bound(eps) / static_cast<double>(block_bits(layout));
  const auto low = static_cast<std::uint64_t>(std::min(min_blocks, 0x1p60));
  return detail::first_good_from(low, max_blocks(layout), fits);
}

std::uint64_t keys_for(block_layout layout, std::uint64_t blocks, unsigned k, double eps,
                       double deviations) {
  rates fpr(layout, k, deviations);
  return detail::last_fitting(
      max_keys, [&](std::uint64_t n) { return fpr(static_cast<double>(n), blocks) <= eps; });
}

/// The layout to try: the requested one, or the one that suits the rate.
block_layout layout_for(const blocked_bloom_spec& spec, double eps) {
  if (spec.layout != block_layout{}) return spec.layout;
  if (spec.hashes != 0) return block_layout::free_512;
  return eps >= split_from && eps <= split_to ? block_layout::split_512 : block_layout::free_512;
}

/// The number of functions with the lowest measure. In the free layout the measure falls, may stay
/// level, and then rises in k.
template <class Measure>
unsigned best_hashes(const blocked_bloom_spec& spec, block_layout layout, Measure&& measure) {
  if (layout != block_layout::free_512) return 8;
  if (spec.hashes != 0) return spec.hashes;
  unsigned best = 1;
  double lowest = measure(best);
  for (unsigned k = 2; k <= max_block_hashes; ++k) {
    const double now = measure(k);
    if (now > lowest) break;
    if (now < lowest) best = k;
    lowest = now;
  }
  return best;
}

bool is_known(block_layout layout) noexcept {
  const auto number = static_cast<std::uint16_t>(layout);
  return number >= 1 && number <= 3;
}

result<void> check_ranges(const blocked_bloom_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (spec.layout != block_layout{} && !is_known(spec.layout)) {
    return detail::refuse("there is no block layout {}; give 1 to 3",
                          static_cast<std::uint16_t>(spec.layout));
  }
  if (auto ok = detail::check_hash_collisions(spec.fpr, spec.capacity); !ok) return ok;
  if (spec.fpr != 0 && spec.fpr < min_blocked_fpr) {
    return detail::refuse(
        "a rate of {:.3g} is below what blocks can reach ({:.0g}); use kind bloom or cuckoo",
        spec.fpr, min_blocked_fpr);
  }
  if (spec.hashes > max_block_hashes) {
    return detail::refuse("{} hash functions are too many for a block; give at most {}",
                          spec.hashes, max_block_hashes);
  }
  if (spec.hashes != 0 && spec.hashes != 8 && spec.layout != block_layout{} &&
      spec.layout != block_layout::free_512) {
    return detail::refuse(
        "the {} layout has 8 hash functions, not {}; leave the number out, or use the free layout",
        name_of(spec.layout), spec.hashes);
  }
  return {};
}

std::uint64_t whole_blocks(std::uint64_t bits, block_layout layout) {
  return std::clamp<std::uint64_t>(bits / block_bits(layout), 1, max_blocks(layout));
}

constexpr auto fields = [](auto& block, auto& params) {
  block.values(params.capacity, params.fpr, params.blocks);
  block.u32(params.hashes).u16(params.layout).zeros(2).values(params.chance_keys);
};

}  // namespace

std::string_view name_of(block_layout layout) noexcept {
  switch (layout) {
    case block_layout::split_512:
      return "split";
    case block_layout::free_512:
      return "free";
    case block_layout::parquet_256:
      return "parquet";
  }
  return "unknown";
}

double blocked_bloom_fpr(double n, block_layout layout, std::uint64_t blocks, unsigned hashes) {
  return rates(layout, hashes)(n, blocks);
}

result<blocked_bloom_params> plan_blocked_bloom(const blocked_bloom_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  const auto n = static_cast<double>(spec.capacity);
  const double deviations = spec.confidence != 0 ? f::normal_quantile(spec.confidence) : 0;
  const double target = spec.confidence != 0 ? spec.fpr : spec.fpr * caution;
  blocked_bloom_params plan{.capacity = spec.capacity, .seed = spec.seed};
  if (spec.capacity != 0 && spec.bits != 0) {
    // The split layout if its rate at this size is in the range that suits it.
    const block_layout split = block_layout::split_512;
    plan.layout = layout_for(spec, blocked_bloom_fpr(n, split, whole_blocks(spec.bits, split), 8));
    plan.blocks = whole_blocks(spec.bits, plan.layout);
    plan.hashes = best_hashes(spec, plan.layout, [&](unsigned k) {
      return blocked_bloom_fpr(n, plan.layout, plan.blocks, k);
    });
  } else if (spec.capacity != 0 && spec.fpr != 0) {
    plan.layout = layout_for(spec, spec.fpr);
    // The best k of a large filter is that of the limit of many blocks, so at most 10^6 keys are
    // used to find it.
    const double sample = std::min(n, 1e6);
    plan.hashes = best_hashes(spec, plan.layout, [&](unsigned k) {
      return static_cast<double>(blocks_for(sample, target, plan.layout, k, deviations));
    });
    plan.blocks = blocks_for(n, target, plan.layout, plan.hashes, deviations);
    if (spec.foldable) plan.blocks = detail::foldable_size(plan.blocks);
    if (plan.blocks > max_blocks(plan.layout)) {
      return detail::refuse(
          "{} at a rate of {:.3g} would need more blocks than the {} layout can have; give fewer "
          "keys or a higher rate",
          format_count(spec.capacity, "key"), spec.fpr, name_of(plan.layout));
    }
  } else if (spec.bits != 0 && spec.fpr != 0) {
    plan.layout = layout_for(spec, spec.fpr);
    plan.blocks = whole_blocks(spec.bits, plan.layout);
    plan.hashes = best_hashes(spec, plan.layout, [&](unsigned k) {
      return -static_cast<double>(keys_for(plan.layout, plan.blocks, k, target, deviations));
    });
    plan.capacity = keys_for(plan.layout, plan.blocks, plan.hashes, target, deviations);
    if (plan.capacity == 0) return detail::no_key_fits(spec.bits, spec.fpr);
  } else {
    return detail::size_is_open("a blocked Bloom filter");
  }
  plan.fpr =
      blocked_bloom_fpr(static_cast<double>(plan.capacity), plan.layout, plan.blocks, plan.hashes);
  const double promised =
      rates(plan.layout, plan.hashes, deviations)(static_cast<double>(plan.capacity), plan.blocks);
  if (auto ok = detail::check_promise(spec.fpr, promised, plan.capacity, plan.bits()); !ok) {
    return fail(std::move(ok.error()));
  }
  return plan;
}

result<blocked_bloom_params> fold_params(const blocked_bloom_params& params, std::uint64_t factor,
                                         double fpr) {
  if (auto ok = detail::check_factor(factor, params.blocks, "blocks"); !ok) return fail(ok.error());
  blocked_bloom_params folded = params;
  folded.blocks /= factor;
  folded.capacity = fpr != 0 ? keys_for(params.layout, folded.blocks, params.hashes, fpr, 0)
                             : std::max<std::uint64_t>(1, params.capacity / factor);
  if (fpr != 0 && folded.capacity == 0) return detail::no_key_fits(folded.bits(), fpr);
  folded.fpr = blocked_bloom_fpr(static_cast<double>(folded.capacity), params.layout, folded.blocks,
                                 params.hashes);
  return folded;
}

double blocked_bloom_params::scatter() const {
  return scatter_of(static_cast<double>(capacity), layout, blocks, hashes);
}

result<void> same_shape(const blocked_bloom_params& a, const blocked_bloom_params& b) {
  return detail::check_equal({{"layout", name_of(a.layout), name_of(b.layout)},
                              {"blocks", a.blocks, b.blocks},
                              {"hashes", a.hashes, b.hashes},
                              {"seed", a.seed, b.seed}},
                             "blocks, layout, hashes and seed");
}

std::vector<std::byte> blocked_bloom_params::encode() const {
  return detail::encode_block(*this, fields);
}

bool blocked_bloom_params::possible() const noexcept {
  const bool any_hashes = layout == block_layout::free_512;
  return is_known(layout) && blocks != 0 && blocks <= max_blocks(layout) && hashes != 0 &&
         hashes <= max_block_hashes && (any_hashes || hashes == 8);
}

result<blocked_bloom_params> blocked_bloom_params::decode(const filter_header& header,
                                                          std::span<const std::byte> block) {
  constexpr std::string_view filter = "blocked Bloom filter";
  if (auto ok = detail::check_version(header, filter); !ok) return fail(std::move(ok.error()));
  detail::record_reader reader(block);
  blocked_bloom_params params{.seed = header.seed};
  fields(reader, params);
  if (!is_known(params.layout)) {
    return detail::format_failure(
        errc::unsupported, "the filter's block layout {} is not known here; use a newer bloomset",
        static_cast<std::uint16_t>(params.layout));
  }
  if (!reader.complete() || !detail::is_capacity(params.capacity) || !params.possible() ||
      !detail::in_range(params.fpr, 0, 1) || !detail::is_chance_keys(params.chance_keys)) {
    return detail::out_of_range(filter);
  }
  return params;
}

}  // namespace bloomset
