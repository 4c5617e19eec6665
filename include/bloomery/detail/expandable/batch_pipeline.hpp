#pragma once

/// Batches of keys in a pipeline of three stages.
///
/// A key needs two memory accesses: first its block's offset, then the block. The keys of a batch
/// go through the stages in groups of 16. Between two stages of a group the stages of other groups
/// run, so the prefetched lines have arrived when they are read.

#include <array>
#include <bloomery/detail/expandable/segment_table.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// Keys whose cache lines are prefetched together.
inline constexpr std::size_t group_size = 16;
/// Groups in the pipeline, each at a different stage.
inline constexpr std::size_t pipeline_depth = 3;

/// A group's queries. A change may move segments; the queries are then computed again.
template <class Table>
class key_group {
 public:
  void find(const expandable_params& params, const Table& table,
            std::span<const hash64> keys) noexcept {
    params_ = &params;
    table_ = &table;
    keys_ = keys;
    changes_ = table.changes;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const segment_place at = place_of(params, keys[i]);
      queries_[i] = table.query(at);
      table.view(params, at).prefetch_block_offset(at.cell);
    }
  }

  std::span<const hash64> keys() const noexcept { return keys_; }
  std::span<const segment_query> queries() noexcept {
    if (changes_ != table_->changes) [[unlikely]]
      find(*params_, *table_, keys_);
    return std::span(queries_).first(keys_.size());
  }

 private:
  const expandable_params* params_;
  const Table* table_;
  std::span<const hash64> keys_;
  std::uint64_t changes_;
  std::array<segment_query, group_size> queries_;
};

/// Calls prefetch(group, whether it is the first) and work(group, the group behind it) for each
/// group, until work() returns false.
template <class Table, class Prefetch, class Work>
void run_pipeline(const expandable_params& params, const Table& table, std::span<const hash64> hs,
                  Prefetch&& prefetch, Work&& work) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): found before they are read
  std::array<key_group<Table>, pipeline_depth> ring;
  const std::size_t groups = hs.size() / group_size + (hs.size() % group_size != 0);
  for (std::size_t k = 0; k < groups + 2; ++k) {
    // Empty behind the last group.
    const auto left = hs.subspan(detail::min(k * group_size, hs.size()));
    ring[k % pipeline_depth].find(params, table, left.first(detail::min(group_size, left.size())));
    auto& last = ring[(k + pipeline_depth - 1) % pipeline_depth];
    if (k >= 1) prefetch(last, k == 1);
    if (k >= 2 && !work(ring[(k + pipeline_depth - 2) % pipeline_depth], last)) return;
  }
}

/// Answers a batch. The blocks of a group are prefetched in steps while the group before is
/// queried: a core has about 16 lines under way, and more requests at once would stall the queries.
template <class Table>
void query_pipeline(const expandable_params& params, const Table& table, std::span<const hash64> hs,
                    bool* answers) noexcept {
  const auto& kernel = segment_ops();
  run_pipeline(
      params, table, hs,
      [&](auto& group, bool is_first) noexcept {
        if (is_first) kernel.prefetch(params.cell_bits, group.queries());
      },
      [&](auto& group, auto& next) noexcept {
        kernel.contains_batch(params.cell_bits, group.queries(), next.queries(), answers);
        answers += group_size;
        return true;
      });
}

/// Changes segments: calls work(group) for each group, until it returns false.
template <class Table, class Work>
void change_pipeline(const expandable_params& params, const Table& table,
                     std::span<const hash64> hs, Work&& work) noexcept {
  run_pipeline(
      params, table, hs,
      [&](auto& group, bool /*is_first*/) noexcept {
        segment_ops().prefetch_to_insert(params.cell_bits, group.queries());
      },
      [&](auto& group, auto& /*next*/) noexcept { return work(group); });
}

}  // namespace bloomery::detail
