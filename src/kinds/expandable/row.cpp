#include <array>
#include <bloomset/expandable.hpp>
#include <cmath>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

std::vector<property> layout_properties(const expandable_params& params) {
  return {{"segments", params.segments()},
          {"cells", params.cells()},
          {"remainder_bits", std::uint64_t{params.slot_bits - 1}}};
}

struct expandable_kind : one_type<expandable> {
  static constexpr std::string_view name = "expandable";
  static constexpr std::string_view summary =
      "a quotient filter that grows with the set; insert, erase, count and query";
  static constexpr std::string_view strengths =
      "the number of keys need not be known: bits per key, rate and speed are the same for any "
      "number; it deletes and counts; half as much memory again as a Bloom filter of known size";
  static constexpr std::array options = {
      kind_option{"growth", "1 to 2^50 (default: unknown)",
                  "the final number of keys, divided by the capacity"},
  };

  static result<void> set_options(const plan_request& request, expandable_spec& spec) {
    if (auto ok = read_option(request, "growth", spec.growth); !ok) return ok;
    if (spec.growth == 0 && !option_text(request, "growth", "").empty()) {
      return fail(errc::invalid_argument,
                  "a growth of 0 is not possible; leave it out if it is unknown");
    }
    return {};
  }

  static constexpr auto plan = plan_expandable;
  static plan_report report(const expandable_params& params) {
    plan_report made{.capacity = params.room(),
                     .bits = 8 * planned_bytes(params),
                     .bytes = planned_bytes(params),
                     .planned_fpr = params.fpr,
                     .lines_per_query = 2,
                     .extras = layout_properties(params)};
    for (const unsigned doublings : {10U, 20U}) {
      const auto keys =
          std::ldexp(static_cast<double>(params.capacity), static_cast<int>(doublings));
      if (keys > 0x1p57) break;
      const auto later = grown_to(params, static_cast<std::uint64_t>(keys));
      if (!later) break;
      made.extras.push_back({doublings == 10 ? "bits_per_key_after_1024fold_growth"
                                             : "bits_per_key_after_millionfold_growth",
                             expandable_bits(*later, later->entries) / keys});
    }
    return made;
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    info.extras = layout_properties(filter.params());
    info.extras.push_back({"entries", filter.params().entries});
    info.extras.push_back({"initial_capacity", filter.params().capacity});
    if (filter.params().growth != 0) {
      info.extras.push_back({"expected_growth", filter.params().growth});
    }
  }
};

}  // namespace

kind_info expandable_row() {
  return kind_row<expandable_kind>::info();
}

}  // namespace bloomset::detail
