#include "batches.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace bloomset::python {
namespace {

// Hashes of one piece stay in the nearer caches, and their memory below what the allocator gives
// back to the system each time. Views are twice as large, and are hashed anew below them.
constexpr std::size_t hashes_at_once = std::size_t{1} << 13;
constexpr std::size_t views_at_once = 1024;

/// Calls `use(hashes, first)` for piece after piece of a turn until it says false.
template <class Use>
void for_hashes(batch_turns& turns, const filter_hasher& hasher, Use&& use) {
  std::vector<hash64> hashes(std::min(turns.left(), hashes_at_once));
  do {
    const std::size_t most = std::min(hashes.size(), turns.left());
    std::size_t n = 0;
    do {  // Long keys take a whole turn.
      const std::size_t some = std::min(views_at_once, most - n);
      turns.keys().hashes(hasher, turns.first() + n, std::span(hashes).subspan(n, some));
      n += some;
    } while (n < most && !turns.is_late());
    if (!use(std::span<const hash64>(hashes).first(n), turns.first())) return;
    turns.advance(n);
  } while (!turns.is_over());
}

template <class Use>
void for_views(batch_turns& turns, Use&& use) {
  std::array<std::string_view, views_at_once> views;
  do {
    const auto piece = std::span(views).first(std::min(views.size(), turns.left()));
    turns.keys().views(turns.first(), piece);
    if (!use(std::span<const std::string_view>(piece), turns.first())) return;
    turns.advance(piece.size());
  } while (!turns.is_over());
}

/// The same by whichever the filter takes.
template <class Use>
void for_pieces(batch_turns& turns, key_door door, Use&& use) {
  if (door.by_hash) {
    for_hashes(turns, door.hasher, std::forward<Use>(use));
  } else {
    for_views(turns, std::forward<Use>(use));
  }
}

}  // namespace

void ask(const any_filter& filter, key_door door, batch_turns& turns, std::span<bool> answers) {
  for_pieces(turns, door, [&](const auto& piece, std::size_t first) {
    static_cast<void>(filter.may_contain(piece, answers.subspan(first, piece.size())));
    return true;
  });
}

void covers(const any_filter& filter, batch_turns& turns, std::span<bool> covered) {
  for_views(turns, [&](std::span<const std::string_view> piece, std::size_t first) {
    filter.covers(piece, covered.subspan(first, piece.size()));
    return true;
  });
}

result<insert_summary> insert(any_filter& filter, key_door door, batch_turns& turns) {
  result<insert_summary> all;
  for_pieces(turns, door, [&](const auto& piece, std::size_t) {
    auto part = filter.insert(piece);
    if (!part) {
      all = fail(std::move(part.error()));
      return false;
    }
    all->inserted += part->inserted;
    all->maybe_present += part->maybe_present;
    all->done += part->done;
    all->stopped_by = part->stopped_by;
    return part->done == piece.size();
  });
  return all;
}

result<std::uint64_t> erase(any_filter& filter, batch_turns& turns) {
  result<std::uint64_t> all;
  std::array<bool, views_at_once> erased{};
  for_views(turns, [&](std::span<const std::string_view> piece, std::size_t) {
    const auto answers = std::span(erased).first(piece.size());
    if (auto done = filter.erase(piece, answers); !done) {
      all = fail(std::move(done.error()));
      return false;
    }
    *all += static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), true));
    return true;
  });
  return all;
}

result<std::uint64_t> except(any_filter& filter, batch_turns& turns, bool undo) {
  result<std::uint64_t> all;
  for_views(turns, [&](std::span<const std::string_view> piece, std::size_t) {
    const auto changed = [&]() -> result<std::uint64_t> {
      if (undo) return filter.remove_exceptions(piece);
      const auto added = filter.add_exceptions(piece);
      if (!added) return fail(added.error());
      return added->inserted;
    }();
    if (!changed) {
      all = fail(changed.error());
      return false;
    }
    *all += *changed;
    return true;
  });
  return all;
}

result<void> count(const any_filter& filter, batch_turns& turns, std::span<std::uint64_t> counts) {
  result<void> all;
  for_views(turns, [&](std::span<const std::string_view> piece, std::size_t first) {
    all = filter.count(piece, counts.subspan(first, piece.size()));
    return all.has_value();
  });
  return all;
}

void append_hashes(hash_chunks& chunks, const filter_hasher& hasher, batch_turns& turns) {
  for_hashes(turns, hasher, [&](std::span<const hash64> piece, std::size_t) {
    chunks.append(piece);
    return true;
  });
}

void append_hashes(partitioned_hash_chunks& chunks, const partition_hasher& hasher,
                   batch_turns& turns) {
  std::array<partitioned_hash, views_at_once> hashes{};
  for_views(turns, [&](std::span<const std::string_view> piece, std::size_t) {
    for (std::size_t i = 0; i < piece.size(); ++i)
      hashes[i] = hasher(std::as_bytes(std::span(piece[i])));
    chunks.append(std::span(hashes).first(piece.size()));
    return true;
  });
}

void count_distinct(detail::distinct_counter& counter, filter_hasher hasher, batch_turns& turns) {
  for_hashes(turns, hasher, [&](std::span<const hash64> piece, std::size_t) {
    counter.add(piece);
    return true;
  });
}

}  // namespace bloomset::python
