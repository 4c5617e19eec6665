#pragma once

/// Batches of keys in a pipeline of three stages.
///
/// A key needs two memory accesses: first its block's offset, then the block. The keys of a batch
/// go through the stages in groups of 16. Between two stages of a group the stages of other groups
/// run, so the prefetched lines have arrived when they are read.

#include <array>
#include <bloomset/detail/expandable/segment_table.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// Keys whose cache lines are prefetched together.
inline constexpr std::size_t group_size = 16;

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
      prefetch_line(queries_[i].bytes + std::size_t{2} * (at.cell / block_cells));  // the offset
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

/// Calls step(group, the group behind it) until it returns false: first with an empty group before
/// the first one, at last with an empty one behind the last.
template <class Table, class Step>
void run_pipeline(const expandable_params& params, const Table& table, std::span<const hash64> hs,
                  Step&& step) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): found before they are read
  std::array<key_group<Table>, 3> ring;
  ring.back().find(params, table, {});
  const std::size_t groups = hs.size() / group_size + (hs.size() % group_size != 0);
  for (std::size_t k = 0; k < groups + 2; ++k) {
    const auto left = hs.subspan(detail::min(k * group_size, hs.size()));
    ring[k % 3].find(params, table, left.first(detail::min(group_size, left.size())));
    if (k >= 1 && !step(ring[(k + 1) % 3], ring[(k + 2) % 3])) return;
  }
}

/// Answers a batch. The blocks of a group are prefetched in steps while the group before is
/// queried: a core has about 16 lines under way, and more requests at once would stall the queries.
template <class Table>
void query_pipeline(const expandable_params& params, const Table& table, std::span<const hash64> hs,
                    bool* answers) noexcept {
  const auto& kernel = segment_ops();
  run_pipeline(params, table, hs, [&](auto& group, auto& next) noexcept {
    kernel.contains_batch(params.cell_bits, group.queries(), next.queries(), answers);
    answers += group.keys().size();
    return true;
  });
}

/// Changes segments: calls work(group) for each group, until it returns false.
template <class Table, class Work>
void change_pipeline(const expandable_params& params, const Table& table,
                     std::span<const hash64> hs, Work&& work) noexcept {
  run_pipeline(params, table, hs, [&](auto& group, auto& next) noexcept {
    segment_ops().prefetch_to_insert(params.cell_bits, next.queries());
    return work(group);
  });
}

}  // namespace bloomset::detail
