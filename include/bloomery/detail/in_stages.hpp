#pragma once

// A batch in three stages, for what asks memory twice: where a key's data are, then for them.

#include <algorithm>
#include <array>
#include <bloomery/detail/expandable_parts.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

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

/// For change_in_stages() where nothing is asked before.
inline constexpr auto asks_nothing = [](std::size_t, std::span<const segment_query>) noexcept {};

/// The same for what changes segments, which may thereby get other places. Calls change(i, place)
/// for each key, until it returns false, and before a group's first ask(key, the group's queries).
template <class Parts, class Ask, class Change>
void change_in_stages(const expandable_params& params, const Parts& parts,
                      std::span<const hash64> hs, Ask&& ask, Change&& change) noexcept {
  const auto& kernel = segment_ops();
  struct group {
    std::array<segment_place, stage_group> places;
    std::array<segment_query, stage_group> queries;
    std::uint64_t found_at;  // as long as that is the same, these are right
  };
  std::array<group, 3> ring;  // NOLINT(cppcoreguidelines-pro-type-member-init): found first
  const auto find = [&](std::size_t first, std::size_t n, std::size_t turn) noexcept {
    group& in = ring[turn];
    for (std::size_t i = 0; i < n; ++i) {
      in.places[i] = place_of(params, hs[first + i]);
      in.queries[i] = parts.query(in.places[i]);
      parts.view(params, in.places[i]).prefetch_start(in.places[i].cell);
    }
    in.found_at = parts.changes();
  };
  in_stages(
      hs.size(), find,
      [&](std::size_t first, std::size_t n, std::size_t turn) noexcept {
        if (ring[turn].found_at != parts.changes()) find(first, n, turn);
        kernel.fetch_to_insert(params.cell_bits, std::span(ring[turn].queries).first(n));
      },
      [&](std::size_t first, std::size_t n, std::size_t turn) noexcept {
        if (ring[turn].found_at != parts.changes()) find(first, n, turn);
        ask(first, std::span<const segment_query>(ring[turn].queries).first(n));
        for (std::size_t i = 0; i < n; ++i) {
          if (ring[turn].found_at != parts.changes()) find(first, n, turn);
          if (!change(first + i, ring[turn].places[i])) return false;
        }
        return true;
      });
}

/// Which keys of a group are contained before any of it is inserted. To ask all at once takes a
/// quarter less time than to find each as it is inserted, and is work to no end for a new key.
class asked_group {
 public:
  /// Asks, if of the group before at least two thirds were contained; else all answers are no.
  void ask(unsigned cell_bits, std::uint64_t changes, std::span<const segment_query> group,
           bool* answers) noexcept {
    is_asked_ = 3 * contained_ >= 2 * size_;
    size_ = group.size();
    contained_ = 0;
    changes_ = changes;
    written_ = 0;
    if (is_asked_) {
      segment_ops().ask(cell_bits, group, answers);
    } else {
      std::fill_n(answers, group.size(), false);
    }
  }
  void count_contained() noexcept { ++contained_; }
  /// Whether a no is still one: nothing has got another place, and none of the group has come to
  /// the key's cell, as one now will.
  bool is_still_absent(const segment_place& at, std::uint64_t changes) noexcept {
    const std::uint64_t cell = std::uint64_t{1} << ((at.cell ^ at.segment) % 64);
    const bool is_absent = is_asked_ && changes == changes_ && (written_ & cell) == 0;
    written_ |= cell;
    return is_absent;
  }

 private:
  bool is_asked_ = false;
  std::size_t size_ = 0;
  std::size_t contained_ = 0;
  std::uint64_t changes_ = 0;
  std::uint64_t written_ = 0;  // cells, by the last bits of their numbers
};

}  // namespace bloomery::detail
