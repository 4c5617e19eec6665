#include <array>
#include <bloomset/ribbon.hpp>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

struct ribbon_kind : one_type<ribbon> {
  static constexpr std::string_view name = "ribbon";
  static constexpr std::string_view summary = "built once from all keys: the smallest, at any rate";
  static constexpr std::string_view strengths =
      "6.75 bits/key at 1%, where the least possible is 6.64, and any rate is met; all keys must "
      "be known when it is built, and none can be added or erased later; slower to query than fuse "
      "in cache";
  static constexpr std::array<kind_option, 0> options{};

  static constexpr bool in_hash_order = true;  // in each level
  static constexpr std::size_t equal_in_halves = 0;

  static result<void> set_options(const plan_request&, ribbon_spec&) { return {}; }

  static constexpr auto plan = plan_ribbon;
  static plan_report report(const ribbon_plan& planned) {
    return {.capacity = planned.capacity,
            .bits = planned.bytes * 8,
            .bytes = planned.bytes,
            .planned_fpr = planned.fpr,
            .lines_per_query = 2,
            .extras = {}};
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    std::uint64_t shards = 0;
    for (const ribbon_level& level : filter.params().levels) shards += level.shards;
    info.extras = {{"levels", std::uint64_t{filter.params().levels.size()}}, {"shards", shards}};
  }
};

}  // namespace

kind_info ribbon_row() {
  return kind_row<ribbon_kind>::info();
}

}  // namespace bloomset::detail
