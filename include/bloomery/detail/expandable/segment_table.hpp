#pragma once

// The segments of an expandable filter and the copies that are counted beside them.

#include <algorithm>
#include <array>
#include <bloomery/concepts.hpp>
#include <bloomery/detail/core/filter_memory.hpp>
#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/detail/core/precondition.hpp>
#include <bloomery/detail/core/source_memory.hpp>
#include <bloomery/detail/expandable/segment.hpp>
#include <bloomery/detail/expandable/segment_arena.hpp>
#include <bloomery/detail/expandable/segment_layout.hpp>
#include <bloomery/plan/expandable_plan.hpp>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/storage.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bloomery::detail {

/// Where a key belongs.
struct segment_place {
  std::uint64_t segment;
  std::uint64_t rest;  ///< the hash behind the cell's bits
  std::uint32_t cell;
  std::uint32_t slot_bits;
};

inline segment_place place_of(const expandable_params& in, hash64 h) noexcept {
  const std::uint64_t shallow = low_bits(h.value, in.level);
  const bool deep = shallow < in.split;
  const unsigned level = in.level + (deep ? 1 : 0);
  const std::uint64_t behind = h.value >> level;
  return {low_bits(h.value, level), behind >> in.cell_bits,
          static_cast<std::uint32_t>(low_bits(behind, in.cell_bits)),
          deep ? in.deep_slot_bits : in.slot_bits};
}

/// Whether a segment has been split in the doubling under way, and its shape.
inline bool is_deep(const expandable_params& params, std::uint64_t segment) noexcept {
  return segment < params.split || segment >= std::uint64_t{1} << params.level;
}
inline segment_shape shape_of(const expandable_params& params, std::uint64_t segment) noexcept {
  return {params.cell_bits, is_deep(params, segment) ? params.deep_slot_bits : params.slot_bits,
          gaps_for(params.growth)};
}

/// The hash of a key with more copies than the table takes, and how many more; in ascending order
/// of hashes.
struct counted_copies {
  std::uint64_t hash;
  std::uint64_t copies;
};
static_assert(sizeof(counted_copies) == 16);

/// What the list of segments says of each: its size in words of 8 bytes, and how many copies are
/// counted behind it.
struct segment_entry {
  std::uint32_t words;
  std::uint32_t counted;
};
static_assert(sizeof(segment_entry) == 8);

template <storage Storage>
struct stored_segment {
  Storage bytes;
  Storage counted;  ///< counted_copies
};
struct owned_segment {
  arena_bytes bytes;
  owned_storage counted;  ///< there may be room for more
};

/// The list that a payload begins with, checked against the payload's size: the offset of each
/// segment, and of the copies behind it.
struct segment_extent {
  std::size_t at;
  std::size_t size;
  std::size_t counted_at;
  std::size_t counted_size;  ///< in bytes
};
result<std::vector<segment_extent>> read_segment_list(const expandable_params& params,
                                                      std::span<const std::byte> payload,
                                                      std::uint64_t count);

/// The counted copies of a segment, found by bisection; whatever the bytes are, it reads no others.
std::uint64_t counted_of(std::span<const std::byte> list, std::size_t size, hash64 h) noexcept;

/// How many copies all hashes of such a list have.
double copies_counted(std::span<const std::byte> list, std::size_t size) noexcept;

/// All segments of a filter, to be read.
struct segment_spans {
  std::vector<std::span<const std::byte>> bytes;
  std::vector<std::span<const std::byte>> counted;  ///< counted_copies
};
/// Whether they are what inserts could have made; what writes to them relies on that. O(size).
result<void> check_segments(const expandable_params& params, const segment_spans& all,
                            std::uint64_t count);

/// The share of all hashes that match an entry of a list of segments. O(size).
template <class Segments>
double rate_of(const expandable_params& params, const Segments& segments) noexcept {
  double matching = 0;
  for (std::uint64_t i = 0; i < params.segments(); ++i) {
    const double here =
        segment_ops().census(shape_of(params, i), segments[i].bytes.bytes()).rate(params.cell_bits);
    matching += is_deep(params, i) ? here / 2 : here;
  }
  return std::min(1.0, matching / static_cast<double>(std::uint64_t{1} << params.level));
}

/// The distinct keys behind a list of segments of so many copies. O(size).
///
/// An entry without a remainder is in two cells after each doubling: there are as many more of them
/// than keys that have one as there are more entries than copies in the table.
template <class Segments>
double distinct_keys_of(const expandable_params& params, const Segments& segments,
                        std::span<const segment_entry> list, std::uint64_t count) noexcept {
  segment_census::key_estimate all{};
  double whole_cells = 0;
  double beside = 0;  // copies that are counted by hash
  for (std::uint64_t i = 0; i < params.segments(); ++i) {
    const auto found = segment_ops().census(shape_of(params, i), segments[i].bytes.bytes());
    const auto here = found.keys(params.cell_bits);
    all.of_whole_cells += here.of_whole_cells;
    all.others += here.others;
    all.seen_in_whole_cells += here.seen_in_whole_cells;
    all.seen_in_others += here.seen_in_others;
    whole_cells += static_cast<double>(found.whole_cells);
    beside += copies_counted(segments[i].counted.bytes(), list[i].counted);
  }
  const double surplus = static_cast<double>(params.entries) + beside - static_cast<double>(count);
  const double left = std::min(whole_cells, whole_cells - surplus);
  if (left > 0) {
    all.others += all.of_whole_cells * (left / whole_cells);
    all.seen_in_others += all.seen_in_whole_cells * (left / whole_cells);
  }
  return formulas::distinct_among(static_cast<double>(count), all.seen_in_others, all.others);
}

/// That there is no memory.
tl::unexpected<failure> no_segment_memory() noexcept;

/// From so many keys at once on, which key_shell hands on together, a filter grows on huge pages.
/// It is read faster then, and grows faster, but one of the keys may wait until a page is cleared:
/// on virtual machines whose hosts give them memory as they touch it, 6 ms. Whoever inserts keys
/// one by one would see that.
inline constexpr std::size_t min_batch_on_huge_pages = shell_batch;

/// Operations on segments in their own memory; the list is kept as it will be written.
struct owned_segments {
  source_vector<owned_segment> segments;
  source_vector<segment_entry> list;
  std::uint64_t moved = 0;
  std::uint64_t changes = 0;  ///< rises when a segment gets another place
  bool counts_copies = false;

  owned_segments() = default;
  owned_segments(const owned_segments& other);  ///< throws std::bad_alloc
  owned_segments& operator=(const owned_segments& other);
  owned_segments(owned_segments&&) noexcept = default;
  owned_segments& operator=(owned_segments&&) noexcept = default;
  ~owned_segments() = default;

  static result<owned_segments> empty(const expandable_params& plan);
  static result<owned_segments> copy_of(std::span<const std::byte> payload,
                                        std::span<const segment_extent> extents);
  /// These three: `at` is the hash's place.
  insert_outcome insert(expandable_params& params, hash64 h, const segment_place& at) noexcept {
    return insert_up_to(max_copies_in_cell, params, h, at);
  }
  /// Nothing changes where an entry matches: maybe_present.
  insert_outcome insert_absent(expandable_params& params, hash64 h,
                               const segment_place& at) noexcept {
    return insert_up_to(1, params, h, at);
  }
  bool erase(expandable_params& params, hash64 h, const segment_place& at) noexcept;
  /// Inserts keys of a batch from the first on, as long as each has room where it belongs, fewer
  /// than max_copies_in_cell entries match it, and nothing else is to be done; returns how many. `fresh` is
  /// raised by those that no entry matched.
  std::size_t insert_run(expandable_params& params, std::span<const segment_query> queries,
                         std::uint64_t& fresh) noexcept {
    const std::uint64_t most = params.max_entries();
    if (counts_copies || params.entries >= most) return 0;
    queries = queries.first(std::min<std::uint64_t>(queries.size(), most - params.entries));
    const std::size_t done =
        segment_ops().insert_run(params.cell_bits, queries, max_copies_in_cell, fresh, moved);
    params.entries += done;
    return done;
  }
  /// Inserts the keys that a batch begins with in bulk, if they are many beside the filter, and
  /// adds what became of them to the summary; returns how many they are. Each segment is written
  /// once for all its keys. A chunk of them at a time, with memory for their hashes; what finds no
  /// room is left to insert(), as are the keys behind it.
  std::size_t insert_bulk(expandable_params& params, std::span<const hash64> hashes,
                          insert_summary& summary) noexcept;
  /// Adds every entry and every counted copy of another filter, whose segments are checked, or only
  /// the entries that no other matches, without copies; how many, but for entries that match one
  /// already here. If they have no room or would break the promised rate, nothing has changed.
  result<std::uint64_t> unite(expandable_params& params, const expandable_params& theirs,
                              const segment_spans& others, bool only_absent);
  /// Back to the plan's size, if there is memory for that beside this.
  void clear(expandable_params& params) noexcept;
  void relocate(const memory_mover& mover) noexcept;

  /// Keys of a segment whose copies are counted: a segment has at most 24,576 entries when it is
  /// split, three for each of them. Only chosen keys are more.
  static constexpr std::size_t max_counted = std::size_t{1} << 14;
  /// Entries that match a key before its further copies are counted by hash: two strangers that
  /// match by chance do not yet cost a key sixteen bytes.
  static constexpr std::size_t max_copies_in_cell = 3;

  /// What new memory's pages are while it lives, for so many keys at once; else they are small.
  class [[nodiscard]] page_choice {
   public:
    page_choice(owned_segments& in, std::size_t keys) noexcept : in_(in) {
      in_.pages_ = keys < min_batch_on_huge_pages ? paging::one_by_one : paging::huge;
    }
    page_choice(const page_choice&) = delete;
    page_choice& operator=(const page_choice&) = delete;
    ~page_choice() { in_.pages_ = paging::one_by_one; }

   private:
    owned_segments& in_;
  };
  page_choice pages_for(std::size_t keys) noexcept { return {*this, keys}; }

 private:
  static std::optional<owned_segments> try_empty(const expandable_params& plan) noexcept;
  void empty_in_place(expandable_params& params) noexcept;
  insert_outcome insert_up_to(std::size_t copies, expandable_params& params, hash64 h,
                              segment_place at) noexcept;
  bool grow(expandable_params& params) noexcept;
  bool insert_chunk(expandable_params& params, std::span<const hash64> hashes,
                    insert_summary& summary) noexcept;
  std::size_t merge(expandable_params& params, std::uint64_t segment, bool splits,
                    std::span<hash64> keys, merge_room& room, std::uint64_t& fresh) noexcept;
  bool count_copy(std::uint64_t segment, hash64 h) noexcept;
  result<owned_segments> united(expandable_params& params, const expandable_params& theirs,
                                const segment_spans& others, bool only_absent,
                                std::uint64_t& fresh) const;
  bool uncount_copy(std::uint64_t segment, hash64 h) noexcept;
  bool lay_out(const segment_shape& shape, std::uint64_t segment, std::size_t block,
               std::size_t needed) noexcept;
  bool widen(expandable_params& params, const expandable_params& next) noexcept;
  bool split(expandable_params& params, const expandable_params& next);
  bool put_pair(expandable_params& params, const expandable_params& next, const segment_pair& both);
  void put(std::uint64_t segment, const arena_bytes& place) noexcept;

  segment_arena arena_;
  paging pages_ = paging::one_by_one;
};

template <storage Storage>
class expandable_parts {
  static constexpr bool owns = std::same_as<Storage, owned_storage>;

 public:
  static result<expandable_parts> make(const expandable_params& plan)
    requires owns
  {
    auto made = owned_segments::empty(plan);
    if (!made) return fail(std::move(made.error()));
    expandable_parts parts;
    parts.all_ = std::move(*made);
    return parts;
  }

  static result<expandable_parts> open(const expandable_params& params, const Storage& payload,
                                       std::uint64_t count) {
    const auto all = payload.bytes();
    const auto extents = read_segment_list(params, all, count);
    if (!extents) return fail(extents.error());
    expandable_parts parts;
    if constexpr (owns) {
      auto copied = owned_segments::copy_of(all, *extents);
      if (!copied) return fail(std::move(copied.error()));
      parts.all_ = std::move(*copied);
    } else {
      parts.all_.segments.reserve(extents->size());
      for (const segment_extent& each : *extents) {
        parts.all_.segments.push_back(
            {payload.slice(each.at, each.size), payload.slice(each.counted_at, each.counted_size)});
      }
    }
    parts.all_.list.resize(extents->size());
    std::copy_n(all.begin(), extents->size() * sizeof(segment_entry),
                std::as_writable_bytes(std::span(parts.all_.list)).begin());
    parts.all_.counts_copies = std::any_of(parts.all_.list.begin(), parts.all_.list.end(),
                                           [](const segment_entry& e) { return e.counted != 0; });
    if constexpr (owns) {
      if (auto ok = check_segments(params, parts.spans(), count); !ok) {
        return fail(std::move(ok.error()));
      }
    }
    return parts;
  }

  segment_query query(const segment_place& at) const noexcept {
    expect_segments();
    const auto bytes = all_.segments[at.segment].bytes.bytes();
    return {bytes.data(), bytes.size(), at.rest, at.cell, at.slot_bits};
  }
  segment_view view(const expandable_params& params, const segment_place& at) const noexcept {
    expect_segments();
    return {{params.cell_bits, at.slot_bits}, all_.segments[at.segment].bytes.bytes()};
  }
  /// Whether any copies are counted. O(1): a filter that has counted some may say so for ever.
  bool counts_copies() const noexcept { return all_.counts_copies; }
  bool has_copies(const segment_place& at, hash64 h) const noexcept {
    const std::size_t size = all_.list[at.segment].counted;
    if (size == 0) [[likely]]
      return false;
    return counted_of(all_.segments[at.segment].counted.bytes(), size, h) != 0;
  }
  std::uint64_t count(const expandable_params& params, hash64 h) const noexcept {
    const segment_place at = place_of(params, h);
    return view(params, at).copies(at.cell, at.rest) +
           counted_of(all_.segments[at.segment].counted.bytes(), all_.list[at.segment].counted, h);
  }

  /// To be kept while so many keys are inserted at once.
  owned_segments::page_choice pages_for(std::size_t keys) noexcept { return all_.pages_for(keys); }
  insert_outcome insert(expandable_params& params, hash64 h, const segment_place& at) noexcept {
    expect_segments();
    return all_.insert(params, h, at);
  }
  insert_outcome insert_absent(expandable_params& params, hash64 h,
                               const segment_place& at) noexcept {
    expect_segments();
    return all_.insert_absent(params, h, at);
  }
  /// The first keys of a batch, without one by one what insert() does beside; most of them.
  std::size_t insert_run(expandable_params& params, std::span<const segment_query> queries,
                         std::uint64_t& fresh) noexcept {
    return all_.insert_run(params, queries, fresh);
  }
  std::size_t insert_bulk(expandable_params& params, std::span<const hash64> hashes,
                          insert_summary& summary) noexcept {
    expect_segments();
    return all_.insert_bulk(params, hashes, summary);
  }
  bool erase(expandable_params& params, hash64 h, const segment_place& at) noexcept {
    expect_segments();
    return all_.erase(params, h, at);
  }
  /// A filter over bytes that may be damaged is checked before: `count` is its size.
  template <storage Other>
  result<std::uint64_t> unite(expandable_params& params, const expandable_params& theirs,
                              const expandable_parts<Other>& other, std::uint64_t count,
                              bool only_absent) {
    expect_segments();
    segment_spans others;
    if (!has_memory_for([&] { other.list_spans(others); })) return no_segment_memory();
    if constexpr (!std::same_as<Other, owned_storage>) {
      if (auto ok = check_segments(theirs, others, count); !ok) return fail(std::move(ok.error()));
    }
    return all_.unite(params, theirs, others, only_absent);
  }
  void clear(expandable_params& params) noexcept {
    expect_segments();
    all_.clear(params);
  }
  void relocate(const memory_mover& mover) noexcept { all_.relocate(mover); }

  double rate(const expandable_params& params) const noexcept {
    expect_segments();
    return rate_of(params, all_.segments);
  }
  double distinct_keys(const expandable_params& params, std::uint64_t count) const noexcept {
    return distinct_keys_of(params, all_.segments, all_.list, count);
  }
  segment_spans spans() const {
    segment_spans all;
    list_spans(all);
    return all;
  }
  /// The same, into an empty list.
  void list_spans(segment_spans& all) const {
    expect_segments();
    all.bytes.reserve(all_.segments.size());
    all.counted.reserve(all_.segments.size());
    for (std::size_t i = 0; i < all_.segments.size(); ++i) {
      all.bytes.push_back(all_.segments[i].bytes.bytes());
      all.counted.push_back(
          all_.segments[i].counted.bytes().first(all_.list[i].counted * sizeof(counted_copies)));
    }
  }

  std::uint64_t size_in_bytes() const noexcept {
    expect_segments();
    std::uint64_t all = all_.list.size() * sizeof(segment_entry);
    for (const auto& each : all_.segments) all += each.bytes.bytes().size();
    for (const segment_entry& each : all_.list) all += each.counted * sizeof(counted_copies);
    return all;
  }
  /// As long as it is the same, so are the places that query() names.
  std::uint64_t changes() const noexcept
    requires owns
  {
    return all_.changes;
  }
  std::uint64_t moved_bytes() const noexcept {
    if constexpr (owns) return all_.moved;
    return 0;
  }
  std::vector<std::span<const std::byte>> payload() const {
    expect_segments();
    std::vector<std::span<const std::byte>> all;
    all.reserve(1 + 2 * all_.segments.size());
    all.push_back(std::as_bytes(std::span(all_.list)));
    for (std::size_t i = 0; i < all_.segments.size(); ++i) {
      all.push_back(all_.segments[i].bytes.bytes());
      const std::size_t counted = all_.list[i].counted * sizeof(counted_copies);
      if (counted != 0) all.push_back(all_.segments[i].counted.bytes().first(counted));
    }
    return all;
  }

 private:
  struct shared_segments {
    std::vector<stored_segment<Storage>> segments;
    std::vector<segment_entry> list;
    bool counts_copies = false;
  };

  void expect_segments() const noexcept { expect_not_moved_from(!all_.segments.empty()); }

  std::conditional_t<owns, owned_segments, shared_segments> all_;
};

}  // namespace bloomery::detail
