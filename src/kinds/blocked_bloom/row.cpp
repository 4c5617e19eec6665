#include <array>
#include <bloomset/blocked_bloom.hpp>

#include "core/format.hpp"
#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

struct blocked_bloom_kind : one_type<blocked_bloom> {
  static constexpr std::string_view name = "blocked_bloom";
  static constexpr std::string_view summary =
      "one cache line per key: the fastest; insert and query, even by many threads at once";
  static constexpr std::string_view strengths =
      "an insert or a query touches one cache line, and batches run at the memory's speed; 0.5 "
      "bits per key more than bloom at 1%; no deletion, and its size is fixed in advance";
  static constexpr bool any_order = true;
  static constexpr std::array options = {
      kind_option{"layout", "split, free or parquet (default by the rate)",
                  "how the bits of a key are placed in its block; with parquet, a block is bit for "
                  "bit that of Apache Parquet"},
      foldable_option};

  static constexpr bool in_hash_order = true;
  static constexpr std::size_t equal_in_halves = 32;  // all but chance_keys

  static result<void> set_options(const plan_request& request, blocked_bloom_spec& spec) {
    const std::string_view wanted = option_text(request, "layout", "");
    if (wanted.empty()) return {};
    for (const block_layout layout :
         {block_layout::split_512, block_layout::free_512, block_layout::parquet_256}) {
      if (name_of(layout) != wanted) continue;
      spec.layout = layout;
      return {};
    }
    return format_failure(errc::invalid_argument,
                          "'{}' is not a block layout; give split, free or parquet", wanted);
  }

  static constexpr auto plan = plan_blocked_bloom;
  static plan_report report(const blocked_bloom_params& params) {
    return {.capacity = params.capacity,
            .bits = params.bits(),
            .bytes = params.bits() / 8,
            .hashes = params.hashes,
            .planned_fpr = params.fpr,
            .scatter = params.scatter(),
            .extras = {{"layout", std::string(name_of(params.layout))}, {"blocks", params.blocks}}};
  }

  template <class F>
  static void describe(const F& filter, filter_info& info) {
    info.plan = report(filter.params());
    info.extras = std::exchange(info.plan.extras, {});
  }
};

}  // namespace

kind_info blocked_bloom_row() {
  return kind_row<blocked_bloom_kind>::info();
}

}  // namespace bloomset::detail
