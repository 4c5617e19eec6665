#include <bloomset/plan/scalable_bloom_plan.hpp>

#include <cmath>
#include <utility>

#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/plan/units.hpp>

#include "core/format.hpp"
#include "plan/checks.hpp"

namespace bloomset {
namespace {

using detail::in_range;

// The share of the rate that the series of the members' rates adds up to. The remainder is for
// equal 64-bit hashes. plan_bloom requires that a member is planned with twice the rate that equal
// hashes add. N keys in all then use 2N / 2^64, which is eps / 64 at N = eps * 2^57.
constexpr double series_share = 63.0 / 64;
constexpr double keys_for_rate_one = 0x1p57;

// A member occupies whole cache lines in any case (member_alignment), so it has at least the bits
// of one. With fewer bits the rate of one filter is far from the mean of all: three keys may set
// 60% of the bits or 90%. The first members have most of the compound rate and keep it as long as
// the filter lives.
constexpr std::uint64_t min_member_bits = 8 * member_alignment;

bool is_growth(double s) {
  return in_range(s, 1, 65536);
}
bool is_tightening(double r) {
  return in_range(r, 0.01, 0.99);
}

double series(double fpr, double tightening, std::size_t i) {
  return series_share * fpr * (1 - tightening) *
         numeric::power(tightening, static_cast<unsigned>(i));
}

// ceil(n0 * s^i), as a real number. A product such as 10 * 1.1 is computed slightly above its whole
// number, which must not add a key.
double capacity_of(const scalable_bloom_params& params, std::size_t i) {
  if (i == 0) return static_cast<double>(params.capacity);
  const double exact = static_cast<double>(params.capacity) *
                       numeric::power(params.growth, static_cast<unsigned>(i));
  return std::ceil(exact * (1 - 1e-12));
}

bool within_limit(double fpr, double keys) {
  return keys <= fpr * keys_for_rate_one;
}

std::uint64_t planned_keys(const scalable_bloom_params& params) {
  std::uint64_t keys = 0;  // at most 2^57, for every plan and every block that decode() accepts
  for (const bloom_params& member : params.members) keys += member.capacity;
  return keys;
}

bool has_room_for(const scalable_bloom_params& params, std::size_t members, std::uint64_t keys,
                  double more) {
  return members < max_members && within_limit(params.fpr, static_cast<double>(keys) + more);
}

result<void> check_ranges(const scalable_bloom_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (!is_growth(spec.growth)) {
    return detail::refuse("a growth of {} is out of range; give 1 to 65536, such as 2",
                          spec.growth);
  }
  if (!is_tightening(spec.tightening)) {
    return detail::refuse("a tightening of {} is out of range; give 0.01 to 0.99, such as 0.5",
                          spec.tightening);
  }
  if (spec.fpr == 0 && (spec.capacity == 0 || spec.bits == 0)) {
    return detail::refuse(
        "a scalable Bloom filter's rate is missing; give it, or both the capacity and the memory "
        "of the first member");
  }
  return {};
}

constexpr auto first_fields = [](auto& block, auto& params) {
  block.values(params.capacity, params.fpr, params.growth, params.tightening);
};
constexpr auto member_fields = [](auto& block, auto& member) {
  block.values(member.capacity, member.fpr, member.bits).u32(member.hashes).zeros(4);
};

}  // namespace

result<scalable_bloom_params> plan_scalable_bloom(const scalable_bloom_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  scalable_bloom_params plan{.capacity = spec.capacity,
                             .fpr = spec.fpr,
                             .growth = spec.growth,
                             .tightening = spec.tightening,
                             .seed = spec.seed,
                             .members = {}};
  if (spec.bits != 0) {
    const auto first = plan_bloom({.capacity = spec.capacity,
                                   .fpr = series(spec.fpr, spec.tightening, 0),
                                   .bits = spec.bits,
                                   .seed = spec.seed});
    if (!first) return fail(first.error().code, "in the first member, " + first.error().message);
    plan.capacity = first->capacity;
    if (plan.fpr == 0) plan.fpr = first->fpr / series(1, spec.tightening, 0);
    if (plan.fpr >= 1) {
      return detail::refuse(
          "{} in {} bits would give a rate of {}, which is more than the first member's share of "
          "any rate below 100%; give more memory",
          format_count(first->capacity, "key"), format_count(first->bits), format_rate(first->fpr));
    }
    plan.members.push_back(*first);
  } else if (plan.capacity == 0) {
    plan.capacity = default_initial_capacity;
  }
  if (!within_limit(plan.fpr, static_cast<double>(plan.capacity))) {
    const auto possible = static_cast<std::uint64_t>(plan.fpr * keys_for_rate_one);
    return detail::refuse(
        "{} at a rate of {:.3g} {} beyond what 64-bit hashes can promise; give {}, or use a kind "
        "with 128-bit hashes",
        format_count(plan.capacity, "key"), plan.fpr, plan.capacity == 1 ? "is" : "are",
        possible == 0 ? "a higher rate" : "at most " + format_count(possible, "key"));
  }
  if (plan.members.empty()) {
    const auto first = plan_next_member(plan);
    if (!first) return fail(first.error());
    plan.members.push_back(*first);
  }
  return plan;
}

result<bloom_params> plan_next_member(const scalable_bloom_params& params) {
  const std::size_t i = params.members.size();
  const double keys = capacity_of(params, i);
  if (!has_room_for(params, i, planned_keys(params), keys)) {
    return detail::format_failure(errc::full,
                                  "the filter has {} members for {} keys, and its rate allows no "
                                  "further one; start with a larger capacity or a higher rate",
                                  i, format_count(planned_keys(params)));
  }
  auto planned = plan_bloom(
      {.capacity = static_cast<std::uint64_t>(keys),
       .fpr = series(params.fpr, params.tightening, i) + 2 * formulas::hash_collision_fpr(keys),
       .seed = params.seed});
  if (planned && planned->bits < min_member_bits) {
    planned = plan_bloom({.capacity = planned->capacity,
                          .bits = min_member_bits,
                          .hashes = planned->hashes,
                          .seed = params.seed});
  }
  if (!planned && i > 0) planned.error().code = errc::full;
  return planned;
}

bool has_planned_members(const scalable_bloom_params& params) noexcept {
  for (std::size_t i = 0; i < params.members.size(); ++i) {
    const bloom_params& member = params.members[i];
    const double keys = capacity_of(params, i);
    const double rate =
        formulas::bloom_fpr_classic(keys, static_cast<double>(member.bits), member.hashes);
    if (static_cast<double>(member.capacity) != keys || rate > params.fpr) return false;
  }
  return true;
}

std::uint64_t scalable_bloom_limit(const scalable_bloom_params& params) {
  std::uint64_t keys = planned_keys(params);
  for (std::size_t i = params.members.size();; ++i) {
    const double next = capacity_of(params, i);
    if (!has_room_for(params, i, keys, next)) return keys;
    keys += static_cast<std::uint64_t>(next);
  }
}

std::vector<std::byte> scalable_bloom_params::encode() const {
  detail::record_writer writer;
  first_fields(writer, *this);
  writer.u32(members.size()).u16(probe_id::double_hashing).zeros(2);
  for (const bloom_params& member : members) member_fields(writer, member);
  return writer.finish();
}

result<scalable_bloom_params> scalable_bloom_params::decode(const filter_header& header,
                                                            std::span<const std::byte> block) {
  constexpr std::string_view filter = "scalable Bloom filter";
  if (auto ok = detail::check_version(header, filter); !ok) return fail(std::move(ok.error()));
  detail::record_reader reader(block);
  scalable_bloom_params params{.seed = header.seed, .members = {}};
  first_fields(reader, params);
  const auto count = reader.get<std::uint32_t>();
  const auto probe = reader.get<std::uint16_t>();
  const auto reserved = reader.get<std::uint16_t>();
  if (!detail::is_capacity(params.capacity) || params.fpr == 0 || params.fpr == 1 ||
      !in_range(params.fpr, 0, 1) || !is_growth(params.growth) ||
      !is_tightening(params.tightening) || count == 0 || count > max_members || reserved != 0) {
    return detail::out_of_range(filter);
  }
  if (probe != static_cast<std::uint16_t>(probe_id::double_hashing)) {
    return detail::format_failure(errc::unsupported,
                                  "the {}'s probe rule {} is not known here; use a newer bloomset",
                                  filter, probe);
  }
  std::uint64_t keys = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    bloom_params member{.seed = header.seed};
    member_fields(reader, member);
    // `keys` stays below 2^57, so neither sum nor difference can wrap.
    if (member.capacity == 0 || member.capacity > max_keys - keys || !in_range(member.fpr, 0, 1) ||
        member.bits == 0 || member.bits > max_bits || member.hashes == 0 ||
        member.hashes > max_hash_functions) {
      return detail::out_of_range(filter);
    }
    keys += member.capacity;
    params.members.push_back(member);
  }
  if (!reader.complete()) return detail::out_of_range(filter);
  return params;
}

}  // namespace bloomset
