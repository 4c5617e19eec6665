#include <fmt/format.h>

#include <array>
#include <bloomery/bloom.hpp>
#include <cmath>
#include "registry/any_model.hpp"

#include "registry/options.hpp"
#include "registry/probes.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "bloom";

constexpr std::array options = {probe_option};

struct describe {
  template <class F>
  filter_info operator()(const F& filter) const {
    const auto& params = filter.params();
    filter_info info;
    info.plan.scatter = params.scatter();
    info.plan.bits = params.bits;
    info.plan.hashes = params.hashes;
    info.fill = filter.fill();
    info.extras = {{"probe", std::string(F::probe_type::name)}};
    return info;
  }
};

bloom_spec spec_of(const plan_request& request) {
  return {.capacity = request.capacity,
          .fpr = request.fpr,
          .bits = request.bits,
          .hashes = request.hashes,
          .seed = request.seed,
          .confidence = request.confidence};
}

result<plan_report> plan(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  const auto params = plan_bloom(spec_of(request));
  if (!params) return fail(params.error());
  const auto n = static_cast<double>(params->capacity);
  const auto m = static_cast<double>(params->bits);
  return plan_report{
      .capacity = params->capacity,
      .bits = params->bits,
      .bytes = bytes_for_bits(params->bits),
      .hashes = params->hashes,
      .planned_fpr = params->fpr,
      .lines_per_query = params->hashes,
      .scatter = params->scatter(),
      .extras = {{"optimal_hashes", formulas::optimal_hashes(n, m)},
                 {"classic_fpr", formulas::bloom_fpr_classic(n, m, params->hashes)},
                 {"ideal_fpr", formulas::ideal_fpr(m / n)}},
  };
}

result<any_filter> create(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  return with_probe(option_text(request, "probe", double_hashing::name), [&](auto probe) {
    return as_any<describe>(basic_bloom<decltype(probe)>::make(spec_of(request)), name);
  });
}

result<any_filter> open(const stored_filter& stored, access how) {
  const auto params = bloom_params::decode(stored.header, stored.parameters);
  if (!params) return fail(params.error());
  return with_probe(params->probe, [&](auto probe) {
    return open_typed<basic_bloom<decltype(probe)>, describe>(stored, how, name);
  });
}

}  // namespace

kind_info bloom_row() {
  return {.kind = filter_kind::bloom,
          .name = name,
          .summary = "the classic: m bits, k functions; insert and query",
          .strengths =
              "the fewest bits of the kinds that are built by inserts and merge by OR; no "
              "deletion, and its size is fixed in advance",
          .can = abilities_of<bloom>(),
          .takes_hashes = true,
          .options = options,
          .plan = plan,
          .create = create,
          .build = nullptr,
          .open = open};
}

}  // namespace bloomery::detail
