#pragma once

// A batch in three stages, for what asks memory twice: where a key's data are, then for them.

#include <algorithm>
#include <array>
#include <bloomery/detail/expandable/segment_table.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomery::detail {

/// Keys whose lines are fetched together.
inline constexpr std::size_t stage_group = 16;
/// The queries of three groups, each at another stage.
using stage_ring = std::array<std::array<segment_query, stage_group>, 3>;

/// A batch by groups, each in three stages with other groups' between them, so that what one stage
/// asks memory for has come by the next: the starts of the keys' blocks, the blocks, the work.
/// Calls each stage with a group's first key, its size and its turn of three; ends early when
/// work() returns false.
template <class Starts, class Blocks, class Work>
void in_stages(std::size_t size, Starts&& starts, Blocks&& blocks, Work&& work) noexcept {
  const auto at = [&](std::size_t k) noexcept { return std::min(k * stage_group, size); };
  const auto call = [&](auto&& stage, std::size_t k) noexcept {
    return stage(at(k), at(k + 1) - at(k), k % 3);
  };
  const std::size_t groups = size / stage_group + (size % stage_group != 0);
  for (std::size_t k = 0; k < groups + 2; ++k) {
    if (k < groups) call(starts, k);
    if (k >= 1 && k <= groups) call(blocks, k - 1);
    if (k >= 2 && !call(work, k - 2)) return;
  }
}

/// The queries of some keys, and their starts fetched.
template <class Parts>
void find_queries(const expandable_params& params, const Parts& parts, std::span<const hash64> hs,
                  std::span<segment_query> queries) noexcept {
  for (std::size_t i = 0; i < hs.size(); ++i) {
    const auto at = place_of(params, hs[i]);
    queries[i] = parts.query(at);
    parts.view(params, at).prefetch_start(at.cell);
  }
}

/// Answers a batch. A group's blocks are fetched while the one before it is asked.
template <class Parts>
void ask_in_stages(const expandable_params& params, const Parts& parts, std::span<const hash64> hs,
                   bool* answers) noexcept {
  const auto& kernel = segment_ops();
  stage_ring ring;
  const auto size_of = [&](std::size_t k) noexcept {
    const std::size_t first = std::min(k * stage_group, hs.size());
    return std::min(stage_group, hs.size() - first);
  };
  const auto group = [&](std::size_t k) noexcept {
    return std::span(ring[k % ring.size()]).first(size_of(k));
  };
  const std::size_t groups = hs.size() / stage_group + (hs.size() % stage_group != 0);
  for (std::size_t k = 0; k < groups + 2; ++k) {
    if (k < groups) find_queries(params, parts, hs.subspan(k * stage_group, size_of(k)), group(k));
    if (k == 1) kernel.fetch(params.cell_bits, group(0));
    if (k >= 2)
      kernel.ask(params.cell_bits, group(k - 2), group(k - 1), answers + (k - 2) * stage_group);
  }
}

/// The keys of a batch that changes segments, which may thereby get other places: where each
/// group's keys belong, found anew when that has happened.
template <class Parts>
class moving_groups {
 public:
  struct group {
    std::array<segment_place, stage_group> places;
    std::array<segment_query, stage_group> queries;
    std::uint64_t found_at;  ///< as long as that is Parts::changes(), these are right
  };

  moving_groups(const expandable_params& params, const Parts& parts,
                std::span<const hash64> hs) noexcept
      : params_(params), parts_(parts), hs_(hs) {}

  void find(std::size_t first, std::size_t n, std::size_t turn) noexcept {
    group& in = ring_[turn];
    for (std::size_t i = 0; i < n; ++i) {
      in.places[i] = place_of(params_, hs_[first + i]);
      in.queries[i] = parts_.query(in.places[i]);
      parts_.view(params_, in.places[i]).prefetch_start(in.places[i].cell);
    }
    in.found_at = parts_.changes();
  }
  const group& found(std::size_t first, std::size_t n, std::size_t turn) noexcept {
    if (ring_[turn].found_at != parts_.changes()) [[unlikely]]
      find(first, n, turn);
    return ring_[turn];
  }
  std::span<const segment_query> queries(std::size_t first, std::size_t n,
                                         std::size_t turn) noexcept {
    return std::span(found(first, n, turn).queries).first(n);
  }

 private:
  const expandable_params& params_;
  const Parts& parts_;
  std::span<const hash64> hs_;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): found before they are read
  std::array<group, 3> ring_;
};

/// Inserts the keys of a batch: as many as possible at once, by run(queries), which says how many
/// it has inserted from the first on; and what stopped it by insert(i, place), until that returns
/// false.
template <class Parts, class Run, class Insert>
void insert_in_stages(const expandable_params& params, const Parts& parts,
                      std::span<const hash64> hs, Run&& run, Insert&& insert) noexcept {
  moving_groups groups(params, parts, hs);
  in_stages(
      hs.size(), [&](auto... at) noexcept { groups.find(at...); },
      [&](auto... at) noexcept {
        segment_ops().fetch_to_insert(params.cell_bits, groups.queries(at...));
      },
      [&](std::size_t first, std::size_t n, std::size_t turn) noexcept {
        std::size_t i = 0;
        while (true) {
          i += run(groups.queries(first, n, turn).subspan(i));
          if (i == n) return true;
          if (!insert(first + i, groups.found(first, n, turn).places[i])) return false;
          if (++i == n) return true;
        }
      });
}

/// Calls change(i, place) for each key, until it returns false.
template <class Parts, class Change>
void change_in_stages(const expandable_params& params, const Parts& parts,
                      std::span<const hash64> hs, Change&& change) noexcept {
  const auto no_run = [](std::span<const segment_query>) noexcept { return std::size_t{0}; };
  insert_in_stages(params, parts, hs, no_run, std::forward<Change>(change));
}

/// Inserts the keys that are not contained yet: a group is queried at once, and insert(i, place) is
/// called for each key that was not found, until it returns false. Sets `contained` for the others.
template <class Parts, class Insert>
void insert_absent_in_stages(const expandable_params& params, const Parts& parts,
                             std::span<const hash64> hs, std::span<bool> contained,
                             Insert&& insert) noexcept {
  moving_groups groups(params, parts, hs);
  in_stages(
      hs.size(), [&](auto... at) noexcept { groups.find(at...); },
      [&](auto... at) noexcept {
        segment_ops().fetch_to_insert(params.cell_bits, groups.queries(at...));
      },
      [&](std::size_t first, std::size_t n, std::size_t turn) noexcept {
        const auto answers = contained.subspan(first, n);
        segment_ops().ask(params.cell_bits, groups.queries(first, n, turn), {}, answers.data());
        for (std::size_t i = 0; i < n; ++i) {
          if (!answers[i] && !insert(first + i, groups.found(first, n, turn).places[i])) {
            return false;
          }
        }
        return true;
      });
}

}  // namespace bloomery::detail
