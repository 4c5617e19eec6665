// The union of two expandable filters of any sizes and lengths of entries. An entry's bits of its
// key's hash are read from one filter and written as an entry of the other. The rate of the union
// is computed from its entries (docs/maintain/decisions/kinds/expandable-unions.md).

#include <algorithm>
#include <bit>
#include <bloomset/detail/expandable/segment_table.hpp>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/format.hpp"

namespace bloomset::detail {
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
      format_text(
          "the union could not keep the promised rate of {:.3g}, because each filter has used a "
          "part of it; merge both into an empty filter whose rate is the sum of theirs",
          params.fpr));
}

/// The entries and copies that a filter's segments receive from another filter, one group of
/// segments at a time. The numbers of a group's segments have the same lowest bits, so a group has
/// the same keys in both filters.
class segment_inboxes {
 public:
  /// `only_absent`: without further copies of a key.
  segment_inboxes(const expandable_params& ours, const expandable_params& theirs,
                  const segment_spans& others, bool only_absent)
      : ours_(ours),
        theirs_(theirs),
        others_(others),
        only_absent_(only_absent),
        shared_(std::min(ours.level, theirs.level)),
        boxes_(((ours.segments() - 1) >> shared_) + 1) {}

  std::uint64_t groups() const noexcept { return std::uint64_t{1} << shared_; }

  /// Fills the boxes of the segments group, group + groups(), ... False if that takes more than
  /// `max_entries` entries.
  bool receive(std::uint64_t group, std::uint64_t max_entries) {
    for (inbox& each : boxes_) {
      each.entries.clear();
      each.copies.clear();
    }
    left_ = max_entries;
    bool has_room = true;
    for (std::uint64_t i = group; i < others_.size(); i += groups()) {
      const auto& [bytes, copies] = others_[i];
      segment_ops().list(shape_of(theirs_, i), bytes, listed_);
      if (only_absent_) remove_copies();
      const unsigned level = level_of(theirs_, i);
      for (const cell_entry& each : listed_) {
        has_room = has_room && deliver((each.entry << theirs_.cell_bits | each.cell) << level | i);
      }
      for (std::size_t k = 0; k < copies.size() / sizeof(counted_copies); ++k) {
        const counted_copies each = copies_at(copies, k);
        if (!only_absent_) {
          box(place_of(ours_, {each.hash}).segment).copies.push_back(each);
          continue;
        }
        // Counted copies without an entry: their key matched entries of other keys, which were
        // erased.
        constexpr std::uint64_t marker = std::uint64_t{1} << 63;
        const segment_place at = place_of(theirs_, {each.hash});
        const segment_view view({theirs_.cell_bits, at.slot_bits}, bytes);
        if (view.contains(at.cell, at.remainder)) continue;
        has_room = has_room && deliver(marker | (each.hash & (marker - 1)));
      }
    }
    return has_room;
  }

  /// The received entries of a segment, by cell. Valid until the next call.
  std::vector<cell_entry>& entries(std::uint64_t segment) {
    const std::vector<cell_entry>& here = box(segment).entries;
    ends_.assign(std::size_t{1} << ours_.cell_bits, 0);
    for (const cell_entry& each : here) ++ends_[each.cell];
    std::uint32_t before = 0;
    for (std::uint32_t& end : ends_) before += std::exchange(end, before);
    listed_.resize(here.size());
    for (const cell_entry& each : here) listed_[ends_[each.cell]++] = each;
    return listed_;
  }

  /// The received entries that none of the segment's `own` entries covers. `newly_inserted` grows
  /// by those that do not cover an own entry either. A shorter entry may cover one.
  std::vector<cell_entry>& absent_entries(std::uint64_t segment, std::span<const cell_entry> own,
                                          std::uint64_t& newly_inserted) {
    std::size_t kept = 0;
    std::size_t first = 0;  // of the segment's own entries in the cell
    for (const cell_entry each : entries(segment)) {
      while (first < own.size() && own[first].cell < each.cell) ++first;
      bool is_there = false;
      bool is_new = true;
      const std::size_t end = std::min(own.size(), first + max_compared);
      for (std::size_t i = first; i < end && own[i].cell == each.cell && !is_there; ++i) {
        is_there = covers(own[i].entry, each.entry);
        is_new = is_new && !covers(each.entry, own[i].entry);
      }
      if (is_there) continue;
      listed_[kept++] = each;
      newly_inserted += is_new;
    }
    listed_.resize(kept);
    return listed_;
  }

  /// A segment's own counted copies and the received ones, one element per hash, in order.
  source_vector<counted_copies> copies(std::uint64_t segment,
                                       const source_vector<counted_copies>& own) {
    source_vector<counted_copies> all = own;
    const auto& received = box(segment).copies;
    all.insert(all.end(), received.begin(), received.end());
    std::ranges::sort(all, {}, &counted_copies::hash);
    std::size_t size = 0;
    for (const counted_copies each : all) {
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
    for (const cell_entry each : listed_) {
      bool is_there = false;
      const std::size_t end = kept - std::min(kept, max_compared);
      for (std::size_t i = kept; i > end && listed_[i - 1].cell == each.cell && !is_there; --i) {
        is_there = covers(listed_[i - 1].entry, each.entry);
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
    const segment_place at = place_of(ours_, {known});
    if (size < level_of(ours_, at.segment) + ours_.cell_bits) {
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
  const segment_spans& others_;
  bool only_absent_;
  unsigned shared_;  // bits that choose a group
  std::vector<inbox> boxes_;
  std::uint64_t left_ = 0;
  std::vector<cell_entry> listed_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace

result<std::uint64_t> owned_segments::unite(expandable_params& params,
                                            const expandable_params& theirs,
                                            const segment_spans& others, bool only_absent) try {
  std::uint64_t added = theirs.entries;
  std::uint64_t newly_inserted = added;
  if (only_absent) {
    added = newly_inserted = 0;
    segment_inboxes inboxes(params, theirs, others, true);
    std::vector<cell_entry> own;
    for (std::uint64_t group = 0; group < inboxes.groups(); ++group) {
      if (!inboxes.receive(group, params.entries_limit() + theirs.entries)) return no_room();
      for (std::uint64_t i = group; i < segments.size(); i += inboxes.groups()) {
        segment_ops().list(shape_of(params, i), segments[i].bytes.bytes(), own);
        added += inboxes.absent_entries(i, own, newly_inserted).size();
      }
    }
    if (added == 0) return 0;
  }
  const std::uint64_t wanted = params.entries + added;
  expandable_params next = params;
  std::uint64_t newly_inserted_at_last = 0;
  owned_segments larger;
  const owned_segments* from = this;
  const auto grow_next = [&] {
    if (from == this) larger = owned_segments(*this);
    from = &larger;
    larger.set_batch(min_batch_on_huge_pages);
    return larger.grow(next);
  };
  while (next.max_entries() < wanted) {
    if (!grow_next()) return no_room();
  }
  expandable_params kept;
  result<owned_segments> made;
  for (;;) {
    kept = next;
    made = from->united(kept, theirs, others, only_absent, newly_inserted_at_last);
    if (!made) return fail(made.error());
    if (const auto replanned = kept.replanned_for(figures_of(kept, made->segments, 0).rate)) {
      kept = *replanned;
      break;
    }
    // Longer slots leave more of the rate to the keys to come.
    if (!next.is_fixed() || !grow_next()) return too_high(params);
    newly_inserted_at_last = 0;
  }
  made->changes += changes;
  *this = std::move(*made);
  params = kept;
  // The first count may miss matches in cells of more than max_compared entries. The last count has
  // entries that went to two cells twice.
  return only_absent ? std::min(newly_inserted, newly_inserted_at_last) : newly_inserted;
} catch (const std::bad_alloc&) {
  return no_segment_memory();
}

// These segments united with the others' entries, or only with the absent ones. Sets
// params.entries. `newly_inserted` grows by the absent entries that cover none here.
result<owned_segments> owned_segments::united(expandable_params& params,
                                              const expandable_params& theirs,
                                              const segment_spans& others, bool only_absent,
                                              std::uint64_t& newly_inserted) const {
  owned_segments made;
  made.set_batch(min_batch_on_huge_pages);
  made.counts_copies = counts_copies;
  made.segments.resize(segments.size());
  made.list.resize(segments.size());
  // The limit at which insert() reports `full`.
  const std::uint64_t limit = params.entries_limit();
  segment_inboxes inboxes(params, theirs, others, only_absent);
  std::vector<cell_entry> own;
  std::vector<cell_entry> all;
  for (std::uint64_t group = 0; group < inboxes.groups(); ++group) {
    const std::uint64_t room =
        only_absent ? limit + theirs.entries : limit - std::min(limit, params.entries);
    if (!inboxes.receive(group, room)) return no_room();
    for (std::uint64_t i = group; i < segments.size(); i += inboxes.groups()) {
      const segment_shape shape = shape_of(params, i);
      const auto bytes = segments[i].bytes.bytes();
      segment_ops().list(shape, bytes, own);
      const auto& entries =
          only_absent ? inboxes.absent_entries(i, own, newly_inserted) : inboxes.entries(i);
      all.resize(own.size() + entries.size());
      std::ranges::merge(own, entries, all.begin(), {}, &cell_entry::cell, &cell_entry::cell);
      const auto built =
          segment_ops().build(shape, all, segment_view(shape, bytes).block_offset(shape.blocks()));
      if (!built) return no_segment_memory();
      auto& copies = made.segments[i].counted;
      copies = inboxes.copies(i, segments[i].counted);
      params.entries += entries.size();
      if (!built->stored_bytes(shape) || copies.size() > max_counted || params.entries > limit) {
        return no_room();
      }
      if (!made.put_built(shape, i, *built)) return no_segment_memory();
      made.list[i].counted = static_cast<std::uint32_t>(copies.size());
      made.counts_copies = made.counts_copies || !copies.empty();
    }
  }
  made.set_batch(1);
  return made;
}

}  // namespace bloomset::detail
