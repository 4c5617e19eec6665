#include <fmt/format.h>

#include <array>
#include <bloomery/ribbon.hpp>

#include "registry/any_model.hpp"
#include "registry/options.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "ribbon";

struct describe {
  template <class F>
  filter_info operator()(const F& filter) const {
    filter_info info;
    info.plan.bits = filter.size_in_bytes() * 8;
    info.fill = filter.fill();
    std::uint64_t shards = 0;
    for (const ribbon_level& level : filter.params().levels) shards += level.shards;
    info.extras = {{"levels", std::uint64_t{filter.params().levels.size()}}, {"shards", shards}};
    return info;
  }
};

result<ribbon_spec> spec_of(const plan_request& request) {
  if (auto ok = check_options(request, name, {}); !ok) return fail(std::move(ok.error()));
  if (request.hashes != 0) {
    return fail(errc::invalid_argument,
                "a ribbon filter has no number of hash functions to choose; leave it open");
  }
  return ribbon_spec{.capacity = request.capacity,
                     .fpr = request.fpr,
                     .bits = request.bits,
                     .seed = request.seed,
                     .threads = 0};
}

result<plan_report> plan(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  const auto plan = plan_ribbon(*spec);
  if (!plan) return fail(plan.error());
  return plan_report{.capacity = plan->capacity,
                     .bits = plan->bytes * 8,
                     .bytes = plan->bytes,
                     .hashes = {},
                     .planned_fpr = plan->fpr,
                     .lines_per_query = 2,
                     .extras = {}};
}

result<any_filter> create(const plan_request&) {
  return fail(errc::unsupported,
              "a ribbon filter is built once from all its keys and cannot begin empty; use build");
}

result<any_filter> build(const plan_request& request, const hash_source& source) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  return as_any<describe>(ribbon::build(*spec, source), name);
}

result<any_filter> open(const stored_filter& stored, access how) {
  return open_typed<ribbon, describe>(stored, how, name);
}

}  // namespace

kind_info ribbon_row() {
  return {.kind = filter_kind::ribbon,
          .name = name,
          .summary = "built once from all keys: the smallest, at any rate",
          .strengths =
              "6.75 bits/key at 1%, where no filter can do with less than 6.64, and any rate is "
              "met; all keys must be there when it is built, and none is added or erased later; "
              "slower to ask than fuse in cache",
          .can = abilities_of<ribbon>(),
          .takes_hashes = true,
          .options = {},
          .plan = plan,
          .create = create,
          .build = build,
          .open = open};
}

}  // namespace bloomery::detail
