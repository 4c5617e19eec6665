#include <array>
#include <bloomset/scalable_bloom.hpp>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

/// The cost of growth to exactly 1024 times the capacity. Empty if the filter is full earlier.
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
          {"bits_per_key_after_1024fold_growth", bits / enough}};
}

struct scalable_bloom_kind : one_type<scalable_bloom> {
  static constexpr std::string_view name = "scalable_bloom";
  static constexpr std::string_view summary =
      "a chain of Bloom filters that grows with the set; insert and query";
  static constexpr std::string_view strengths =
      "the number of keys need not be known and the rate holds at any size; growth "
      "costs memory and slower queries, and there is no deletion and no merge";
  static constexpr std::array options = {
      kind_option{"growth", "1 to 65536 (default 2)",
                  "the capacity of each filter of the chain, divided by that of the one before"},
      kind_option{"tightening", "0.01 to 0.99 (default 0.5)",
                  "the rate of each filter of the chain, divided by that of the one before"},
  };

  static result<void> set_options(const plan_request& request, scalable_bloom_spec& spec) {
    if (request.confidence != 0) {
      return fail(
          errc::invalid_argument,
          "a confidence cannot be planned for a filter of kind scalable_bloom, whose members "
          "are planned as it grows; leave it out");
    }
    if (auto ok = read_option(request, "growth", spec.growth); !ok) return ok;
    return read_option(request, "tightening", spec.tightening);
  }

  static constexpr auto plan = plan_scalable_bloom;
  static plan_report report(const scalable_bloom_params& params) {
    const bloom_params& first = params.members.front();
    plan_report made{.capacity = first.capacity,
                     .bits = first.bits,
                     .bytes = round_up(bytes_for_bits(first.bits), member_alignment),
                     .planned_fpr = params.fpr,
                     .lines_per_query = first.hashes,
                     .extras = {{"growth", params.growth},
                                {"tightening", params.tightening},
                                {"limit", scalable_bloom_limit(params)}}};
    for (property& cost : cost_of_growth(params)) made.extras.push_back(std::move(cost));
    return made;
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    const scalable_bloom_params& params = filter.params();
    info.plan.bits = 0;
    for (const bloom_params& member : params.members) info.plan.bits += member.bits;
    info.extras = {{"members", std::uint64_t{params.members.size()}},
                   {"growth", params.growth},
                   {"tightening", params.tightening},
                   {"initial_capacity", params.capacity},
                   {"limit", scalable_bloom_limit(params)}};
  }
};

}  // namespace

kind_info scalable_bloom_row() {
  return kind_row<scalable_bloom_kind>::info();
}

}  // namespace bloomset::detail
