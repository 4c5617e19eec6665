#include <fmt/format.h>

#include <array>
#include <bloomery/blocked_bloom.hpp>

#include "registry/any_model.hpp"
#include "registry/options.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "blocked_bloom";

constexpr std::array options = {kind_option{
    "layout", "split, free or parquet (default by the rate)",
    "where in its block a key's bits are; parquet is Apache Parquet's block bit for bit"}};

struct describe {
  template <class F>
  filter_info operator()(const F& filter) const {
    const blocked_bloom_params& params = filter.params();
    filter_info info;
    info.plan.scatter = params.scatter();
    info.plan.bits = params.bits();
    info.plan.hashes = params.hashes;
    info.fill = filter.fill();
    info.extras = {{"layout", std::string(name_of(params.layout))}, {"blocks", params.blocks}};
    return info;
  }
};

result<block_layout> layout_of(const plan_request& request) {
  const std::string_view wanted = option_text(request, "layout", "");
  if (wanted.empty()) return block_layout{};
  for (const block_layout layout :
       {block_layout::split_512, block_layout::free_512, block_layout::parquet_256}) {
    if (name_of(layout) == wanted) return layout;
  }
  return fail(errc::invalid_argument,
              fmt::format("'{}' is no block layout; give split, free or parquet", wanted));
}

result<blocked_bloom_spec> spec_of(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  const auto layout = layout_of(request);
  if (!layout) return fail(layout.error());
  return blocked_bloom_spec{.capacity = request.capacity,
                            .fpr = request.fpr,
                            .bits = request.bits,
                            .hashes = request.hashes,
                            .seed = request.seed,
                            .layout = *layout,
                            .confidence = request.confidence};
}

result<plan_report> plan(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  const auto params = plan_blocked_bloom(*spec);
  if (!params) return fail(params.error());
  return plan_report{
      .capacity = params->capacity,
      .bits = params->bits(),
      .bytes = params->bits() / 8,
      .hashes = params->hashes,
      .planned_fpr = params->fpr,
      .scatter = params->scatter(),
      .extras = {{"layout", std::string(name_of(params->layout))}, {"blocks", params->blocks}}};
}

result<any_filter> create(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  return as_any<describe>(blocked_bloom::make(*spec), name);
}

result<any_filter> open(const stored_filter& stored, access how) {
  return open_typed<blocked_bloom, describe>(stored, how, name);
}

}  // namespace

kind_info blocked_bloom_row() {
  return {.kind = filter_kind::blocked_bloom,
          .name = name,
          .summary = "one cache line a key: the fastest; insert and query, also by many threads",
          .strengths =
              "an insert or a query touches one cache line, and batches run at the memory's speed; "
              "0.5 bits a key more than bloom at 1%; no deletion, and its size is fixed in advance",
          .can = abilities_of<blocked_bloom>(),
          .takes_hashes = true,
          .options = options,
          .plan = plan,
          .create = create,
          .build = nullptr,
          .open = open};
}

}  // namespace bloomery::detail
