#include <bloomset/plan/fuse_plan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>

#include "core/format.hpp"
#include "plan/checks.hpp"
#include "plan/search.hpp"

namespace bloomset {
namespace {

namespace f = formulas;

// A query reads words of up to 8 bytes from the first byte of any fingerprint.
constexpr std::uint64_t slack_bytes = 7;
constexpr std::uint64_t max_slots = std::uint64_t{1} << 44;
constexpr unsigned max_segment_log2 = 18;
// A build takes the same time with 2^17 to 2^21 keys per shard, since its working set is a few
// segments. Larger shards need fewer slots, smaller ones less memory during the build.
constexpr std::uint64_t keys_per_shard = std::uint64_t{3} << 19;
// The figures of a plan, rounded for display, have to give the same plan again.
constexpr double rounding = 1 + 1e-6;

struct sizing {
  unsigned segment_log2;
  unsigned slots;  // for 10,000 keys
};

// For 2^i keys: the segment length that needs the fewest slots, and the slots with which four of
// five random sets succeed at the first try, bisected over 200 sets (20 from 2^18 keys on). The
// formulas of Graf and Lemire (section 4) need up to 1.5% more slots.
constexpr std::array<sizing, 22> three_wise = {{
    {2, 30000},  {2, 30000},  {2, 30000},  {2, 25000},  {3, 20000},  {4, 20000},
    {5, 15300},  {5, 15100},  {6, 15000},  {6, 13900},  {6, 13700},  {7, 13200},
    {7, 12850},  {8, 12500},  {8, 12210},  {9, 11910},  {10, 11730}, {11, 11590},
    {11, 11490}, {12, 11340}, {13, 11245}, {13, 11180},
}};
constexpr std::array<sizing, 22> four_wise = {
    {{2, 40000},  {2, 40000},  {2, 40000},  {2, 20000}, {2, 20000}, {3, 17600},
     {4, 15300},  {4, 15000},  {5, 15000},  {5, 13800}, {6, 13200}, {6, 12850},
     {7, 12500},  {8, 12050},  {8, 11740},  {9, 11420}, {9, 11260}, {10, 11030},
     {11, 10870}, {11, 10770}, {12, 10685}, {12, 10620}},
};

const std::array<sizing, 22>& sizes_of(unsigned arity) noexcept {
  return arity == 3 ? three_wise : four_wise;
}

unsigned log2_of(std::uint64_t n) noexcept {
  return std::min<unsigned>(static_cast<unsigned>(std::bit_width(n | 1) - 1),
                            three_wise.size() - 1);
}

/// The fewest bits w with 2^-w <= eps.
unsigned bits_for(double eps) noexcept {
  unsigned w = 1;
  while (w < max_fingerprint_bits && std::ldexp(1.0, -static_cast<int>(w)) > eps * rounding) ++w;
  return w;
}

fuse_params shape_of(std::uint64_t n, unsigned arity, unsigned w, const hash_seed& seed) noexcept {
  fuse_params params{.arity = arity, .fingerprint_bits = w, .seed = seed};
  params.shards = detail::fuse_shards_for(n);
  if (params.shards == 0) return params;
  const std::uint64_t each = n / params.shards;
  params.segment_log2 = detail::fuse_segment_log2(each, arity);
  params.segments =
      params.shards * (detail::fuse_segments_for(each, arity, params.segment_log2) + arity - 1);
  return params;
}

std::uint64_t bits_of(const fuse_params& params) noexcept {
  return params.payload_bytes() * 8;
}

/// Of the rate, which is not worth a bit.
constexpr double negligible_share = 1e-3;

/// The rate that equal hashes leave to the fingerprints.
double rate_of_fingerprints(const fuse_spec& spec) noexcept {
  const double collisions = f::hash_collision_fpr(static_cast<double>(spec.capacity));
  return collisions < spec.fpr * negligible_share ? spec.fpr : spec.fpr - collisions;
}

result<void> check_ranges(const fuse_spec& spec) {
  if (auto ok = detail::check_common(spec, max_fuse_keys); !ok) return ok;
  if (spec.fpr != 0 && rate_of_fingerprints(spec) * rounding < std::ldexp(1.0, -32)) {
    return detail::refuse(
        "a rate of {:.3g} is below what 32 fingerprint bits give ({:.3g}); give a higher one",
        spec.fpr, fuse_fpr(static_cast<double>(spec.capacity), 32));
  }
  if (spec.arity != 0 && spec.arity != 3 && spec.arity != 4) {
    return detail::refuse("a fuse filter has arity 3 or 4, not {}", spec.arity);
  }
  if (spec.fingerprint_bits > max_fingerprint_bits) {
    return detail::refuse("fingerprints of {} bits are too long; give at most 32",
                          spec.fingerprint_bits);
  }
  if (spec.fpr != 0 && spec.fingerprint_bits != 0 && bits_for(spec.fpr) > spec.fingerprint_bits) {
    return detail::refuse(
        "fingerprints of {} bits have a rate of {}, not {}; give only one of the two",
        spec.fingerprint_bits,
        format_rate(std::ldexp(1.0, -static_cast<int>(spec.fingerprint_bits))),
        format_rate(spec.fpr));
  }
  return {};
}

/// The longest fingerprints with which n keys fit, or 0 if there are none.
unsigned bits_that_fit(std::uint64_t n, unsigned arity, std::uint64_t bits) noexcept {
  unsigned w = max_fingerprint_bits;
  while (w != 0 && bits_of(shape_of(n, arity, w, 0)) > bits) --w;
  return w;
}

/// The most keys that fit. Where the segment length changes, sizes fall a little, so the result may
/// be less than the largest number that fits.
std::uint64_t keys_that_fit(unsigned arity, unsigned w, std::uint64_t bits) noexcept {
  return detail::first_good(
             0, max_fuse_keys + 1,
             [&](std::uint64_t n) { return bits_of(shape_of(n, arity, w, 0)) > bits; }) -
         1;
}

unsigned fingerprint_bits_of(const fuse_spec& spec) noexcept {
  if (spec.fingerprint_bits != 0) return spec.fingerprint_bits;
  return spec.fpr != 0 ? bits_for(rate_of_fingerprints(spec)) : 0;
}

constexpr auto fields = [](auto& block, auto& params) {
  block.u16(params.arity, params.fingerprint_bits);
  block.u32(params.segment_log2, params.shards).zeros(4).values(params.segments);
};

}  // namespace

std::uint64_t fuse_params::payload_bytes() const noexcept {
  if (shards == 0) return 0;
  const std::uint64_t bytes = detail::bytes_for_bits(slots() * fingerprint_bits);
  return directory_bytes() + detail::round_up(bytes + slack_bytes, detail::block_bytes);
}

double fuse_fpr(double n, unsigned fingerprint_bits) noexcept {
  return std::min(1.0,
                  std::ldexp(1.0, -static_cast<int>(fingerprint_bits)) + f::hash_collision_fpr(n));
}

result<fuse_params> detail::fuse_shape_for(const fuse_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  if (const unsigned w = fingerprint_bits_of(spec); w != 0) {
    return shape_of(0, spec.arity != 0 ? spec.arity : 3, w, spec.seed);
  }
  const auto plan = plan_fuse(spec);
  if (!plan) return fail(plan.error());
  return shape_of(0, plan->params.arity, plan->params.fingerprint_bits, spec.seed);
}

result<fuse_plan> plan_fuse(const fuse_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  const unsigned given = fingerprint_bits_of(spec);
  if ((spec.capacity != 0) + (given != 0) + (spec.bits != 0) < 2) {
    return detail::size_is_open("a fuse filter");
  }
  fuse_plan plan;
  plan.capacity = spec.capacity;
  unsigned arity = spec.arity != 0 ? spec.arity : 3;
  unsigned w = given;
  const auto too_little = [&](std::uint64_t keys) {
    return detail::too_few_bits(
        spec.bits, keys, "fuse filter",
        given != 0 ? detail::format_text(" of {} fingerprint bits", given) : "");
  };
  if (plan.capacity == 0) {
    plan.capacity = keys_that_fit(arity, w, spec.bits);
    if (const auto more = keys_that_fit(4, w, spec.bits); spec.arity == 0 && more > plan.capacity) {
      arity = 4;
      plan.capacity = more;
    }
    if (plan.capacity == 0) return too_little(1);
  } else if (w == 0) {
    w = bits_that_fit(spec.capacity, arity, spec.bits);
    if (const auto more = bits_that_fit(spec.capacity, 4, spec.bits); spec.arity == 0 && more > w) {
      arity = 4;
      w = more;
    }
    if (w == 0) return too_little(spec.capacity);
  }
  plan.params = shape_of(plan.capacity, arity, w, spec.seed);
  // With all three given, the rate is a promise to check. Four places may keep it where three do
  // not.
  if (spec.bits != 0 && spec.arity == 0 && bits_of(plan.params) > spec.bits) {
    plan.params = shape_of(plan.capacity, 4, w, spec.seed);
  }
  if (spec.bits != 0 && bits_of(plan.params) > spec.bits) return too_little(spec.capacity);
  plan.fpr = fuse_fpr(static_cast<double>(plan.capacity), w);
  if (spec.fpr != 0 && plan.fpr > spec.fpr * (1 + negligible_share)) {
    return detail::refuse(
        "a rate of {:.3g} with {} is below what 64-bit hashes can promise with fingerprints of {} "
        "bits; give a higher rate",
        spec.fpr, format_count(plan.capacity, "key"), w);
  }
  return plan;
}

std::uint32_t detail::fuse_shards_for(std::uint64_t n) noexcept {
  if (n == 0) return 0;
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, (n + keys_per_shard / 2) / keys_per_shard));
}

unsigned detail::fuse_segment_log2(std::uint64_t n, unsigned arity) noexcept {
  // The nearer power of two: from 4/3 of a power on, the next one.
  return sizes_of(arity)[log2_of(n + n / 2)].segment_log2;
}

std::uint64_t detail::fuse_segments_for(std::uint64_t n, unsigned arity,
                                        unsigned segment_log2) noexcept {
  const auto& sizes = sizes_of(arity);
  const unsigned i = log2_of(n);
  const std::uint64_t from = sizes[i].slots;
  const std::uint64_t to = sizes[std::min<std::size_t>(i + 1, sizes.size() - 1)].slots;
  const std::uint64_t base = std::uint64_t{1} << i;
  // Linear between powers of two; constant beyond the table. n < 2^43 and slots < 2^16: no
  // overflow.
  const std::uint64_t beyond = std::min(n, 2 * base) - std::min(n, base);
  const std::uint64_t slots_for_10000 = from - (from - to) * beyond / base;
  const std::uint64_t slots = n * slots_for_10000 / 10000 + 1;
  const std::uint64_t segments = (slots + (std::uint64_t{1} << segment_log2) - 1) >> segment_log2;
  return std::max<std::uint64_t>(segments, arity) - (arity - 1);
}

std::vector<std::byte> fuse_params::encode() const {
  return detail::encode_block(*this, fields);
}

bool fuse_params::possible(std::uint64_t count) const noexcept {
  if (arity < 3 || arity > 4 || fingerprint_bits == 0 || fingerprint_bits > max_fingerprint_bits ||
      segment_log2 < 2 || segment_log2 > max_segment_log2) {
    return false;
  }
  if (count == 0) return shards == 0 && segments == 0;
  return shards != 0 && segments / arity >= shards && segments <= max_slots >> segment_log2;
}

result<fuse_params> fuse_params::decode(const filter_header& header,
                                        std::span<const std::byte> block) {
  return detail::decode_block<fuse_params>(
      header, block, "fuse filter", fields,
      [&](const fuse_params& params) { return params.possible(header.count); });
}

}  // namespace bloomset
