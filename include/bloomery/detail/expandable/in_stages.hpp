#pragma once

// A batch in three stages, for what asks memory twice: where a key's data are, then for them.

#include <algorithm>
#include <array>
#include <bit>
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

/// For keys that are inserted where they are not contained yet. A group is asked for at once, and
/// those that are not contained are inserted then, most of them by run(queries) as above. Calls
/// insert(i, place, is_absent) for each other key that is not known to be contained, until it
/// returns false; `is_absent` says that it is known not to be. Sets `contained` for those that are.
template <class Parts, class Run, class Insert>
void insert_absent_in_stages(const expandable_params& params, const Parts& parts,
                             std::span<const hash64> hs, std::span<bool> contained, Run&& run,
                             Insert&& insert) noexcept {
  const auto& kernel = segment_ops();
  moving_groups groups(params, parts, hs);
  in_stages(
      hs.size(), [&](auto... at) noexcept { groups.find(at...); },
      [&](auto... at) noexcept { kernel.fetch(params.cell_bits, groups.queries(at...)); },
      [&](std::size_t first, std::size_t n, std::size_t turn) noexcept {
        const auto answers = contained.subspan(first, n);
        const auto& group = groups.found(first, n, turn);
        kernel.ask(params.cell_bits, std::span(group.queries).first(n), {}, answers.data());
        const std::uint64_t asked_at = parts.changes();
        // The absent ones, without branches, since which are cannot be foretold.
        // NOLINTBEGIN(cppcoreguidelines-pro-type-member-init)
        std::array<std::uint8_t, stage_group> others;
        std::array<segment_query, stage_group> absent;
        // NOLINTEND(cppcoreguidelines-pro-type-member-init)
        std::size_t size = 0;
        for (std::size_t i = 0; i < n; ++i) {
          others[size] = static_cast<std::uint8_t>(i);
          size += static_cast<std::size_t>(!answers[i]);
        }
        std::uint64_t written = 0;   // cells, by the last bits of their numbers
        std::uint32_t is_again = 0;  // by others': one before may have come to its cell
        for (std::size_t k = 0; k < size; ++k) {
          absent[k] = group.queries[others[k]];
          const segment_place& at = group.places[others[k]];
          const auto bit = (at.cell ^ at.segment) % 64;
          is_again |= static_cast<std::uint32_t>(written >> bit & 1) << k;
          written |= std::uint64_t{1} << bit;
        }
        kernel.fetch_to_insert(params.cell_bits, std::span(absent).first(size));
        for (std::size_t k = 0; k < size; ++k) {
          // A no is still one if nothing has got another place, and none of the group has come to
          // the key's cell.
          bool is_absent = parts.changes() == asked_at && (is_again >> k & 1) == 0;
          if (is_absent) {
            const auto runs = static_cast<std::size_t>(
                std::countr_zero(is_again >> k | std::uint32_t{1} << (size - k)));
            k += run(std::span(absent).subspan(k, runs));
            if (k == size) break;
            is_absent = (is_again >> k & 1) == 0;
          }
          const std::size_t i = others[k];
          if (!insert(first + i, groups.found(first, n, turn).places[i], is_absent)) return false;
        }
        return true;
      });
}

}  // namespace bloomery::detail
