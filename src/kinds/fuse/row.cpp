#include <fmt/format.h>

#include <array>
#include <bloomery/fuse.hpp>

#include "registry/any_model.hpp"
#include "registry/options.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "fuse";

constexpr std::array options = {
    kind_option{"arity", "3 or 4 (default 3; with a memory given the one that uses it better)",
                "fingerprints that a query reads: 4 take 5% less memory, 3 are faster"},
    kind_option{"fingerprint_bits", "1 to 32 (default by the rate)",
                "bits of a fingerprint: the rate is 2^-bits"}};

std::vector<property> extras_of(const fuse_params& params) {
  return {{"arity", std::uint64_t{params.arity}},
          {"fingerprint_bits", std::uint64_t{params.fingerprint_bits}},
          {"segment_length", std::uint64_t{1} << params.segment_log2},
          {"shards", std::uint64_t{params.shards}}};
}

struct describe {
  template <class F>
  filter_info operator()(const F& filter) const {
    filter_info info;
    info.plan.bits = filter.size_in_bytes() * 8;
    info.fill = filter.fill();
    info.extras = extras_of(filter.params());
    return info;
  }
};

result<fuse_spec> spec_of(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  if (request.hashes != 0) {
    return fail(errc::invalid_argument,
                "a fuse filter has no number of hash functions to choose; give arity=3 or "
                "arity=4, or nothing");
  }
  const auto arity = option_number(request, "arity", 0);
  if (!arity) return fail(arity.error());
  const auto fingerprint_bits = option_number(request, "fingerprint_bits", 0);
  if (!fingerprint_bits) return fail(fingerprint_bits.error());
  return fuse_spec{.capacity = request.capacity,
                   .fpr = request.fpr,
                   .bits = request.bits,
                   .arity = *arity,
                   .fingerprint_bits = *fingerprint_bits,
                   .seed = request.seed,
                   .threads = 0};
}

result<plan_report> plan(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  const auto plan = plan_fuse(*spec);
  if (!plan) return fail(plan.error());
  return plan_report{.capacity = plan->capacity,
                     .bits = plan->params.payload_bytes() * 8,
                     .bytes = plan->params.payload_bytes(),
                     .hashes = {},
                     .planned_fpr = plan->fpr,
                     .lines_per_query = plan->params.arity,
                     .extras = extras_of(plan->params)};
}

result<any_filter> create(const plan_request&) {
  return fail(errc::unsupported,
              "a fuse filter is built once from all its keys and cannot begin empty; use build");
}

result<any_filter> build(const plan_request& request, const hash_source& source) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  return as_any<describe>(fuse::build(*spec, source), name);
}

result<any_filter> open(const stored_filter& stored, access how) {
  return open_typed<fuse, describe>(stored, how, name);
}

}  // namespace

kind_info fuse_row() {
  return {.kind = filter_kind::fuse,
          .name = name,
          .summary = "built once from all keys: small, and fast to build and to ask",
          .strengths =
              "9.0 bits/key at 0.39%, a quarter less than a Bloom filter, and its rate is "
              "exact; all keys must be there when it is built, and none is added or "
              "erased later",
          .can = abilities_of<fuse>(),
          .takes_hashes = true,
          .options = options,
          .plan = plan,
          .create = create,
          .build = build,
          .open = open};
}

}  // namespace bloomery::detail
