// The union of two expandable filters of any sizes and lengths of entries. An entry's bits of its
// key's hash are read from one filter and written as an entry of the other.

#include <algorithm>
#include <bit>
#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/expandable/owned_segments.hpp>
#include <bloomery/detail/expandable/segment_statistics.hpp>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/format.hpp"

namespace bloomery::detail {
namespace {

failure no_room() {
  return fail(
      errc::full,
      "the union has no room: no more keys can be held at the promised rate, or too many of "
      "them meet in one segment");
}

failure too_high(const expandable_params& params) {
  return fail(
      errc::incompatible,
      format_text("the union could not keep the rate of {:.3g} that was promised, of which "
                  "each filter has spent a part; give the union the sum of their rates: merge "
                  "both into an empty filter of that rate",
                  params.fpr));
}

/// An entry is compared with so many of its cell. A cell with more has chosen keys, and the others
/// count as different.
constexpr std::size_t max_compared = 64;

/// True if the shorter entry matches every hash that the longer one matches.
bool is_covered(std::uint64_t longer, std::uint64_t shorter) {
  return std::bit_width(shorter) <= std::bit_width(longer) && is_match(shorter, longer);
}

/// The entries and copies that a filter's segments receive from another filter, one group of
/// segments at a time. The numbers of a group's segments have the same lowest bits, so a group has
/// the same keys in both filters.
class segment_inboxes {
 public:
  segment_inboxes(const expandable_params& ours, const expandable_params& theirs)
      : ours_(ours), theirs_(theirs), shared_(std::min(ours.level, theirs.level)) {
    boxes_.resize(((ours.segments() - 1) >> shared_) + 1);
  }

  std::uint64_t groups() const noexcept { return std::uint64_t{1} << shared_; }
  template <class Use>
  static void for_group(std::uint64_t group, std::uint64_t groups, const expandable_params& params,
                        Use&& use) {
    for (std::uint64_t i = group; i < params.segments(); i += groups) use(i);
  }

  /// Fills the boxes with the entries and copies of a group. False if they have more than
  /// `max_entries` entries.
  bool receive(std::uint64_t group, const segment_spans& others, std::uint64_t max_entries,
               bool without_copies) {
    for (inbox& each : boxes_) {
      each.entries.clear();
      each.copies.clear();
    }
    left_ = max_entries;
    bool has_room = true;
    for_group(group, groups(), theirs_, [&](std::uint64_t i) {
      listed_.clear();
      segment_ops().list(shape_of(theirs_, i), others.bytes[i], listed_);
      const unsigned level = level_of(theirs_, i);
      if (without_copies) remove_copies();
      for (const cell_entry& each : listed_) {
        has_room = has_room && deliver((each.entry << theirs_.cell_bits | each.cell) << level | i);
      }
      const auto copies = others.counted[i];
      for (std::size_t at = 0; at < copies.size(); at += sizeof(counted_copies)) {
        const auto each = load<counted_copies>(copies.data() + at);
        if (without_copies) {
          // Counted copies without an entry: the entries that it matched were other keys' and
          // are erased.
          constexpr std::uint64_t marker = std::uint64_t{1} << 63;
          const segment_place place = place_of(theirs_, {each.hash});
          const segment_query query{others.bytes[i].data(), others.bytes[i].size(), place.remainder,
                                    place.cell, place.slot_bits};
          if (segment_ops().contains(theirs_.cell_bits, query)) continue;
          has_room = has_room && deliver(marker | (each.hash & (marker - 1)));
          continue;
        }
        box(place_of(ours_, {each.hash}).segment).copies.push_back(each);
      }
    });
    return has_room;
  }

  /// The received entries of a segment, by cell. Valid until the next call.
  std::span<const cell_entry> entries(std::uint64_t segment) {
    const std::vector<cell_entry>& here = box(segment).entries;
    ends_.assign(std::size_t{1} << ours_.cell_bits, 0);
    for (const cell_entry& each : here) ++ends_[each.cell];
    std::uint32_t before = 0;
    for (std::uint32_t& end : ends_) before += std::exchange(end, before);
    listed_.resize(here.size());
    for (const cell_entry& each : here) listed_[ends_[each.cell]++] = each;
    return listed_;
  }

  /// The received entries that no entry of the segment covers. Valid until the next call.
  /// `newly_inserted` grows by those that do not cover one either, as shorter ones may.
  std::span<const cell_entry> absent_entries(std::uint64_t segment,
                                             std::span<const std::byte> bytes,
                                             std::uint64_t& newly_inserted) {
    (void)entries(segment);
    own_.clear();
    segment_ops().list(shape_of(ours_, segment), bytes, own_);
    std::size_t kept = 0;
    std::size_t first = 0;  // of the segment's own entries in the cell
    for (const cell_entry& each : listed_) {
      while (first < own_.size() && own_[first].cell < each.cell) ++first;
      bool is_there = false;
      bool is_new = true;
      const std::size_t end = std::min(own_.size(), first + max_compared);
      for (std::size_t i = first; i < end && own_[i].cell == each.cell && !is_there; ++i) {
        is_there = is_covered(each.entry, own_[i].entry);
        is_new = is_new && !is_covered(own_[i].entry, each.entry);
      }
      if (is_there) continue;
      listed_[kept++] = each;
      newly_inserted += is_new;
    }
    listed_.resize(kept);
    return listed_;
  }

  /// A segment's own counted copies and the received ones, one element per hash, in order.
  const std::vector<counted_copies>& copies(std::uint64_t segment, std::span<const std::byte> own) {
    std::vector<counted_copies>& all = box(segment).copies;
    for (std::size_t at = 0; at < own.size(); at += sizeof(counted_copies)) {
      all.push_back(load<counted_copies>(own.data() + at));
    }
    std::ranges::sort(all, {}, &counted_copies::hash);
    std::size_t size = 0;
    for (const counted_copies& each : all) {
      if (size != 0 && all[size - 1].hash == each.hash) {
        all[size - 1].copies += each.copies;
      } else {
        all[size++] = each;
      }
    }
    all.resize(size);
    return all;
  }

 private:
  struct inbox {
    std::vector<cell_entry> entries;
    std::vector<counted_copies> copies;
  };

  // Removes the listed entries that an entry before them in their cell covers.
  void remove_copies() {
    std::size_t kept = 0;
    for (const cell_entry& each : listed_) {
      bool is_there = false;
      const std::size_t end = kept - std::min(kept, max_compared);
      for (std::size_t i = kept; i > end && listed_[i - 1].cell == each.cell && !is_there; --i) {
        is_there = is_covered(each.entry, listed_[i - 1].entry);
      }
      if (!is_there) listed_[kept++] = each;
    }
    listed_.resize(kept);
  }

  inbox& box(std::uint64_t segment) noexcept { return boxes_[segment >> shared_]; }

  // Delivers an entry, given as the lowest bits of its key's hash below a one that marks their
  // number. If they are too few to name a cell, it goes to each cell that they may mean.
  bool deliver(std::uint64_t known) {
    const auto size = static_cast<unsigned>(std::bit_width(known)) - 1;
    const bool is_chosen = size >= ours_.level;
    const segment_place at = place_of(ours_, {known});
    const unsigned level = level_of(ours_, at.segment);
    if (!is_chosen || size < level + ours_.cell_bits) {
      const std::uint64_t marker = std::uint64_t{1} << size;
      return deliver((known ^ marker) | marker << 1) && deliver(known | marker << 1);
    }
    if (left_ == 0) return false;
    --left_;
    const std::uint64_t marker = std::uint64_t{1} << (at.slot_bits - 1);
    const std::uint64_t entry =
        at.remainder < marker ? at.remainder : marker | (at.remainder & (marker - 1));
    box(at.segment).entries.push_back({at.cell, entry});
    return true;
  }

  const expandable_params& ours_;
  const expandable_params& theirs_;
  unsigned shared_;  // bits that choose a group
  std::vector<inbox> boxes_;
  std::uint64_t left_ = 0;
  std::vector<cell_entry> listed_;
  std::vector<cell_entry> own_;
  std::vector<std::uint32_t> ends_;
};

struct absent_counts {
  std::uint64_t entries = 0;         // that no entry of ours matches
  std::uint64_t newly_inserted = 0;  // and that cover none
};

/// Counts another filter's entries that are absent here, without copies. Nothing if they are too
/// many.
std::optional<absent_counts> count_absent(const expandable_params& params,
                                          const source_vector<owned_segment>& segments,
                                          const expandable_params& theirs,
                                          const segment_spans& others, std::uint64_t max_entries) {
  absent_counts absent;
  segment_inboxes inboxes(params, theirs);
  for (std::uint64_t group = 0; group < inboxes.groups(); ++group) {
    if (!inboxes.receive(group, others, max_entries, true)) return std::nullopt;
    segment_inboxes::for_group(group, inboxes.groups(), params, [&](std::uint64_t i) {
      absent.entries +=
          inboxes.absent_entries(i, segments[i].bytes.bytes(), absent.newly_inserted).size();
    });
  }
  return absent;
}

}  // namespace

result<std::uint64_t> owned_segments::unite(expandable_params& params,
                                            const expandable_params& theirs,
                                            const segment_spans& others, bool only_absent) try {
  std::uint64_t added = theirs.entries;
  std::uint64_t newly_inserted = added;
  if (only_absent) {
    const auto absent =
        count_absent(params, segments, theirs, others, params.entries_limit() + theirs.entries);
    if (!absent) return no_room();
    if (absent->entries == 0) return 0;
    added = absent->entries;
    newly_inserted = absent->newly_inserted;
  }
  const std::uint64_t wanted = params.entries + added;
  expandable_params next = params;
  std::uint64_t newly_inserted_at_last = 0;
  auto made = [&]() -> result<owned_segments> {
    if (wanted <= next.max_entries()) {
      return united(next, theirs, others, only_absent, newly_inserted_at_last);
    }
    owned_segments larger = *this;
    const auto pages = larger.pages_for(min_batch_on_huge_pages);
    while (next.max_entries() < wanted) {
      if (!larger.grow(next)) return no_room();
    }
    return larger.united(next, theirs, others, only_absent, newly_inserted_at_last);
  }();
  if (!made) return fail(made.error());
  const auto kept = next.replanned_for(rate_of(next, made->segments));
  if (!kept) return too_high(params);
  const std::uint64_t changes_before = changes;
  *this = std::move(*made);
  changes += changes_before;
  params = *kept;
  // The first count may miss matches in cells of more than max_compared entries. The last count has
  // entries that went to two cells twice.
  return only_absent ? std::min(newly_inserted, newly_inserted_at_last) : newly_inserted;
} catch (const std::bad_alloc&) {
  return no_segment_memory();
}

// These segments with the others' entries, or only the absent ones. Sets params.entries.
// `newly_inserted` grows by the absent entries that cover none here.
result<owned_segments> owned_segments::united(expandable_params& params,
                                              const expandable_params& theirs,
                                              const segment_spans& others, bool only_absent,
                                              std::uint64_t& newly_inserted) const {
  owned_segments made;
  made.moved = moved;
  made.counts_copies = counts_copies;
  made.segments.resize(segments.size());
  made.list.resize(segments.size());
  // The limit at which insert() reports `full`.
  const std::uint64_t limit = params.entries_limit();
  segment_inboxes inboxes(params, theirs);
  for (std::uint64_t group = 0; group < inboxes.groups(); ++group) {
    const std::uint64_t room =
        only_absent ? limit + theirs.entries : limit - std::min(limit, params.entries);
    if (!inboxes.receive(group, others, room, only_absent)) return no_room();
    bool has_room = true;
    bool has_memory = true;
    segment_inboxes::for_group(group, inboxes.groups(), params, [&](std::uint64_t i) {
      if (!has_room || !has_memory) return;
      const segment_shape shape = shape_of(params, i);
      const auto entries =
          only_absent ? inboxes.absent_entries(i, segments[i].bytes.bytes(), newly_inserted)
                      : inboxes.entries(i);
      const auto built = segment_ops().unite(shape, segments[i].bytes.bytes(), entries);
      has_memory = built.has_value();
      if (!has_memory) return;
      const auto size = built->stored_bytes(shape);
      const auto own_copies = segments[i].counted.bytes();
      const auto& copies =
          inboxes.copies(i, own_copies.first(list[i].counted * sizeof(counted_copies)));
      has_room = size && copies.size() <= max_counted && params.entries + entries.size() <= limit;
      if (!has_room) return;
      auto place = made.arena_.make(*size, paging::huge);
      auto counted = owned_storage::copy_of(std::as_bytes(std::span(copies)));
      has_memory = place && counted;
      if (!has_memory) return;
      built->write(shape, place->writable_bytes());
      made.put(i, *place);
      made.segments[i].counted = std::move(*counted);
      made.list[i].counted = static_cast<std::uint32_t>(copies.size());
      made.counts_copies = made.counts_copies || !copies.empty();
      params.entries += entries.size();
    });
    if (!has_room) return no_room();
    if (!has_memory) return no_segment_memory();
  }
  return made;
}

}  // namespace bloomery::detail
