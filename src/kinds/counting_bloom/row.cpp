#include <array>
#include <bloomset/counting_bloom.hpp>
#include <bloomset/plan/formulas.hpp>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

std::vector<property> layout_of(const counting_bloom_params& params) {
  return {{"counters", params.counters()}, {"counter_bits", std::uint64_t{params.counter_bits}}};
}

struct counting_bloom_kind : one_type<counting_bloom> {
  static constexpr std::string_view name = "counting_bloom";
  static constexpr std::string_view summary = "a Bloom filter of counters: insert, erase and count";
  static constexpr std::string_view strengths =
      "erases and counts keys, and no insert can fail; four times a Bloom filter's memory with "
      "counters of 4 bits, which stick at 15";
  static constexpr bool any_order = true;
  static constexpr bool copies_take_room = false;
  static constexpr std::array options = {
      kind_option{"counter_bits", "4, 8 or 16 (default 4)",
                  "the width of a counter, which sticks at 15, 255 or 65535"},
  };

  static result<void> set_options(const plan_request& request, counting_bloom_spec& spec) {
    return read_option(request, "counter_bits", spec.counter_bits);
  }

  static constexpr auto plan = plan_counting_bloom;
  static plan_report report(const counting_bloom_params& params) {
    const auto n = static_cast<double>(params.array.capacity);
    const auto m = static_cast<double>(params.counters());
    const unsigned k = params.array.hashes;
    plan_report made{.capacity = params.array.capacity,
                     .bits = params.bits(),
                     .bytes = bytes_for_bits(params.bits()),
                     .hashes = k,
                     .planned_fpr = params.array.fpr,
                     .lines_per_query = k,
                     .scatter = params.array.scatter(),
                     .extras = layout_of(params)};
    const auto add = [&](std::string_view figure, double value) {
      made.extras.push_back({std::string(figure), value});
    };
    add("times_bloom", static_cast<double>(params.bits()) / static_cast<double>(params.array.bits));
    add("optimal_hashes", formulas::optimal_hashes(n, m));
    // Chances that any counter does so, with that many distinct keys.
    add("stuck_bound", formulas::counter_reaches(n, m, k, params.maximum()));
    add("overflow_bound", formulas::counter_reaches(n, m, k, params.maximum() + 1));
    return made;
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    const auto& params = filter.params();
    info.plan.scatter = params.array.scatter();
    info.plan.bits = params.bits();
    info.plan.hashes = params.array.hashes;
    info.extras = layout_of(params);
    info.extras.push_back({"stuck_counters", filter.stuck_counters()});
  }
};

}  // namespace

kind_info counting_bloom_row() {
  return kind_row<counting_bloom_kind>::info();
}

}  // namespace bloomset::detail
