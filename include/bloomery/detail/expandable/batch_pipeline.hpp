#pragma once

/// Batches of keys in a pipeline of three stages.
///
/// A key needs memory twice: first its block's offset, then the block. The keys of a batch go
/// through the stages in groups of 16, and other groups' stages run between two stages of a group,
/// so that the prefetched lines have arrived when they are read.

#include <array>
#include <bloomery/detail/expandable/segment_table.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomery::detail {

/// Keys whose cache lines are prefetched together.
inline constexpr std::size_t group_size = 16;
/// Groups under way, each at another stage.
inline constexpr std::size_t pipeline_depth = 3;

/// Calls each stage with a group's first key, its size and its slot in a ring of pipeline_depth
/// groups. Ends early if work() returns false.
template <class PrefetchOffsets, class PrefetchBlocks, class Work>
void run_pipeline(std::size_t size, PrefetchOffsets&& prefetch_offsets,
                  PrefetchBlocks&& prefetch_blocks, Work&& work) noexcept {
  const auto call = [&](auto&& stage, std::size_t group) noexcept {
    const std::size_t first = group * group_size;
    return stage(first, detail::min(group_size, size - first), group % pipeline_depth);
  };
  const std::size_t groups = size / group_size + (size % group_size != 0);
  for (std::size_t k = 0; k < groups + 2; ++k) {
    if (k < groups) call(prefetch_offsets, k);
    if (k >= 1 && k <= groups) call(prefetch_blocks, k - 1);
    if (k >= 2 && !call(work, k - 2)) return;
  }
}

/// Answers a batch. The blocks of a group are prefetched in steps while the group before is
/// queried: a core has about 16 lines under way, and more requests at once would stall the queries.
template <class Table>
void query_pipeline(const expandable_params& params, const Table& table, std::span<const hash64> hs,
                    bool* answers) noexcept {
  const auto& kernel = segment_ops();
  std::array<std::array<segment_query, group_size>, pipeline_depth> ring;
  const auto size_of = [&](std::size_t group) noexcept {
    return detail::min(group_size, hs.size() - detail::min(group * group_size, hs.size()));
  };
  const auto queries = [&](std::size_t group) noexcept {
    return std::span(ring[group % pipeline_depth]).first(size_of(group));
  };
  const auto find = [&](std::size_t group) noexcept {
    const auto found = queries(group);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const segment_place at = place_of(params, hs[group * group_size + i]);
      found[i] = table.query(at);
      table.view(params, at).prefetch_block_offset(at.cell);
    }
  };
  const std::size_t groups = hs.size() / group_size + (hs.size() % group_size != 0);
  for (std::size_t k = 0; k < groups + 2; ++k) {
    if (k < groups) find(k);
    if (k == 1) kernel.prefetch(params.cell_bits, queries(0));
    if (k >= 2) {
      kernel.contains_batch(params.cell_bits, queries(k - 2), queries(k - 1),
                            answers + (k - 2) * group_size);
    }
  }
}

/// Places and queries of the groups under way in a batch that changes segments. A change may move
/// segments; the places are then computed again.
template <class Table>
class key_groups {
 public:
  struct group {
    std::array<segment_place, group_size> places;
    std::array<segment_query, group_size> queries;
    std::uint64_t changes;  ///< Table::changes() when they were computed
  };

  key_groups(const expandable_params& params, const Table& table,
             std::span<const hash64> hs) noexcept
      : params_(params), table_(table), hs_(hs) {}

  void find(std::size_t first, std::size_t n, std::size_t slot) noexcept {
    group& in = ring_[slot];
    for (std::size_t i = 0; i < n; ++i) {
      in.places[i] = place_of(params_, hs_[first + i]);
      in.queries[i] = table_.query(in.places[i]);
      table_.view(params_, in.places[i]).prefetch_block_offset(in.places[i].cell);
    }
    in.changes = table_.changes();
  }
  const group& found(std::size_t first, std::size_t n, std::size_t slot) noexcept {
    if (ring_[slot].changes != table_.changes()) [[unlikely]]
      find(first, n, slot);
    return ring_[slot];
  }
  std::span<const segment_query> queries(std::size_t first, std::size_t n,
                                         std::size_t slot) noexcept {
    return std::span(found(first, n, slot).queries).first(n);
  }

 private:
  const expandable_params& params_;
  const Table& table_;
  std::span<const hash64> hs_;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): found before they are read
  std::array<group, pipeline_depth> ring_;
};

/// A pipeline that changes segments; `work` is called as by run_pipeline, with the groups in front.
template <class Table, class Work>
void change_pipeline(const expandable_params& params, const Table& table,
                     std::span<const hash64> hs, Work&& work) noexcept {
  key_groups groups(params, table, hs);
  run_pipeline(
      hs.size(), [&](auto... at) noexcept { groups.find(at...); },
      [&](auto... at) noexcept {
        segment_ops().prefetch_to_insert(params.cell_bits, groups.queries(at...));
      },
      [&](auto... at) noexcept { return work(groups, at...); });
}

/// Inserts the keys of a batch. run(queries) inserts as many as it can from the first on and
/// returns how many; insert(i, place) inserts the next key, and ends the batch by returning false.
template <class Table, class Run, class Insert>
void insert_pipeline(const expandable_params& params, const Table& table,
                     std::span<const hash64> hs, Run&& run, Insert&& insert) noexcept {
  change_pipeline(params, table, hs,
                  [&](auto& groups, std::size_t first, std::size_t n, std::size_t slot) noexcept {
                    for (std::size_t i = 0;; ++i) {
                      i += run(groups.queries(first, n, slot).subspan(i));
                      if (i == n) return true;
                      if (!insert(first + i, groups.found(first, n, slot).places[i])) return false;
                      if (i + 1 == n) return true;
                    }
                  });
}

/// Calls erase(i, place) for each key.
template <class Table, class Erase>
void erase_pipeline(const expandable_params& params, const Table& table, std::span<const hash64> hs,
                    Erase&& erase) noexcept {
  change_pipeline(params, table, hs,
                  [&](auto& groups, std::size_t first, std::size_t n, std::size_t slot) noexcept {
                    for (std::size_t i = 0; i < n; ++i) {
                      erase(first + i, groups.found(first, n, slot).places[i]);
                    }
                    return true;
                  });
}

/// Inserts the keys that are not contained yet. Each group is queried at once; insert(i, place) is
/// called for each key that was not found, until it returns false. Sets `contained` for the others.
template <class Table, class Insert>
void insert_absent_pipeline(const expandable_params& params, const Table& table,
                            std::span<const hash64> hs, std::span<bool> contained,
                            Insert&& insert) noexcept {
  change_pipeline(
      params, table, hs,
      [&](auto& groups, std::size_t first, std::size_t n, std::size_t slot) noexcept {
        const auto answers = contained.subspan(first, n);
        segment_ops().contains_batch(params.cell_bits, groups.queries(first, n, slot), {},
                                     answers.data());
        for (std::size_t i = 0; i < n; ++i) {
          if (!answers[i] && !insert(first + i, groups.found(first, n, slot).places[i])) {
            return false;
          }
        }
        return true;
      });
}

}  // namespace bloomery::detail
