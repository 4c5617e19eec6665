#include <bloomset/plan/cuckoo_plan.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <bloomset/detail/cuckoo/layout.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>

#include "core/format.hpp"
#include "plan/checks.hpp"
#include "plan/search.hpp"

namespace bloomset {
namespace {

namespace f = formulas;
using detail::first_good;

constexpr unsigned default_slots = 4;
constexpr unsigned min_fingerprint = 4;
constexpr unsigned max_fingerprint = 32;
constexpr std::uint64_t min_payload_bits = 64 + 8 * detail::stash_bytes;

// Tables with fewer slots have lower planned loads. docs/maintain/decisions/kinds/cuckoo-load.md
// has the loads that tables reach.
constexpr std::uint64_t small_table = 1000;
constexpr double max_collision_chance = 1e-4;

bool known_slots(unsigned slots) {
  return slots == 2 || slots == 4 || slots == 8;
}

double highest_load(std::uint64_t all_slots, unsigned slots) {
  const bool small = all_slots < small_table;
  if (slots == 2) return small ? 0.75 : 0.84;
  if (slots == 4) return small ? 0.90 : 0.95;
  return small ? 0.96 : 0.98;
}

std::uint64_t max_keys_in(std::uint64_t buckets, unsigned slots) {
  if (buckets == 1) return slots;
  const std::uint64_t all = buckets * slots;
  return static_cast<std::uint64_t>(static_cast<double>(all) * highest_load(all, slots));
}

// C(n, t) p^t: the expected number of subsets of t keys, of n, in one class of probability p.
double expected_subsets(double n, unsigned t, double p) {
  if (n < t) return 0;
  double product = 1;
  for (unsigned i = 0; i < t; ++i) product *= (n - i) / (i + 1) * p;
  return product;
}

struct table {
  std::uint64_t buckets;
  unsigned slots;
  unsigned fingerprint_bits;

  double values() const { return std::ldexp(1.0, static_cast<int>(fingerprint_bits)) - 1; }
  double fpr(double n) const {
    return std::min(1.0,
                    f::cuckoo_fpr_exact(n, buckets, fingerprint_bits) + f::hash_collision_fpr(n));
  }
  // An upper bound of the chance that more of n distinct keys have equal buckets and fingerprint
  // than their buckets have slots: 2b, or b for the one key in `buckets` whose buckets are the
  // same.
  double collision_chance(double n) const {
    const auto all = static_cast<double>(buckets);
    const double pair_classes = (all - 1) * values() / 2;
    return pair_classes * expected_subsets(n, 2 * slots + 1, 2 / (all * values())) +
           values() * expected_subsets(n, slots + 1, 1 / (all * values()));
  }
  bool has_room_for(std::uint64_t n) const {
    return n <= max_keys_in(buckets, slots) &&
           collision_chance(static_cast<double>(n)) <= max_collision_chance;
  }
  bool serves(std::uint64_t n, double eps) const {
    return has_room_for(n) && (eps == 0 || fpr(static_cast<double>(n)) <= eps);
  }
};

// The fewest buckets for n keys at the rate eps, or at any rate if eps is 0. A low rate may leave
// slots free, at most every second one: beyond that a longer fingerprint needs less memory.
std::optional<table> fewest_buckets(std::uint64_t n, double eps, unsigned slots,
                                    unsigned fingerprint_bits) {
  const auto table_of = [&](std::uint64_t buckets) {
    return table{buckets, slots, fingerprint_bits};
  };
  const std::uint64_t enough = 2 * (n / slots + 1);  // the lowest planned load is above one half
  const std::uint64_t fewest = first_good(
      0, enough, [&](std::uint64_t buckets) { return n <= max_keys_in(buckets, slots); });
  if (fewest > max_bits / (std::uint64_t{2} * slots * fingerprint_bits)) return std::nullopt;
  if (table_of(fewest).serves(n, eps)) return table_of(fewest);
  if (!table_of(2 * fewest).serves(n, eps)) return std::nullopt;
  return table_of(first_good(
      fewest, 2 * fewest, [&](std::uint64_t buckets) { return table_of(buckets).serves(n, eps); }));
}

// The table with as many buckets as fit into `bits` (at least min_payload_bits), if there is one.
std::optional<table> fill_bits(std::uint64_t bits, unsigned slots, unsigned fingerprint_bits) {
  const std::uint64_t table_bits = (bits - 8 * detail::stash_bytes) / 64 * 64;
  const table filled{table_bits / (std::uint64_t{slots} * fingerprint_bits), slots,
                     fingerprint_bits};
  if (filled.buckets == 0) return std::nullopt;
  return filled;
}

std::uint64_t max_served(const table& in, double eps) {
  const std::uint64_t all = std::min(max_keys_in(in.buckets, in.slots), max_keys);
  if (in.serves(all, eps)) return all;
  const std::uint64_t over =
      first_good(0, all, [&](std::uint64_t n) { return !in.serves(n, eps); });
  return 2 * (over - 1) >= all ? over - 1 : 0;
}

result<void> check_ranges(const cuckoo_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (spec.slots != 0 && !known_slots(spec.slots)) {
    return detail::refuse("a bucket of {} slots is not possible; give 2, 4 or 8", spec.slots);
  }
  if (spec.fingerprint_bits != 0 &&
      (spec.fingerprint_bits < min_fingerprint || spec.fingerprint_bits > max_fingerprint)) {
    return detail::refuse("fingerprints of {} bits are not possible; give 4 to 32",
                          spec.fingerprint_bits);
  }
  if (spec.bits != 0 && spec.bits < min_payload_bits) {
    return detail::refuse("{} bits are too few for a cuckoo filter; give at least {}", spec.bits,
                          min_payload_bits);
  }
  return {};
}

std::optional<cuckoo_params> plan_with(const cuckoo_spec& spec, unsigned slots,
                                       unsigned fingerprint_bits) {
  const auto shape = spec.bits != 0
                         ? fill_bits(spec.bits, slots, fingerprint_bits)
                         : fewest_buckets(spec.capacity, spec.fpr, slots, fingerprint_bits);
  if (!shape) return std::nullopt;
  const std::uint64_t n = spec.capacity != 0 ? spec.capacity : max_served(*shape, spec.fpr);
  if (n == 0 || !shape->has_room_for(n)) return std::nullopt;
  return cuckoo_params{.capacity = n,
                       .fpr = shape->fpr(static_cast<double>(n)),
                       .buckets = shape->buckets,
                       .slots = slots,
                       .fingerprint_bits = fingerprint_bits,
                       .seed = spec.seed};
}

/// By the value that the spec leaves open.
bool is_better(const cuckoo_params& a, const cuckoo_params& b, const cuckoo_spec& spec) {
  if (spec.bits == 0) return a.payload_bytes() < b.payload_bytes();
  if (spec.capacity == 0) return a.capacity > b.capacity;
  return a.fpr < b.fpr;
}

std::optional<cuckoo_params> best_plan(const cuckoo_spec& spec, unsigned slots) {
  const unsigned given = spec.fingerprint_bits;
  const unsigned last = given != 0 ? given : max_fingerprint;
  std::optional<cuckoo_params> best;
  for (unsigned bits = given != 0 ? given : min_fingerprint; bits <= last; ++bits) {
    const auto found = plan_with(spec, slots, bits);
    if (found && (!best || is_better(*found, *best, spec))) best = found;
  }
  return best;
}

failure no_plan(const cuckoo_spec& spec) {
  if (spec.bits != 0 && spec.capacity != 0) {
    return detail::refuse(
        "a cuckoo filter of {} bits has no room for {}; give more memory, fewer keys or other "
        "fingerprints",
        format_count(spec.bits), format_count(spec.capacity, "key"));
  }
  if (spec.bits != 0) {
    return detail::refuse(
        "{} bits hold no key{}{}; give more memory{}", format_count(spec.bits),
        detail::at_rate(spec.fpr),
        spec.fingerprint_bits == 0
            ? ""
            : detail::format_text(" with fingerprints of {} bits", spec.fingerprint_bits),
        spec.fpr == 0 ? "" : " or a higher rate");
  }
  if (spec.fingerprint_bits == 0) {
    return detail::refuse(
        "{} at a rate of {} would need fingerprints of more than {} bits or a table of more than "
        "2^62; give a higher rate or fewer keys, or use a kind with 128-bit hashes",
        format_count(spec.capacity, "key"), format_rate(spec.fpr), max_fingerprint);
  }
  return detail::refuse(
      "fingerprints of {} bits are too short for {}{}; give longer ones, or leave their length out",
      spec.fingerprint_bits, format_count(spec.capacity, "key"), detail::at_rate(spec.fpr));
}

constexpr auto fields = [](auto& block, auto& params) {
  block.values(params.capacity, params.fpr, params.buckets);
  block.u16(params.slots, params.fingerprint_bits);
};

}  // namespace

result<cuckoo_params> plan_cuckoo(const cuckoo_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  const unsigned slots = spec.slots != 0 ? spec.slots : default_slots;
  const bool rate_is_known = spec.fpr != 0 || spec.fingerprint_bits != 0;
  if ((spec.capacity != 0) + (spec.bits != 0) + rate_is_known < 2) {
    return detail::size_is_open("a cuckoo filter");
  }
  const auto plan = best_plan(spec, slots);
  if (!plan) return no_plan(spec);
  if (auto ok = detail::check_promise(spec.fpr, plan->fpr, plan->capacity, spec.bits); !ok) {
    return fail(std::move(ok.error()));
  }
  return *plan;
}

result<void> same_shape(const cuckoo_params& a, const cuckoo_params& b) {
  return detail::check_equal({{"buckets", a.buckets, b.buckets},
                              {"slots", a.slots, b.slots},
                              {"fingerprint bits", a.fingerprint_bits, b.fingerprint_bits},
                              {"seed", a.seed, b.seed}},
                             "buckets, slots, fingerprints and seed");
}

bool cuckoo_params::possible() const noexcept {
  // By a division, since the product of values from outside may overflow.
  return detail::is_capacity(capacity) && detail::in_range(fpr, 0, 1) && known_slots(slots) &&
         fingerprint_bits >= min_fingerprint && fingerprint_bits <= max_fingerprint &&
         buckets != 0 && buckets <= max_bits / (std::uint64_t{slots} * fingerprint_bits);
}

std::uint64_t cuckoo_params::payload_bytes() const noexcept {
  return detail::cuckoo_layout(buckets, slots, fingerprint_bits).payload_bytes();
}

double cuckoo_params::load() const noexcept {
  return static_cast<double>(capacity) / (static_cast<double>(buckets) * slots);
}

std::vector<std::byte> cuckoo_params::encode() const {
  return detail::encode_block(*this, fields);
}

result<cuckoo_params> cuckoo_params::decode(const filter_header& header,
                                            std::span<const std::byte> block) {
  return detail::decode_block<cuckoo_params>(header, block, "cuckoo filter", fields,
                                             std::mem_fn(&cuckoo_params::possible), kind_version);
}

}  // namespace bloomset
