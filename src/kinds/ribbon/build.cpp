// The build of a ribbon filter: levels of fingerprints (src/kinds/retrieval/). Each level has the
// rate that the levels before it left.

#include <algorithm>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/plan/units.hpp>
#include <bloomset/ribbon.hpp>
#include <cmath>
#include <new>

#include "kinds/retrieval/build_levels.hpp"
#include "plan/checks.hpp"

namespace bloomset::detail {
namespace {

/// The fractions of non-members that a level passes, and that it bumps to the levels beyond.
struct ribbon_share {
  double pass = 0;
  double bumped = 0;
};

/// O(code bytes).
ribbon_share ribbon_share_of(const ribbon_level& level, const std::byte* codes) noexcept {
  const std::uint64_t all = level.all_starts();
  const std::uint64_t bucket_starts = level.bucket_starts();
  std::uint64_t bumped_lower = 0;
  std::uint64_t bumped_upper = 0;
  for (std::uint64_t first = 0; level.bumps && first < all; first += bucket_starts) {
    const std::uint64_t bumped =
        std::min(bumped_starts(level, codes, first / bucket_starts), all - first);
    const std::uint64_t lower = std::min(bumped, level.cut - std::min(level.cut, first));
    bumped_lower += lower;
    bumped_upper += bumped - lower;
  }
  const auto lower = static_cast<double>(level.cut - bumped_lower);
  const auto upper = static_cast<double>(all - level.cut - bumped_upper);
  const auto total = static_cast<double>(all);
  return {.pass = std::ldexp((lower + upper / 2) / total, -static_cast<int>(level.columns)),
          .bumped = static_cast<double>(bumped_lower + bumped_upper) / total};
}

class ribbon_planner final : public level_planner {
 public:
  ribbon_planner(const ribbon_spec& spec, double fpr) : spec_(spec), fpr_(fpr) {}

  result<std::uint64_t> begin(std::uint64_t distinct, bool is_estimate) override {
    // An estimate that is too high must not exceed the size that was planned for the capacity.
    if (is_estimate && spec_.bits != 0 && spec_.capacity != 0) {
      distinct = std::min(distinct, spec_.capacity);
    }
    if (auto ok = check_ribbon_rate(fpr_, distinct); !ok) return fail(ok.error());
    eps_ = fpr_ - formulas::hash_collision_fpr(static_cast<double>(distinct));
    return distinct;
  }

  ribbon_level level_for(std::uint64_t n, unsigned attempt) override {
    return plan_ribbon_level(n, eps_, attempt);
  }

  void finish_level(const ribbon_level& level, const std::byte* codes) override {
    const ribbon_share share = ribbon_share_of(level, codes);
    if (share.bumped > 0) eps_ = (eps_ - share.pass) / share.bumped;
  }

  result<void> end(std::uint64_t count, std::uint64_t payload_bytes) override {
    if (spec_.bits == 0 || payload_bytes * 8 <= spec_.bits) return {};
    return refuse(
        "{} would need {} in this ribbon filter, more than the {} allowed; give more memory or a "
        "higher rate",
        format_count(count, "key"), format_bytes(payload_bytes), format_bytes(spec_.bits / 8));
  }

 private:
  const ribbon_spec& spec_;
  double fpr_;
  double eps_ = 0;  // the rate that is left for the levels to come
};

}  // namespace

result<built_ribbon> build_ribbon(const ribbon_spec& spec, const hash_source& source) {
  const auto fpr = ribbon_rate_for(spec);
  if (!fpr) return fail(fpr.error());
  ribbon_planner planner(spec, *fpr);
  try {
    auto built = build_levels(
        {.structure = "a ribbon filter", .seed = spec.seed.value(), .threads = spec.threads},
        source, planner);
    if (!built) return fail(std::move(built.error()));
    built_ribbon all{.params = {.fpr = *fpr, .seed = spec.seed, .levels = std::move(built->levels)},
                     .payload = std::move(built->payload),
                     .views = {},
                     .count = built->count};
    all.views = retrieval_views(all.params.levels);
    return all;
  } catch (const std::bad_alloc&) {
    return no_memory(
        "memory ran out while building a ribbon filter; build it on a machine with more");
  }
}

result<built_ribbon> build_ribbon(const ribbon_spec& spec, std::span<const hash64> hashes) {
  return build_ribbon(spec, hash_source::of(hashes));
}

double ribbon_fpr(const ribbon_params& params, std::span<const std::byte> payload) noexcept {
  double rate = 0;
  double reach = 1;
  std::uint64_t at = 0;
  for (const ribbon_level& level : params.levels) {
    const ribbon_share share = ribbon_share_of(level, payload.data() + at);
    rate += reach * share.pass;
    reach *= share.bumped;
    at += level.bytes();
  }
  return rate;
}

result<void> check_ribbon_payload(const ribbon_params& params, std::span<const std::byte> payload,
                                  std::uint64_t count) {
  if (params.possible(count) && is_retrieval_payload(params.levels, payload)) return {};
  return fail(errc::corrupt,
              "the ribbon filter's slots do not fit its parameters; the file is damaged");
}

}  // namespace bloomset::detail
