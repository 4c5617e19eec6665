#include <bloomset/plan/vector_quotient_plan.hpp>

#include <algorithm>
#include <bloomset/detail/vector_quotient/layout.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <functional>
#include <optional>

#include "plan/checks.hpp"
#include "plan/search.hpp"

namespace bloomset {
namespace {

namespace f = formulas;

constexpr unsigned min_remainder = 5;
constexpr unsigned max_remainder = 32;
constexpr std::uint64_t max_blocks = std::uint64_t{1} << 44;
constexpr std::uint64_t max_overflow_entries = std::uint64_t{1} << 56;
constexpr std::uint64_t min_bits = 8 * (detail::vq_block_bytes + detail::vq_stash_bytes);

// The planned load. docs/maintain/decisions/kinds/vector-quotient-regions.md has the loads that
// filters reach.
constexpr double max_load(unsigned slots) {
  return slots >= 24 ? 0.965 : 0.94;
}

// Shapes that use fewer bits of a block need more blocks.
constexpr unsigned min_used_bits = detail::vq_block_bits * 7 / 8;

// The shape of a block.
struct shape {
  unsigned slots;
  unsigned buckets;
  unsigned bits;

  double tags() const { return std::ldexp(buckets, static_cast<int>(bits)); }

  std::uint64_t max_keys_in(std::uint64_t blocks) const {
    // With one block, both blocks of a key are the same: it stores as many tags as it has slots.
    if (blocks == 1) return slots;
    return static_cast<std::uint64_t>(static_cast<double>(blocks) * slots * max_load(slots));
  }

  // 1 - (1 - c)^n + n / 2^64: a non-member passes if one of n keys has its tag in its pair of
  // blocks. Of N B 2^r pairs (first block, tag) a key covers two, so c = 2 / (N B 2^r). (A key
  // whose two blocks are the same covers one, which is neglected unless N = 1.)
  double fpr(double n, std::uint64_t blocks) const {
    const double covered = (blocks == 1 ? 1 : 2) / (static_cast<double>(blocks) * tags());
    return std::min(1.0, -numeric::expm1(n * numeric::log1p(-covered)) + f::hash_collision_fpr(n));
  }
};

// The shape with as many buckets as fit, if its ends fit into three words.
std::optional<shape> shape_of(unsigned slots, unsigned bits) {
  if (slots * (bits + 1) >= detail::vq_block_bits || slots > detail::vq_max_slots) {
    return std::nullopt;
  }
  const unsigned buckets =
      std::min(detail::vq_block_bits - slots * (bits + 1), detail::vq_max_ends - slots);
  if (slots + buckets < detail::vq_min_ends || slots * (bits + 1) + buckets < min_used_bits) {
    return std::nullopt;
  }
  return shape{slots, buckets, bits};
}

// The fewest blocks for n keys at the rate eps, or at any rate if eps is 0. 0 if there are none.
std::uint64_t fewest_blocks(const shape& form, std::uint64_t n, double eps) {
  const auto keys = static_cast<double>(n);
  const double full_blocks = keys / (form.slots * max_load(form.slots));
  double estimate = n <= form.slots ? 1 : std::max(2.0, full_blocks);
  if (eps != 0) {
    const double tag_rate = eps - f::hash_collision_fpr(keys);
    if (tag_rate <= 0) return 0;
    // 1 - (1 - c)^n = tag_rate, solved for N.
    const double covered = -numeric::expm1(numeric::log1p(-tag_rate) / keys);
    const double for_rate = 2 / (covered * form.tags());
    estimate = std::max(estimate, for_rate <= 2 ? 1.0 : for_rate);
  }
  // A low rate may leave slots free, at most every second one.
  if (estimate > static_cast<double>(max_blocks) || estimate > 2 * full_blocks + 1) return 0;
  const auto is_enough = [&](std::uint64_t blocks) {
    return n <= form.max_keys_in(blocks) && (eps == 0 || form.fpr(keys, blocks) <= eps);
  };
  // The estimate is exact up to rounding.
  auto blocks = static_cast<std::uint64_t>(std::floor(estimate));
  blocks -= blocks > 1;
  for (int step = 0; step < 5; ++step, ++blocks) {
    if (is_enough(blocks)) return blocks;
  }
  return 0;
}

std::uint64_t blocks_in(std::uint64_t bits) {
  return std::min(max_blocks, (bits - 8 * detail::vq_stash_bytes) / detail::vq_block_bits);
}

// The most keys at the rate eps, or at any rate if eps is 0.
std::uint64_t max_capacity(const shape& form, std::uint64_t blocks, double eps) {
  const auto fits = [&](std::uint64_t n) {
    return form.fpr(static_cast<double>(n), blocks) <= eps;
  };
  const std::uint64_t n = std::min(form.max_keys_in(blocks), max_keys);
  if (eps == 0 || n == 0 || fits(n)) return n;
  return detail::first_good(0, n, [&](std::uint64_t keys) { return !fits(keys); }) - 1;
}

// The plan with blocks of this shape, if there is one.
std::optional<vector_quotient_params> plan_with(const vector_quotient_spec& spec,
                                                const shape& form) {
  const std::uint64_t blocks =
      spec.bits != 0 ? blocks_in(spec.bits) : fewest_blocks(form, spec.capacity, spec.fpr);
  const std::uint64_t n = spec.capacity != 0 ? spec.capacity : max_capacity(form, blocks, spec.fpr);
  if (blocks == 0 || n == 0 || n > form.max_keys_in(blocks)) return std::nullopt;
  const vector_quotient_params made{.capacity = n,
                                    .fpr = form.fpr(static_cast<double>(n), blocks),
                                    .blocks = blocks,
                                    .slots = form.slots,
                                    .buckets = form.buckets,
                                    .remainder_bits = form.bits,
                                    .seed = spec.seed};
  return made.possible() ? std::optional(made) : std::nullopt;
}

bool is_better(const vector_quotient_params& a, const vector_quotient_params& b) {
  if (a.blocks != b.blocks) return a.blocks < b.blocks;
  if (a.capacity != b.capacity) return a.capacity > b.capacity;
  return a.fpr < b.fpr;
}

// The best of the plans with the shapes that the spec allows.
std::optional<vector_quotient_params> best_plan(const vector_quotient_spec& spec) {
  unsigned min_bits_tried = spec.remainder_bits != 0 ? spec.remainder_bits : min_remainder;
  unsigned max_bits_tried = spec.remainder_bits != 0 ? spec.remainder_bits : max_remainder;
  if (spec.remainder_bits == 0 && spec.fpr != 0) {
    // eps is about 2 S / B 2^-r, and S / B is between 1/4 and 4 in blocks that are used well.
    const double log2_rate = -numeric::log2(spec.fpr);
    min_bits_tried = static_cast<unsigned>(std::clamp(log2_rate - 3, 5.0, 30.0));
    max_bits_tried = static_cast<unsigned>(std::clamp(log2_rate + 4, 8.0, 32.0));
  }
  const unsigned min_slots = spec.slots != 0 ? spec.slots : 1;
  const unsigned max_slots = spec.slots != 0 ? spec.slots : detail::vq_max_slots;
  std::optional<vector_quotient_params> best;
  for (unsigned bits = min_bits_tried; bits <= max_bits_tried; ++bits) {
    for (unsigned slots = min_slots; slots <= max_slots; ++slots) {
      const auto form = shape_of(slots, bits);
      if (!form) continue;
      const auto found = plan_with(spec, *form);
      if (found && (!best || is_better(*found, *best))) best = found;
    }
  }
  return best;
}

result<void> check_ranges(const vector_quotient_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (spec.remainder_bits != 0 &&
      (spec.remainder_bits < min_remainder || spec.remainder_bits > max_remainder)) {
    return detail::refuse("remainders of {} bits are not possible; give {} to {}",
                          spec.remainder_bits, min_remainder, max_remainder);
  }
  if (spec.slots > detail::vq_max_slots) {
    return detail::refuse("a block of {} slots is not possible; give 1 to {}", spec.slots,
                          detail::vq_max_slots);
  }
  if (spec.slots != 0 && spec.remainder_bits != 0 && !shape_of(spec.slots, spec.remainder_bits)) {
    return detail::refuse(
        "{} remainders of {} bits do not fit into a block of 512 bits with their buckets, or leave "
        "too much of it unused; leave one of slots and remainder_bits out",
        spec.slots, spec.remainder_bits);
  }
  if (spec.bits != 0 && spec.bits < min_bits) {
    return detail::refuse("{} bits are too few for a vector quotient filter; give at least {}",
                          spec.bits, min_bits);
  }
  return {};
}

failure no_plan(const vector_quotient_spec& spec) {
  if (spec.bits == 0) {
    return detail::refuse(
        "{}{} would need remainders of more than {} bits or 2^44 blocks; give a higher rate or "
        "fewer "
        "keys{}",
        format_count(spec.capacity, "key"), detail::at_rate(spec.fpr),
        spec.remainder_bits != 0 ? spec.remainder_bits : max_remainder,
        spec.remainder_bits != 0 ? "" : ", or use a kind with 128-bit hashes");
  }
  if (spec.capacity == 0) {
    return detail::refuse("{} bits hold no key{}; give more memory{}", format_count(spec.bits),
                          detail::at_rate(spec.fpr), spec.fpr == 0 ? "" : " or a higher rate");
  }
  return detail::refuse(
      "a vector quotient filter of {} bits has no room for {}; give more memory or fewer keys",
      format_count(spec.bits), format_count(spec.capacity, "key"));
}

constexpr auto fields = [](auto& block, auto& params) {
  block.values(params.capacity, params.fpr, params.blocks, params.overflow_entries);
  block.u16(params.slots, params.buckets, params.remainder_bits);
};

}  // namespace

result<vector_quotient_params> plan_vector_quotient(const vector_quotient_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  const bool rate_is_known = spec.fpr != 0 || spec.remainder_bits != 0;
  if ((spec.capacity != 0) + (spec.bits != 0) + rate_is_known < 2) {
    return detail::size_is_open("a vector quotient filter");
  }
  // A rate beside capacity and memory is a promise that is checked below.
  const auto plan = best_plan(spec);
  if (!plan) return no_plan(spec);
  if (auto ok = detail::check_promise(spec.fpr, plan->fpr, plan->capacity, spec.bits); !ok) {
    return fail(std::move(ok.error()));
  }
  return *plan;
}

result<void> same_shape(const vector_quotient_params& a, const vector_quotient_params& b) {
  return detail::check_equal({{"blocks", a.blocks, b.blocks},
                              {"slots", a.slots, b.slots},
                              {"buckets", a.buckets, b.buckets},
                              {"remainder bits", a.remainder_bits, b.remainder_bits},
                              {"seed", a.seed, b.seed}},
                             "blocks, slots, buckets, remainders and seed");
}

bool vector_quotient_params::possible() const noexcept {
  // Each bound is checked before the products that rely on it.
  return detail::is_capacity(capacity) && detail::in_range(fpr, 0, 1) && blocks != 0 &&
         blocks <= max_blocks && slots != 0 && slots <= detail::vq_max_slots && buckets != 0 &&
         slots + buckets >= detail::vq_min_ends && slots + buckets <= detail::vq_max_ends &&
         remainder_bits >= min_remainder && remainder_bits <= max_remainder &&
         slots * (remainder_bits + 1) + buckets <= detail::vq_block_bits &&
         blocks <= (std::uint64_t{1} << 63) / (std::uint64_t{buckets} << remainder_bits) &&
         (overflow_entries & (overflow_entries - 1)) == 0 &&
         overflow_entries <= max_overflow_entries;
}

std::uint64_t vector_quotient_params::table_bytes() const noexcept {
  return blocks * detail::vq_block_bytes + detail::vq_stash_bytes;
}

std::uint64_t vector_quotient_params::payload_bytes() const noexcept {
  return table_bytes() + overflow_entries * sizeof(detail::vq_entry);
}

double vector_quotient_params::load() const noexcept {
  return static_cast<double>(capacity) / (static_cast<double>(blocks) * slots);
}

std::vector<std::byte> vector_quotient_params::encode() const {
  return detail::encode_block(*this, fields);
}

result<vector_quotient_params> vector_quotient_params::decode(const filter_header& header,
                                                              std::span<const std::byte> block) {
  return detail::decode_block<vector_quotient_params>(
      header, block, "vector quotient filter", fields,
      std::mem_fn(&vector_quotient_params::possible));
}

}  // namespace bloomset
