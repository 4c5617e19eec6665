#include <array>
#include <bloomery/counting_bloom.hpp>
#include <bloomery/plan/formulas.hpp>

#include "registry/any_model.hpp"
#include "registry/options.hpp"
#include "registry/probes.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "counting_bloom";

constexpr std::array options = {
    kind_option{"counter_bits", "4, 8 or 16 (default 4)",
                "the width of a counter, which sticks at 15, 255 or 65535"},
    probe_option,
};

std::vector<property> layout_of(const counting_bloom_params& params) {
  return {{"counters", params.counters()}, {"counter_bits", std::uint64_t{params.counter_bits}}};
}

struct describe {
  template <class F>
  filter_info operator()(const F& filter) const {
    const auto& params = filter.params();
    filter_info info;
    info.plan.scatter = params.array.scatter();
    info.plan.bits = params.bits();
    info.plan.hashes = params.array.hashes;
    info.fill = filter.fill();
    info.extras = layout_of(params);
    info.extras.push_back({"stuck_counters", filter.stuck_counters()});
    info.extras.push_back({"probe", std::string(F::probe_type::name)});
    return info;
  }
};

result<counting_bloom_spec> spec_of(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  const auto counter_bits =
      option_number(request, "counter_bits", counting_bloom_spec().counter_bits);
  if (!counter_bits) return fail(counter_bits.error());
  return counting_bloom_spec{.capacity = request.capacity,
                             .fpr = request.fpr,
                             .bits = request.bits,
                             .hashes = request.hashes,
                             .seed = request.seed,
                             .counter_bits = *counter_bits,
                             .confidence = request.confidence};
}

result<plan_report> plan(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  const auto params = plan_counting_bloom(*spec);
  if (!params) return fail(params.error());
  const auto n = static_cast<double>(params->array.capacity);
  const auto m = static_cast<double>(params->counters());
  const unsigned k = params->array.hashes;
  plan_report report{.capacity = params->array.capacity,
                     .bits = params->bits(),
                     .bytes = bytes_for_bits(params->bits()),
                     .hashes = k,
                     .planned_fpr = params->array.fpr,
                     .lines_per_query = k,
                     .scatter = params->array.scatter(),
                     .extras = layout_of(*params)};
  const auto add = [&](std::string_view figure, double value) {
    report.extras.push_back({std::string(figure), value});
  };
  add("times_bloom", static_cast<double>(params->bits()) / static_cast<double>(params->array.bits));
  add("optimal_hashes", formulas::optimal_hashes(n, m));
  // Bounds on the chance that any counter does so, with that many distinct keys.
  add("stuck_bound", formulas::counter_reaches(n, m, k, params->maximum()));
  add("overflow_bound", formulas::counter_reaches(n, m, k, params->maximum() + 1));
  return report;
}

result<any_filter> create(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  return with_probe(option_text(request, "probe", double_hashing::name), [&](auto probe) {
    return as_any<describe>(basic_counting_bloom<decltype(probe)>::make(*spec), name);
  });
}

result<any_filter> open(const stored_filter& stored, access how) {
  const auto params = counting_bloom_params::decode(stored.header, stored.parameters);
  if (!params) return fail(params.error());
  return with_probe(params->array.probe, [&](auto probe) {
    return open_typed<basic_counting_bloom<decltype(probe)>, describe>(stored, how, name);
  });
}

}  // namespace

kind_info counting_bloom_row() {
  return {.kind = filter_kind::counting_bloom,
          .name = name,
          .summary = "a Bloom filter of counters: insert, erase and count",
          .strengths =
              "takes keys out again and counts them, with no insert that can fail; four "
              "times a Bloom filter's memory with counters of 4 bits, which stick at 15",
          .can = abilities_of<counting_bloom>(),
          .takes_hashes = true,
          .copies_take_room = false,
          .options = options,
          .plan = plan,
          .create = create,
          .build = nullptr,
          .open = open};
}

}  // namespace bloomery::detail
