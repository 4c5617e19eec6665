#pragma once

/// The expandable filter: a variable-length quotient filter in segments, which grows with its keys,
/// one segment at a time, and answers in constant time at any size. Keys can be erased and counted.
///
///     bloomery::expandable seen({.fpr = 0.01});   // for any number of keys
///     seen.insert("alice");
///     seen.erase("alice");
///
/// That entries lose a bit with each doubling and newer ones are longer is InfiniFilter's (N.
/// Dayan, I. Bercea, P. Reviriego and R. Pagh, "InfiniFilter: Expanding Filters to Infinity and
/// Beyond", SIGMOD 2023); that an entry without bits is copied into both halves, so that no second
/// structure is asked, is Aleph Filter's (N. Dayan, I. Bercea and R. Pagh, VLDB 2024). Segments are
/// split in turn as the buckets of linear hashing are (W. Litwin, 1980).

#include <algorithm>
#include <array>
#include <bloomery/concepts.hpp>
#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/detail/core/precondition.hpp>
#include <bloomery/detail/expandable/in_stages.hpp>
#include <bloomery/detail/expandable/segment_native.hpp>
#include <bloomery/detail/expandable/segment_table.hpp>
#include <bloomery/plan/expandable_plan.hpp>
#include <bloomery/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace bloomery {

/// An expandable filter over any storage. A query reads two bytes that say where its block of 32
/// cells is, then the block: one or two cache lines of the filter's bulk, at any size. At 1%, grown
/// from 64 keys: at each doubling 12 to 16.1 bits a key where the growth to come is known, 15 to 18
/// where it is not; with up to 130 keys as many as 21 between, then up to 18.2, and 20 to 22 beyond
/// the growth that was foretold. log2 of the number of doublings twice over is what not knowing n
/// costs.
///
/// Growth: it doubles up to 2^14 keys (2^13 where growth is foretold); from then on with each
/// 12,288th key (6144th) one segment of at most 64 KiB becomes two. No insert moves more than two
/// segments. Batches of 128 keys or more grow it on huge pages, which makes lookups in batches
/// among 10^8 keys a tenth faster, and of which some wait until 2 MiB are cleared, 0.1 to 6 ms;
/// single keys do not. A copy is on huge pages again. The rate never exceeds eps, however far it
/// grows (see plan_expandable).
///
/// Copies: each insert holds one copy more. Three lie in the table; of a key that three entries
/// match already, further ones are counted under its exact hash, 16 bytes a key.
///
/// Full: where 64-bit hashes cannot keep the rate at a larger size (beyond about 10^12 keys at 1%),
/// where there is no memory, or where chosen keys all meet in one segment; then nothing has
/// changed and nothing is lost.
///
/// Erase only what was inserted: a stranger that passes as a member takes a member's copy. Memory
/// is given back when the last key is erased.
///
/// Threads: any number may query at once. Insert and erase need the filter to themselves.
template <piecewise_storage Storage = owned_storage>
class basic_expandable : public detail::key_shell<basic_expandable<Storage>> {
  using shell = detail::key_shell<basic_expandable>;

 public:
  static constexpr filter_kind kind = filter_kind::expandable;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = xxh3_hasher;
  using params_type = expandable_params;
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

  /// An empty filter for a spec known to be good. Throws nothing but std::bad_alloc; a spec that
  /// plan_expandable refuses is a broken precondition and ends the program with its sentence. What
  /// comes from outside goes through make().
  explicit basic_expandable(const expandable_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_expandable(detail::or_die(make(spec))) {}

  /// An empty filter, or why there is none. O(capacity).
  static result<basic_expandable> make(const expandable_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    const auto plan = plan_expandable(spec);
    if (!plan) return fail(plan.error());
    auto parts = parts_type::make(*plan);
    if (!parts) return fail(std::move(parts.error()));
    return basic_expandable(*plan, std::move(*parts), 0);
  }

  /// The filter in `bytes`, as image() gave them, with `count` keys. What does not fit the
  /// parameters is corrupt. Mapped and borrowed bytes are shared, and only the list of segments is
  /// read; owned ones are copied and checked, O(size), since inserts rely on them.
  static result<basic_expandable> open(const expandable_params& params, const Storage& bytes,
                                       std::uint64_t count) {
    if (!params.possible()) {
      return fail(errc::invalid_argument, "the expandable filter's parameters are out of range");
    }
    auto parts = parts_type::open(params, bytes, count);
    if (!parts) return fail(std::move(parts.error()));
    return basic_expandable(params, std::move(*parts), count);
  }

  using shell::count;
  using shell::erase;
  using shell::insert;
  using shell::may_contain;

  /// Whether the key of this hash may be a member: false is certain.
  [[gnu::always_inline]] bool may_contain(const hash_type& h) const noexcept {
    const auto at = detail::place_of(params_, h);
#ifdef BLOOMERY_NATIVE_SEGMENTS
    using view = detail::native_segments::segment_view;
    const bool found =
        view({params_.cell_bits, at.slot_bits}, parts_.query(at).segment()).holds(at.cell, at.rest);
#else
    const bool found = detail::segment_ops().holds(params_.cell_bits, parts_.query(at));
#endif
    return found || parts_.has_copies(at, h);
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash_type> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::ask_in_stages(params_, parts_, hs, answers.data());
    if (!parts_.counts_copies()) [[likely]]
      return;
    for (std::size_t i = 0; i < hs.size(); ++i) {
      if (!answers[i]) answers[i] = parts_.has_copies(detail::place_of(params_, hs[i]), hs[i]);
    }
  }

  /// Inserts one copy: `inserted` if none was there, else `maybe_present`; `full` has changed
  /// nothing.
  insert_outcome insert(const hash_type& h) noexcept
    requires growable_storage<Storage>
  {
    return insert_at(h, detail::place_of(params_, h));
  }

  /// Inserts a batch, in order, up to the first key without room. One of 32,768 keys or more, and
  /// a key for 16 cells, a tenth of what the filter holds, is brought together by segment and each
  /// segment written once: a third of the time, for 8 to 16 bytes a key, at most 256 MiB, the
  /// while.
  insert_summary insert(std::span<const hash_type> hs) noexcept
    requires growable_storage<Storage>
  {
    insert_summary summary;
    const auto pages = parts_.pages_for(hs.size());
    const std::size_t done = parts_.insert_bulk(params_, hs, summary);
    count_ += done;
    hs = hs.subspan(done);
    detail::insert_in_stages(
        params_, parts_, hs,
        [&](std::span<const detail::segment_query> queries) noexcept {
          std::uint64_t fresh = 0;
          const std::size_t run = parts_.insert_run(params_, queries, fresh);
          count_ += run;
          summary.done += run;
          summary.inserted += fresh;
          summary.maybe_present += run - fresh;
          return run;
        },
        [&](std::size_t i, const detail::segment_place& at) noexcept {
          const insert_outcome outcome = insert_at(hs[i], at);
          if (!is_contained(outcome)) {
            summary.stopped_by = outcome;
            return false;
          }
          ++summary.done;
          ++(outcome == insert_outcome::inserted ? summary.inserted : summary.maybe_present);
          return true;
        });
    return summary;
  }

  /// Inserts the keys of a batch that are not contained yet, in order, up to the first without
  /// room, and says of each whether it was such: one look at each key. Precondition: added.size()
  /// >= hs.size().
  insert_summary insert_absent(std::span<const hash_type> hs, std::span<bool> added) noexcept
    requires growable_storage<Storage>
  {
    assert(added.size() >= hs.size());
    insert_summary summary;
    summary.done = hs.size();
    const std::span<bool> contained = added.first(hs.size());
    const auto pages = parts_.pages_for(hs.size());
    detail::insert_absent_in_stages(
        params_, parts_, hs, contained,
        [&](std::size_t i, const detail::segment_place& at) noexcept {
          const insert_outcome outcome = parts_.insert_absent(params_, hs[i], at);
          contained[i] = outcome == insert_outcome::maybe_present;
          if (is_contained(outcome)) return true;
          summary.stopped_by = outcome;
          summary.done = i;
          return false;
        });
    for (std::size_t i = 0; i < summary.done; ++i) {
      added[i] = !contained[i];
      summary.inserted += static_cast<std::size_t>(added[i]);
    }
    summary.maybe_present = summary.done - summary.inserted;
    count_ += summary.inserted;
    return summary;
  }

  /// Takes back one copy; false, and nothing changes, if there is none. Of several entries that
  /// match the longest goes, so that the rest still match every other key. The last key's erase is
  /// a clear(): the bytes are those of an empty filter then, O(segments).
  bool erase(const hash_type& h) noexcept
    requires growable_storage<Storage>
  {
    return erase_at(h, detail::place_of(params_, h));
  }

  /// Erases a batch, in order. Precondition: erased.size() >= hs.size().
  void erase(std::span<const hash_type> hs, std::span<bool> erased) noexcept
    requires growable_storage<Storage>
  {
    assert(erased.size() >= hs.size());
    detail::change_in_stages(params_, parts_, hs,
                             [&](std::size_t i, const detail::segment_place& at) noexcept {
                               erased[i] = erase_at(hs[i], at);
                               return true;
                             });
  }

  /// Copies of the key: never too low, and too high by the entries of others that match it.
  std::uint64_t count(const hash_type& h) const noexcept { return parts_.count(params_, h); }

  /// Adds every copy that the other filter holds, of whatever size, rate and growth; the keys are
  /// not needed. The union keeps this filter's rate. If it could not, as both have spent too much
  /// of it, or if the seeds differ, the filters are incompatible: merge both into an empty filter
  /// that is made for the sum of their rates. Without room: full. Nothing has changed then. O(size
  /// of both); takes as much memory again as the union while it runs.
  template <piecewise_storage Other>
  result<void> merge(const basic_expandable<Other>& other)
    requires growable_storage<Storage>
  {
    if (params_.seed != other.params().seed) return other_seed();
    if (other.size() == 0) return {};
    if (other.size() > std::numeric_limits<std::uint64_t>::max() - count_) {
      return fail(errc::full, "a filter counts fewer than 2^64 copies");
    }
    auto done = parts_.unite(params_, other.params(), other.parts_, other.size(), false);
    if (!done) return fail(std::move(done.error()));
    count_ += other.size();
    return {};
  }

  /// The same for keys that are not contained yet, as insert_absent() has it: what matches an entry
  /// is left out, and of copies one is added. The union of two sets, which counts a key of both
  /// once, up to strangers that match.
  template <piecewise_storage Other>
  result<void> merge_absent(const basic_expandable<Other>& other)
    requires growable_storage<Storage>
  {
    if (params_.seed != other.params().seed) return other_seed();
    if constexpr (std::same_as<Other, Storage>) {
      if (&other == this) return {};
    }
    if (other.size() == 0) return {};
    auto added = parts_.unite(params_, other.params(), other.parts_, other.size(), true);
    if (!added) return fail(std::move(added.error()));
    count_ += std::min(*added, other.size());
    return {};
  }

  /// Removes every key and goes back to the size that it was made with; where there is no memory
  /// for that, it stays as large as it is.
  void clear() noexcept
    requires growable_storage<Storage>
  {
    parts_.clear(params_);
    count_ = 0;
  }

  const expandable_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }
  /// Whether it takes keys beyond capacity() at the promised rate: this kind does.
  bool grows() const noexcept
    requires growable_storage<Storage>
  {
    return true;
  }

  /// What it was made for, or once it has grown, or if it was for fewer than 33, the keys before
  /// its next step.
  std::uint64_t capacity() const noexcept { return params_.room(); }
  /// Copies held.
  std::uint64_t size() const noexcept { return count_; }
  /// The rate that was asked for, which the mean over all seeds of the hash function keeps within
  /// at any size.
  double planned_fpr() const noexcept { return params_.fpr; }
  std::uint64_t size_in_bytes() const noexcept { return parts_.size_in_bytes(); }

  /// The share of the entries before the next step that are there: 1 also where a step was refused
  /// and there are more.
  double fill() const noexcept {
    return std::min(
        1.0, static_cast<double>(params_.entries) / static_cast<double>(params_.max_entries()));
  }
  /// The rate of the entries as they stand, exact up to equal hashes: the share of all hashes that
  /// match one. O(size).
  double current_fpr() const noexcept { return parts_.rate(params_); }
  /// Distinct keys: different entries, and those that are estimated to match another's by chance.
  /// size(), if copies are no more than chance explains. O(size).
  double estimate_size() const noexcept { return parts_.distinct_keys(params_, count_); }

  /// Bytes that inserts have written since the filter was made or opened, growth included.
  std::uint64_t moved_bytes() const noexcept { return parts_.moved_bytes(); }

  /// Lets the host move the memory (memory_source.hpp).
  void relocate(const memory_mover& mover) noexcept
    requires growable_storage<Storage>
  {
    parts_.relocate(mover);
  }

  /// What save() writes. Refers to this filter's segments.
  filter_image image() const {
    return {{kind, kind_version, hasher_type::id, params_.seed, count_},
            params_.encode(),
            parts_.payload()};
  }

 private:
  template <piecewise_storage Other>
  friend class basic_expandable;
  using parts_type = detail::expandable_parts<Storage>;

  static tl::unexpected<failure> other_seed() {
    return fail(errc::incompatible,
                "the filters hash with different seeds; build them with the same one");
  }

  basic_expandable(const expandable_params& params, parts_type parts, std::uint64_t count)
      : params_(params), parts_(std::move(parts)), count_(count) {}

  insert_outcome insert_at(const hash_type& h, const detail::segment_place& at) noexcept {
    const insert_outcome outcome = parts_.insert(params_, h, at);
    count_ += is_contained(outcome);
    return outcome;
  }
  bool erase_at(const hash_type& h, const detail::segment_place& at) noexcept {
    if (!parts_.erase(params_, h, at)) return false;
    // A count from a damaged file may be too low.
    count_ -= count_ != 0;
    if (count_ == 0) clear();
    return true;
  }

  expandable_params params_;
  parts_type parts_;
  std::uint64_t count_;
};

/// The expandable filter in its own memory.
using expandable = basic_expandable<>;
/// One over a mapped file, read-only.
using expandable_view = basic_expandable<mapped_storage>;

static_assert(insertable<expandable> && erasable<expandable> && countable<expandable> &&
              mergeable<expandable>);
static_assert(membership_filter<expandable_view> && !insertable<expandable_view>);

}  // namespace bloomery
