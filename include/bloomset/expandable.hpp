#pragma once

/// The expandable filter: a variable-length quotient filter in segments. It grows with its keys,
/// one segment at a time. Keys can be erased and counted.
///
///     bloomset::expandable seen({.fpr = 0.01});   // for any number of keys
///     seen.insert("alice");
///     seen.erase("alice");
///
/// Sources:
///     An entry is a part of a key's hash. With each doubling it loses a bit, so newer entries are
///     longer: N. Dayan, I. Bercea,
///     P. Reviriego and R. Pagh, "InfiniFilter: Expanding Filters to Infinity and Beyond", SIGMOD
///     2023.
///     An entry that has lost all bits is copied into both halves of a split, so that no second
///     structure is queried:
///     N. Dayan, I. Bercea and R. Pagh, "Aleph Filter", VLDB 2024.
///     Segments are split in turn, as the buckets of linear hashing: W. Litwin, 1980.

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/figures.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/detail/expandable/batch_pipeline.hpp>
#include <bloomset/detail/expandable/segment_native.hpp>
#include <bloomset/detail/expandable/segment_table.hpp>
#include <bloomset/plan/expandable_plan.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace bloomset {

/// A filter that grows with its keys, one segment at a time.
///
/// Space at 1%, grown from 64 keys, in bits per key at each doubling:
///     growth known in advance    12 to 16.1   (20 to 22 beyond the planned growth)
///     growth unknown             15 to 18
/// Between doublings a filter of unknown growth needs up to 21 bits per key for at most 130 keys,
/// and up to 18.2 for more. Not knowing n costs about log2 log2 n extra bits per key (Pagh, Segev
/// and Wieder, 2013).
///
/// Query       O(1): reads the block's offset, then the block (32 cells, one or two cache lines).
/// Insert      O(1) amortised. The worst case moves two segments of at most 64 KiB.
/// Growth      Doubles as a whole up to 2^14 keys, then splits one segment every 12,288 inserts
///             (2^13 and 6144 if the growth is known). The mean rate over keys chosen at random
///             never exceeds eps, however far the filter grows (see plan_expandable). With growth 1
///             the rate at the capacity is 0.8 to 0.95 of eps from 4000 keys on, and the first key
///             beyond it rewrites all segments once.
/// Duplicates  Each insert adds a copy. The table holds three matching entries; further copies are
///             counted by full hash, 16 bytes per key.
/// Full        Reports `full` and changes nothing if 64-bit hashes cannot keep the rate at the next
///             size (about 4 * 10^14 keys at 1%), if memory runs out, or if chosen keys crowd a
///             segment.
/// Erase       Only keys that were inserted: erasing a non-member that matches removes a member.
///             Erasing the last key frees the memory.
/// Pages       Memory that batches of at least 128 keys add uses huge pages. Memory that single
///             keys add uses small pages. With huge pages, batched queries among 10^8 keys take a
///             tenth less time, but an insert may wait 0.1 to 6 ms until the kernel has cleared 2
///             MiB. A copied filter uses huge pages.
/// Threads     Concurrent queries are safe. Insert and erase need exclusive access.
template <piecewise_storage Storage = owned_storage>
class basic_expandable : public detail::key_overloads<basic_expandable<Storage>> {
  using overloads = detail::key_overloads<basic_expandable>;

 public:
  static constexpr filter_kind kind = filter_kind::expandable;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  using params_type = expandable_params;
  using spec_type = expandable_spec;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <piecewise_storage Other>
  using rebind_storage = basic_expandable<Other>;

  basic_expandable(const basic_expandable&)
    requires std::copy_constructible<Storage>
  = default;
  basic_expandable(basic_expandable&&) = default;
  basic_expandable& operator=(const basic_expandable& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_expandable(other);
    return *this;
  }
  basic_expandable& operator=(basic_expandable&&) = default;
  ~basic_expandable() = default;

  /// An empty filter. Precondition: plan_expandable accepts the spec; otherwise the program prints
  /// the planner's error and ends. Use make() for values from outside the program. Throws only
  /// std::bad_alloc.
  explicit basic_expandable(const expandable_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_expandable(detail::or_die(make(spec))) {}

  /// An empty filter, or an error if the spec is refused or memory runs out. O(capacity).
  static result<basic_expandable> make(const expandable_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    const auto plan = plan_expandable(spec);
    if (!plan) return fail(plan.error());
    auto table = detail::owned_segments::empty(*plan);
    if (!table) return fail(std::move(table.error()));
    return basic_expandable(*plan, table_type(std::move(*table)), 0);
  }

  /// The filter of `count` keys whose payload is `bytes` (see image()). Fails with corrupt if the
  /// payload does not fit the parameters. Mapped and borrowed bytes are shared, and only the list
  /// of segments is read: O(segments). Owned bytes are copied and checked, because inserts rely on
  /// them: O(size).
  static result<basic_expandable> open(const expandable_params& params, const Storage& bytes,
                                       std::uint64_t count) {
    if (!params.possible()) {
      return fail(errc::invalid_argument, "the expandable filter's parameters are out of range");
    }
    auto table = table_type::open(params, bytes, count);
    if (!table) return fail(std::move(table.error()));
    return basic_expandable(params, std::move(*table), count);
  }

  using overloads::count;
  using overloads::erase;
  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain.
  [[gnu::always_inline]] bool may_contain(const hash_type& h) const noexcept {
    const auto at = detail::place_of(params_, h);
    const detail::segment_query query = table().query(at);
    // In a filter beyond the second-level cache: its segments have about 20 KB.
    if (params_.level >= min_prefetched_level) {
      const detail::segment_view view({params_.cell_bits, at.slot_bits}, query.segment());
      view.prefetch_likely<0>(at.cell);
    }
    return detail::native_segments::contains(params_, query) || table_.counted(at, h) != 0;
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash_type> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::query_pipeline(params_, table(), hs, answers.data());
    for (std::size_t i = 0; table_.counts_copies && i < hs.size(); ++i) {
      if (!answers[i]) answers[i] = table_.counted(detail::place_of(params_, hs[i]), hs[i]) != 0;
    }
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(const hash_type& h, Has&& has) const
    requires(!growable_storage<Storage>)
  {
    const auto at = detail::place_of(params_, h);
    const std::uint64_t begin = table().offset(at.segment);
    const auto bytes = table().query(at).segment();
    const auto copies = table_.segments[at.segment].copies();
    const std::uint64_t after = begin + bytes.size();
    const bool has_copies = copies.empty() || has(byte_interval{after, after + copies.size()});
    const std::uint64_t offsets = begin + 2 * std::uint64_t{at.cell / detail::block_cells};
    if (!has(byte_interval{offsets, offsets + 4})) return false;
    const detail::segment_shape shape{params_.cell_bits, at.slot_bits};
    const byte_interval block = detail::segment_view(shape, bytes).block_of(at.cell);
    const std::uint64_t area = begin + shape.offset_bytes();
    return has(byte_interval{area + block.begin, area + block.end}) && has_copies;
  }
  /// The bytes that open() reads: the list of segments.
  template <class Use>
  static void trace_open(const expandable_params& params, Use&& use) {
    use(byte_interval{0, params.segments() * sizeof(detail::segment_entry)});
  }

  /// Inserts one copy: `inserted` if no entry matched, otherwise `maybe_present`. On `full`
  /// nothing has changed.
  insert_outcome insert(const hash_type& h) noexcept
    requires growable_storage<Storage>
  {
    table().prefetch_to_change(params_, h);
    const insert_outcome outcome = table_.insert(params_, h);
    count_ += is_contained(outcome);
    return outcome;
  }

  /// Inserts a batch in order, up to the first key without room.
  ///
  /// Batches of at least 32,768 keys that also hold at least one key per 16 cells (a tenth of the
  /// filter's keys) are grouped by segment first, so that each segment is rewritten once. This
  /// takes a third of the time and 8-16 bytes of temporary memory per key, at most 256 MiB.
  insert_summary insert(std::span<const hash_type> hs) noexcept
    requires growable_storage<Storage>
  {
    insert_summary summary;
    table().set_batch(hs.size());
    table_.insert_bulk(params_, hs, summary);
    const auto insert_group = [&](auto& group) noexcept {
      for (std::size_t i = 0;; ++i) {
        i += table_.insert_run(params_, group.queries().subspan(i), summary);
        if (i == group.keys().size()) return true;
        if (!summary.add(table_.insert(params_, group.keys()[i]))) return false;
      }
    };
    detail::change_pipeline(params_, table_, hs.subspan(summary.done), insert_group);
    count_ += summary.done;
    table_.set_batch(1);
    return summary;
  }

  /// Inserts, in order, the keys of a batch that are not contained yet, up to the first without
  /// room. added[i] tells whether hs[i] was inserted. Precondition: added.size() >= hs.size().
  insert_summary insert_absent(std::span<const hash_type> hs, std::span<bool> added) noexcept
    requires growable_storage<Storage>
  {
    assert(added.size() >= hs.size());
    insert_summary summary;
    table().set_batch(hs.size());
    const auto insert_group = [&](auto& group) noexcept {
      bool* const contained = added.data() + summary.done;
      detail::segment_ops().contains_batch(params_.cell_bits, group.queries(), {}, contained);
      for (const hash64 h : group.keys()) {
        bool& is_added = added[summary.done];  // still whether it is contained
        const insert_outcome outcome =
            is_added ? insert_outcome::maybe_present : table_.insert(params_, h, 1);
        is_added = outcome == insert_outcome::inserted;
        if (!summary.add(outcome)) return false;
      }
      return true;
    };
    detail::change_pipeline(params_, table_, hs, insert_group);
    for (bool& behind : added.first(hs.size()).subspan(summary.done)) behind = false;
    table_.set_batch(1);
    count_ += summary.inserted;
    return summary;
  }

  /// Removes one copy; returns false and changes nothing if no entry matches. If several
  /// entries match, it removes the longest: the shorter ones match every key that the longest does,
  /// so no other member is lost. Erasing the
  /// last key is a clear(), O(segments): the bytes are then those of an empty filter.
  bool erase(const hash_type& h) noexcept
    requires growable_storage<Storage>
  {
    table().prefetch_to_change(params_, h);
    return erase_prefetched(h);
  }

  /// Erases a batch, in order. Precondition: erased.size() >= hs.size().
  void erase(std::span<const hash_type> hs, std::span<bool> erased) noexcept
    requires growable_storage<Storage>
  {
    assert(erased.size() >= hs.size());
    bool* next = erased.data();
    detail::change_pipeline(params_, table(), hs, [&](auto& group) noexcept {
      for (const hash64 h : group.keys()) *next++ = erase_prefetched(h);
      return true;
    });
  }

  /// Copies of the key. Never too low; too high by the entries of other keys that match it.
  std::uint64_t count(const hash_type& h) const noexcept {
    const auto at = detail::place_of(params_, h);
    const detail::segment_view view({params_.cell_bits, at.slot_bits}, table().query(at).segment());
    return view.copies(at.cell, at.remainder) + table_.counted(at, h);
  }

  /// Adds every copy in the other filter, whose size, rate and growth may differ. The keys are not
  /// needed, and the union keeps this filter's rate.
  ///
  /// Fails with `incompatible` if the seeds differ, or if both filters have used too much of the
  /// rate for the union to keep it. In that case make an empty filter for the sum of their rates
  /// and merge both into it. Fails with `full` if there is no room. A failure changes nothing.
  /// O(size of both); needs as much temporary memory as the union has.
  template <piecewise_storage Other>
  result<void> merge(const basic_expandable<Other>& other)
    requires growable_storage<Storage>
  {
    return unite(other, false);
  }

  /// Adds the other filter's keys that are not contained yet, one copy each: the union of two sets.
  /// A key that matches an entry here is left out. A key of both filters is therefore counted once,
  /// and a key that only seems to be contained here is not added. Fails as merge() does.
  ///
  /// Warning: do not erase from the union. A key that was left out shares the entry of another key,
  /// and size() may be lower than the number of entries.
  template <piecewise_storage Other>
  result<void> merge_absent(const basic_expandable<Other>& other)
    requires growable_storage<Storage>
  {
    if constexpr (std::same_as<Other, Storage>) {
      if (&other == this) return {};
    }
    return unite(other, true);
  }

  /// Removes every key and returns to the initial size. Keeps its size if memory runs out.
  void clear() noexcept
    requires growable_storage<Storage>
  {
    table().clear(params_);
    count_ = 0;
  }

  const expandable_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }
  /// Whether the filter accepts keys beyond capacity() at the promised rate. This kind does.
  bool grows() const noexcept
    requires growable_storage<Storage>
  {
    return true;
  }

  /// The capacity that the filter was made for. After growth, or if that capacity is below 33, it
  /// is the number of keys at which the next growth step begins.
  std::uint64_t capacity() const noexcept { return params_.room(); }
  /// Copies of all keys.
  std::uint64_t size() const noexcept { return count_; }
  /// The requested rate. The mean rate over all seeds of the hash function is at most this at any
  /// size.
  double planned_fpr() const noexcept { return params_.fpr; }
  std::uint64_t size_in_bytes() const noexcept { return table().size_in_bytes(); }

  /// The number of entries, divided by the number at which the next growth step begins. At most 1,
  /// even if a step failed and there are more entries.
  double fill() const noexcept {
    return detail::min(
        1.0, static_cast<double>(params_.entries) / static_cast<double>(params_.max_entries()));
  }
  /// The present rate: the fraction of all hashes that match an entry. It is exact except for equal
  /// hashes. O(size).
  double current_fpr() const noexcept { return table_figures().rate; }
  /// Estimated distinct keys: different entries, plus the keys that probably share an entry by
  /// chance. Returns size() if chance explains all equal entries. O(size).
  double estimate_size() const noexcept { return table_figures().distinct_keys; }
  /// The results of fill(), current_fpr() and estimate_size(), for which the table is read once.
  /// O(size).
  detail::filter_figures figures() const noexcept {
    const detail::table_figures found = table_figures();
    return {fill(), found.rate, found.distinct_keys};
  }

  /// Lets the host move the memory (memory_source.hpp).
  void relocate(const memory_mover& mover) noexcept
    requires growable_storage<Storage>
  {
    table_.relocate(mover);
  }

  /// The contents of a file, as save() writes it. Refers to this filter's segments.
  filter_image image() const { return detail::image_of(*this, params_.seed, table().payload()); }

 private:
  detail::table_figures table_figures() const noexcept {
    return detail::figures_of(params_, table().segments, count_);
  }
  template <piecewise_storage Other>
  friend class basic_expandable;
  using table_type = detail::segment_table<Storage>;
  static constexpr unsigned min_prefetched_level = 8;

  basic_expandable(const expandable_params& params, table_type table, std::uint64_t count)
      : params_(params), table_(std::move(table)), count_(count) {}

  bool erase_prefetched(hash64 h) noexcept
    requires growable_storage<Storage>
  {
    if (!table_.erase(params_, h)) return false;
    // The count may be too low in a damaged file and after merge_absent().
    count_ -= count_ != 0;
    if (count_ == 0) clear();
    return true;
  }

  template <piecewise_storage Other>
  result<void> unite(const basic_expandable<Other>& other, bool only_absent) {
    if (params_.seed != other.params().seed) {
      return fail(errc::incompatible,
                  "the filters hash with different seeds or keys; build them with the same one");
    }
    if (other.size() == 0) return {};
    if (!only_absent && other.size() > std::numeric_limits<std::uint64_t>::max() - count_) {
      return fail(errc::full, "a filter counts fewer than 2^64 copies");
    }
    detail::segment_spans others;
    if (!detail::has_memory_for([&] { others = detail::spans_of(other.table().segments); })) {
      return detail::no_segment_memory();
    }
    if constexpr (!growable_storage<Other>) {  // open() has not checked them
      if (auto ok = detail::check_segments(other.params(), others, other.size()); !ok) return ok;
    }
    auto added = table().unite(params_, other.params(), others, only_absent);
    if (!added) return fail(std::move(added.error()));
    count_ += only_absent ? detail::min(*added, other.size()) : other.size();
    return {};
  }

  table_type& table() noexcept {
    detail::expect_not_moved_from(!table_.segments.empty());
    return table_;
  }
  const table_type& table() const noexcept {
    detail::expect_not_moved_from(!table_.segments.empty());
    return table_;
  }

  expandable_params params_;
  table_type table_;
  std::uint64_t count_;
};

/// The expandable filter in its own memory.
using expandable = basic_expandable<>;
/// A read-only expandable filter over a mapped file.
using expandable_view = basic_expandable<mapped_storage>;

}  // namespace bloomset
