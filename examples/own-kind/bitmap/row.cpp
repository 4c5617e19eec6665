#include <array>

#include "bitmap.hpp"
#include "registry/kind_row.hpp"
#include "registry/rows.hpp"

namespace bloomset::detail {

kind_info bitmap_row();

namespace {

struct bitmap_kind : one_type<bitmap> {
  static constexpr std::string_view name = "bitmap";
  static constexpr std::string_view summary = "one bit per key, by one hash function";
  static constexpr std::string_view strengths =
      "the simplest filter there is; ten times the memory of a Bloom filter at 1%";
  static constexpr std::array<kind_option, 0> options{};

  static result<void> set_options(const plan_request&, bitmap_spec&) { return {}; }

  static constexpr auto plan = plan_bitmap;
  static plan_report report(const bitmap_params& params) {
    return {.capacity = params.capacity,
            .bits = params.bits,
            .bytes = bytes_for_bits(params.bits),
            .hashes = 1,
            .planned_fpr = params.fpr,
            .extras = {}};
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    info.plan.bits = filter.params().bits;
    info.plan.hashes = 1;
  }
};

}  // namespace

kind_info bitmap_row() {
  return kind_row<bitmap_kind>::info();
}

}  // namespace bloomset::detail
