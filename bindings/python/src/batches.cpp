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

/// Calls `use(hashes, first)` for piece after piece until it says false.
template <class Use>
void for_hashes(key_batch& keys, const filter_hasher& hasher, Use&& use) {
  std::vector<hash64> hashes(std::min(keys.size(), hashes_at_once));
  for (std::size_t first = 0; first < keys.size(); first += hashes.size()) {
    const auto piece = std::span(hashes).first(std::min(hashes.size(), keys.size() - first));
    keys.hashes(hasher, first, piece);
    if (!use(std::span<const hash64>(piece), first)) return;
  }
}

template <class Use>
void for_views(key_batch& keys, Use&& use) {
  std::array<std::string_view, views_at_once> views;
  for (std::size_t first = 0; first < keys.size(); first += views.size()) {
    const auto piece = std::span(views).first(std::min(views.size(), keys.size() - first));
    keys.views(first, piece);
    if (!use(std::span<const std::string_view>(piece), first)) return;
  }
}

/// The same by whichever the filter takes.
template <class Use>
void for_pieces(key_batch& keys, key_door door, Use&& use) {
  if (door.by_hash) {
    for_hashes(keys, door.hasher, std::forward<Use>(use));
  } else {
    for_views(keys, std::forward<Use>(use));
  }
}

}  // namespace

void ask(const any_filter& filter, key_door door, key_batch& keys, std::span<bool> answers) {
  for_pieces(keys, door, [&](const auto& piece, std::size_t first) {
    static_cast<void>(filter.may_contain(piece, answers.subspan(first, piece.size())));
    return true;
  });
}

result<insert_summary> insert(any_filter& filter, key_door door, key_batch& keys) {
  result<insert_summary> all;
  for_pieces(keys, door, [&](const auto& piece, std::size_t) {
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

result<std::uint64_t> erase(any_filter& filter, key_batch& keys) {
  result<std::uint64_t> all;
  std::array<bool, views_at_once> erased{};
  for_views(keys, [&](std::span<const std::string_view> piece, std::size_t) {
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

result<void> count(const any_filter& filter, key_batch& keys, std::span<std::uint64_t> counts) {
  result<void> all;
  for_views(keys, [&](std::span<const std::string_view> piece, std::size_t first) {
    all = filter.count(piece, counts.subspan(first, piece.size()));
    return all.has_value();
  });
  return all;
}

void append_hashes(std::vector<hash64>& to, filter_hasher hasher, key_batch& keys) {
  for_hashes(keys, hasher, [&](std::span<const hash64> piece, std::size_t) {
    to.insert(to.end(), piece.begin(), piece.end());
    return true;
  });
}

void count_distinct(detail::distinct_counter& counter, filter_hasher hasher, key_batch& keys) {
  for_hashes(keys, hasher, [&](std::span<const hash64> piece, std::size_t) {
    counter.add(piece);
    return true;
  });
}

}  // namespace bloomset::python
