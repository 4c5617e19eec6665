#include <array>
#include <bloomset/bloom.hpp>
#include <bloomset/plan/formulas.hpp>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

struct bloom_kind : one_type<bloom> {
  static constexpr std::string_view name = "bloom";
  static constexpr std::string_view summary = "the classic: m bits, k functions; insert and query";
  static constexpr std::string_view strengths =
      "the smallest of the kinds that are built by inserts and merged by OR; no "
      "deletion, and its size is fixed in advance";
  static constexpr bool any_order = true;
  static constexpr std::array options = {foldable_option};

  static constexpr std::size_t equal_in_halves = 32;  // all but chance_keys

  static result<void> set_options(const plan_request&, bloom_spec&) { return {}; }

  static constexpr auto plan = plan_bloom;
  static plan_report report(const bloom_params& params) {
    const auto n = static_cast<double>(params.capacity);
    const auto m = static_cast<double>(params.bits);
    return {
        .capacity = params.capacity,
        .bits = params.bits,
        .bytes = bytes_for_bits(params.bits),
        .hashes = params.hashes,
        .planned_fpr = params.fpr,
        .lines_per_query = params.hashes,
        .scatter = params.scatter(),
        .extras = {{"optimal_hashes", formulas::optimal_hashes(n, m)},
                   {"classic_fpr", formulas::bloom_fpr_classic(n, m, params.hashes)},
                   {"ideal_fpr", formulas::ideal_fpr(m / n)}},
    };
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    const auto& params = filter.params();
    info.plan.scatter = params.scatter();
    info.plan.bits = params.bits;
    info.plan.hashes = params.hashes;
  }
};

}  // namespace

kind_info bloom_row() {
  return kind_row<bloom_kind>::info();
}

}  // namespace bloomset::detail
