#include <bloomset/detail/retrieval/retrieval.hpp>

#include <algorithm>
#include <cassert>
#include <new>

#include <bloomset/detail/core/source_memory.hpp>

#include "kinds/retrieval/build_levels.hpp"
#include "plan/checks.hpp"

namespace bloomset::detail {
namespace {

class retrieval_planner final : public level_planner {
 public:
  explicit retrieval_planner(std::uint32_t columns, std::uint32_t width) noexcept
      : columns_(columns), width_(width) {}

  result<std::uint64_t> begin(std::uint64_t distinct, bool) override { return distinct; }
  retrieval_level level_for(std::uint64_t n, unsigned attempt) override {
    return plan_retrieval_level(n, columns_, width_, attempt);
  }
  void finish_level(const retrieval_level&, const std::byte*) override {}
  result<void> end(std::uint64_t, std::uint64_t) override { return {}; }

 private:
  std::uint32_t columns_;
  std::uint32_t width_;
};

bool is_width(std::uint32_t width) noexcept {
  return width == 64 || width == 128;
}

}  // namespace

result<built_retrieval> build_retrieval(const retrieval_spec& spec,
                                        const valued_hash_source& source) {
  if (spec.columns == 0 || spec.columns > max_retrieval_columns) {
    return refuse("{} bits per value are out of range; give 1 to 32", spec.columns);
  }
  const std::uint32_t width = spec.width == 0 ? default_retrieval_width(spec.columns) : spec.width;
  if (!is_width(width)) return refuse("windows have 64 or 128 slots, not {}", width);
  retrieval_planner planner(spec.columns, width);
  try {
    auto built = build_levels({.structure = "a table of values",
                               .seed = spec.seed,
                               .threads = spec.threads,
                               .value_mask = column_mask(spec.columns)},
                              source, planner);
    if (!built) return fail(std::move(built.error()));
    return built_retrieval{
        {spec.columns, width, std::move(built->levels)}, std::move(built->payload), built->count};
  } catch (const std::bad_alloc&) {
    return no_memory("memory ran out while building a table; build it on a machine with more");
  }
}

result<built_retrieval> build_retrieval(const retrieval_spec& spec,
                                        std::span<const valued_hash> hashes) {
  return build_retrieval(spec, valued_hash_source::of(hashes));
}

std::uint64_t retrieval_params::payload_bytes() const noexcept {
  return retrieval_payload_bytes(levels);
}

bool retrieval_params::possible() const noexcept {
  return columns >= 1 && columns <= max_retrieval_columns && is_width(width) &&
         are_possible(levels, columns, width);
}

void retrieval_params::write(record_writer& writer) const {
  writer.u32(columns, width, levels.size()).zeros(4);
  for (const retrieval_level& level : levels) {
    writer.values(level.seed, level.shards, level.starts);
  }
}

retrieval_params retrieval_params::read(record_reader& reader) {
  retrieval_params params;
  std::uint32_t count = 0;
  reader.values(params.columns, params.width, count).zeros(4);
  params.levels.resize(std::min<std::size_t>(count, max_retrieval_levels + 1));
  for (retrieval_level& level : params.levels) {
    reader.values(level.seed, level.shards, level.starts);
    level.cut = level.all_starts();
    level.columns = params.columns;
    level.width = params.width;
    level.bumps = &level != &params.levels.back();
  }
  return params;
}

result<retrieval_view> retrieval_view::open(const retrieval_params& params,
                                            std::span<const std::byte> payload) {
  if (!params.possible() || !is_retrieval_payload(params.levels, payload)) {
    return fail(errc::corrupt,
                "the values' slots do not fit their parameters; the file is damaged");
  }
  retrieval_view view;
  view.payload_ = payload.data();
  view.levels_ = retrieval_views(params.levels);
  view.width_ = params.width;
  return view;
}

void retrieval_view::get(std::span<const hash64> hashes,
                         std::span<std::uint32_t> values) const noexcept {
  assert(values.size() >= hashes.size());
  const retrieval_kernels& kernels = retrieval_ops();
  (width_ == 64 ? kernels.retrieve_64 : kernels.retrieve_128)({payload_, levels_}, hashes,
                                                              values.data());
}

std::uint64_t retrieval_payload_bytes(std::span<const retrieval_level> levels) noexcept {
  return levels.empty() ? 0 : retrieval_bytes(levels) + retrieval_padding;
}

std::vector<retrieval_level_view> retrieval_views(std::span<const retrieval_level> levels) {
  return retrieval_views(levels, 0, retrieval_bytes(levels));
}

std::vector<retrieval_level_view> retrieval_views(std::span<const retrieval_level> levels,
                                                  std::uint64_t at, std::uint64_t zeros) {
  std::vector<retrieval_level_view> views;
  for (const retrieval_level& level : levels) {
    const std::uint64_t data = at + level.code_bytes();
    const std::uint64_t cut_group = level.lower_groups();
    const std::uint64_t upper = data + cut_group * level.columns;
    views.push_back({.seed = level.seed,
                     .shards = level.shards,
                     .starts = level.starts,
                     .cut = level.cut,
                     .cut_group = cut_group,
                     .lower_at = data,
                     .upper_at = upper - cut_group * (level.columns + 1),
                     .codes_at = level.bumps ? at : zeros,
                     .code_mask = level.bumps ? ~std::uint64_t{0} : 0,
                     .columns = level.columns});
    at += level.bytes();
  }
  return views;
}

bool is_retrieval_payload(std::span<const retrieval_level> levels,
                          std::span<const std::byte> payload) noexcept {
  return payload.size() == retrieval_payload_bytes(levels) &&
         (payload.empty() || is_zero(payload.last(retrieval_padding)));
}

}  // namespace bloomset::detail
