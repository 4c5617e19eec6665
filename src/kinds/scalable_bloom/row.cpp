#include <fmt/format.h>

#include <array>
#include <bloomery/scalable_bloom.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "registry/any_model.hpp"
#include "registry/options.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "scalable_bloom";

constexpr std::array options = {
    kind_option{"growth", "1 to 65536 (default 2)", "how much larger each member is than the last"},
    kind_option{"tightening", "0.01 to 0.99 (default 0.5)",
                "how much lower each member's rate is than the last's"},
};

struct describe {
  template <class F>
  filter_info operator()(const F& filter) const {
    const scalable_bloom_params& params = filter.params();
    filter_info info;
    for (const bloom_params& member : params.members) info.plan.bits += member.bits;
    info.fill = filter.fill();
    info.extras = {{"members", std::uint64_t{params.members.size()}},
                   {"growth", params.growth},
                   {"tightening", params.tightening},
                   {"initial_capacity", params.capacity},
                   {"limit", scalable_bloom_limit(params)}};
    return info;
  }
};

result<scalable_bloom_spec> spec_of(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  if (request.hashes != 0) {
    return fail(
        errc::invalid_argument,
        fmt::format("a number of hash functions ({}) cannot be set for a filter of kind {}, "
                    "whose members differ in it; leave it out",
                    request.hashes, name));
  }
  if (request.confidence != 0) {
    return fail(errc::invalid_argument,
                fmt::format("a confidence cannot be planned for a filter of kind {}, whose members "
                            "are planned as it grows; leave it out",
                            name));
  }
  scalable_bloom_spec spec{
      .capacity = request.capacity, .fpr = request.fpr, .bits = request.bits, .seed = request.seed};
  const auto growth = option_real(request, "growth", spec.growth);
  if (!growth) return fail(growth.error());
  const auto tightening = option_real(request, "tightening", spec.tightening);
  if (!tightening) return fail(tightening.error());
  spec.growth = *growth;
  spec.tightening = *tightening;
  return spec;
}

/// The cost of growth by 1024 times. Empty if the filter is full before.
std::vector<property> cost_of_growth(scalable_bloom_params params) {
  const double enough = 1024 * static_cast<double>(params.capacity);
  auto keys = static_cast<double>(params.members.front().capacity);
  auto bits = static_cast<double>(params.members.front().bits);
  while (keys < enough) {
    const auto next = plan_next_member(params);
    if (!next) return {};
    keys += static_cast<double>(next->capacity);
    bits += static_cast<double>(next->bits);
    params.members.push_back(*next);
  }
  return {{"members_after_1024fold_growth", std::uint64_t{params.members.size()}},
          {"bits_per_key_after_1024fold_growth", bits / keys}};
}

result<plan_report> plan(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  const auto params = plan_scalable_bloom(*spec);
  if (!params) return fail(params.error());
  const bloom_params& first = params->members.front();
  plan_report report{.capacity = first.capacity,
                     .bits = first.bits,
                     .bytes = round_up(bytes_for_bits(first.bits), member_alignment),
                     .hashes = std::nullopt,  // the members differ in it
                     .planned_fpr = params->fpr,
                     .lines_per_query = first.hashes,
                     .extras = {{"growth", params->growth},
                                {"tightening", params->tightening},
                                {"limit", scalable_bloom_limit(*params)}}};
  for (property& cost : cost_of_growth(*params)) report.extras.push_back(std::move(cost));
  return report;
}

result<any_filter> create(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  return as_any<describe>(scalable_bloom::make(*spec), name);
}

result<any_filter> open(const stored_filter& stored, access how) {
  return open_typed<scalable_bloom, describe>(stored, how, name);
}

}  // namespace

kind_info scalable_bloom_row() {
  return {.kind = filter_kind::scalable_bloom,
          .name = name,
          .summary = "a chain of Bloom filters that grows with the set; insert and query",
          .strengths =
              "the number of keys need not be known and the rate holds at any size; growth "
              "costs memory and slower queries, and there is no deletion and no merge",
          .can = abilities_of<scalable_bloom>(),
          .takes_hashes = true,
          .options = options,
          .plan = plan,
          .create = create,
          .build = nullptr,
          .open = open};
}

}  // namespace bloomery::detail
