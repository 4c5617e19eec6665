#include <array>
#include <bloomset/fuse.hpp>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

std::vector<property> extras_of(const fuse_params& params) {
  return {{"arity", std::uint64_t{params.arity}},
          {"fingerprint_bits", std::uint64_t{params.fingerprint_bits}},
          {"segment_length", std::uint64_t{1} << params.segment_log2},
          {"shards", std::uint64_t{params.shards}}};
}

struct fuse_kind : one_type<fuse> {
  static constexpr std::string_view name = "fuse";
  static constexpr std::string_view summary =
      "built once from all keys: small, and fast to build and to query";
  static constexpr std::string_view strengths =
      "9.0 bits/key at 0.39%, a quarter less than a Bloom filter, and its rate is exact; all keys "
      "must be known when it is built, and none can be added or erased later";
  static constexpr std::array options = {
      kind_option{"arity", "3 or 4 (default 3; if a memory is given, whichever uses it better)",
                  "fingerprints that a query reads: 4 take 5% less memory, 3 are faster"},
      kind_option{"fingerprint_bits", "1 to 32 (default by the rate)",
                  "bits of a fingerprint: the rate is 2^-bits"}};

  static constexpr bool in_hash_order = true;  // shard after shard
  static constexpr std::size_t equal_in_halves = 0;

  static result<void> set_options(const plan_request& request, fuse_spec& spec) {
    if (auto ok = read_option(request, "arity", spec.arity); !ok) return ok;
    return read_option(request, "fingerprint_bits", spec.fingerprint_bits);
  }

  static constexpr auto plan = plan_fuse;
  static plan_report report(const fuse_plan& planned) {
    return {.capacity = planned.capacity,
            .bits = planned.params.payload_bytes() * 8,
            .bytes = planned.params.payload_bytes(),
            .planned_fpr = planned.fpr,
            .lines_per_query = planned.params.arity,
            .extras = extras_of(planned.params)};
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    info.extras = extras_of(filter.params());
  }
};

}  // namespace

kind_info fuse_row() {
  return kind_row<fuse_kind>::info();
}

}  // namespace bloomset::detail
