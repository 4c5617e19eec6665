#include <fmt/format.h>

#include <array>
#include <bloomery/expandable.hpp>
#include <cmath>

#include "registry/any_model.hpp"
#include "registry/options.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "expandable";

constexpr std::array options = {
    kind_option{"growth", "1 to 2^50 (default: unknown)",
                "how many times its capacity the filter will become"},
};

std::vector<property> shape_of(const expandable_params& params) {
  return {{"segments", params.segments()},
          {"cells", params.cells()},
          {"remainder_bits", std::uint64_t{params.slot_bits - 1}}};
}

struct describe {
  template <class F>
  filter_info operator()(const F& filter) const {
    filter_info info;
    info.plan.bits = 8 * filter.size_in_bytes();
    info.fill = filter.fill();
    info.extras = shape_of(filter.params());
    info.extras.push_back({"entries", filter.params().entries});
    info.extras.push_back({"initial_capacity", filter.params().capacity});
    if (filter.params().growth != 0) {
      info.extras.push_back({"expected_growth", filter.params().growth});
    }
    return info;
  }
};

result<expandable_spec> spec_of(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  if (request.hashes != 0) {
    return fail(errc::invalid_argument,
                "an expandable filter has no number of hash functions; leave it out");
  }
  const auto growth = option_real(request, "growth", 0);
  if (!growth) return fail(growth.error());
  if (*growth == 0 && !option_text(request, "growth", "").empty()) {
    return fail(errc::invalid_argument,
                "a growth of 0 is not possible; leave it out if it is unknown");
  }
  return expandable_spec{.capacity = request.capacity,
                         .fpr = request.fpr,
                         .bits = request.bits,
                         .growth = *growth,
                         .seed = request.seed};
}

result<plan_report> plan(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  const auto params = plan_expandable(*spec);
  if (!params) return fail(params.error());
  plan_report report{.capacity = params->room(),
                     .bits = 8 * planned_bytes(*params),
                     .bytes = planned_bytes(*params),
                     .hashes = std::nullopt,
                     .planned_fpr = params->fpr,
                     .lines_per_query = 2,
                     .extras = shape_of(*params)};
  for (const unsigned doublings : {10U, 20U}) {
    const auto keys =
        std::ldexp(static_cast<double>(params->capacity), static_cast<int>(doublings));
    if (keys > 0x1p57) break;
    const auto later = grown_to(*params, static_cast<std::uint64_t>(keys));
    if (!later) break;
    report.extras.push_back({doublings == 10 ? "bits_per_key_after_1024fold_growth"
                                             : "bits_per_key_after_millionfold_growth",
                             expandable_bits(*later, later->entries) / keys});
  }
  return report;
}

result<any_filter> create(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  return as_any<describe>(expandable::make(*spec), name);
}

result<any_filter> open(const stored_filter& stored, access how) {
  return open_typed<expandable, describe>(stored, how, name);
}

}  // namespace

kind_info expandable_row() {
  return {.kind = filter_kind::expandable,
          .name = name,
          .summary = "a quotient filter that grows with the set; insert, erase, count and query",
          .strengths =
              "the number of keys need not be known, and size, rate and speed hold at any; "
              "deletes and counts; half as much again as a Bloom filter of known size",
          .can = abilities_of<expandable>(),
          .takes_hashes = true,
          .options = options,
          .plan = plan,
          .create = create,
          .build = nullptr,
          .open = open};
}

}  // namespace bloomery::detail
