#include <array>
#include <bloomset/cuckoo.hpp>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

struct cuckoo_kind : one_type<cuckoo> {
  static constexpr std::string_view name = "cuckoo";
  static constexpr std::string_view summary =
      "a table of fingerprints; insert, erase, count and query";
  static constexpr std::string_view strengths =
      "deletion at about the size of a Bloom filter, and smaller at rates of 0.2% and below; says "
      "when it is full; holds few copies of one key, and its size is fixed in advance";
  static constexpr std::array options = {
      kind_option{"slots", "2, 4 or 8 (default 4)", "slots in a bucket"},
      kind_option{"fingerprint_bits", "4 to 32 (default: as short as the rate allows)",
                  "bits kept of each key"},
  };

  static result<void> set_options(const plan_request& request, cuckoo_spec& spec) {
    if (auto ok = read_positive_option(request, "slots", spec.slots); !ok) return ok;
    return read_positive_option(request, "fingerprint_bits", spec.fingerprint_bits);
  }

  static constexpr auto plan = plan_cuckoo;
  static plan_report report(const cuckoo_params& params) {
    return {.capacity = params.capacity,
            .bits = 8 * params.payload_bytes(),
            .bytes = params.payload_bytes(),
            .planned_fpr = params.fpr,
            .lines_per_query = 2,
            .extras = {{"slots", std::uint64_t{params.slots}},
                       {"fingerprint_bits", std::uint64_t{params.fingerprint_bits}},
                       {"buckets", params.buckets},
                       {"load", params.load()}}};
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    info.extras = report(filter.params()).extras;
    info.extras.push_back({"stashed", std::uint64_t{filter.stashed()}});
  }
};

}  // namespace

kind_info cuckoo_row() {
  return kind_row<cuckoo_kind>::info();
}

}  // namespace bloomset::detail
