#include <array>
#include <bloomset/vector_quotient.hpp>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

std::vector<property> shape_of(const vector_quotient_params& params) {
  return {{"blocks", params.blocks},
          {"slots", std::uint64_t{params.slots}},
          {"buckets", std::uint64_t{params.buckets}},
          {"remainder_bits", std::uint64_t{params.remainder_bits}},
          {"load", params.load()}};
}

struct vector_quotient_kind : one_type<vector_quotient> {
  static constexpr std::string_view name = "vector_quotient";
  static constexpr std::string_view summary =
      "cache-line blocks of short remainders; insert, erase, count and query";
  static constexpr std::string_view strengths =
      "deletion and exact counts in about a Bloom filter's space, at full speed up to 97% "
      "full; says when it is full; any number of copies; its size is fixed in advance";
  static constexpr bool copies_take_room = false;
  static constexpr std::uint64_t copies_to_plan_for = detail::vq_max_copies;
  static constexpr std::array options = {
      kind_option{"remainder_bits", "5 to 32 (default: as the rate needs)",
                  "bits stored of each key, besides its bucket"},
      kind_option{"slots", "1 to 63 (default: as the rate needs)", "keys in a block of 64 bytes"},
  };

  static result<void> set_options(const plan_request& request, vector_quotient_spec& spec) {
    if (auto ok = read_positive_option(request, "remainder_bits", spec.remainder_bits); !ok) {
      return ok;
    }
    return read_positive_option(request, "slots", spec.slots);
  }

  static constexpr auto plan = plan_vector_quotient;
  static plan_report report(const vector_quotient_params& params) {
    return {.capacity = params.capacity,
            .bits = 8 * params.payload_bytes(),
            .bytes = params.payload_bytes(),
            .planned_fpr = params.fpr,
            .lines_per_query = 2,
            .extras = shape_of(params)};
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    info.extras = shape_of(filter.params());
    info.extras.push_back({"stashed", std::uint64_t{filter.stashed()}});
    info.extras.push_back({"overflow_entries", filter.params().overflow_entries});
  }
};

}  // namespace

kind_info vector_quotient_row() {
  return kind_row<vector_quotient_kind>::info();
}

}  // namespace bloomset::detail
