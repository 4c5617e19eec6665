#pragma once

/// The cuckoo filter (B. Fan, D. G. Andersen, M. Kaminsky, M. Mitzenmacher, "Cuckoo Filter:
/// Practically Better Than Bloom", CoNEXT 2014): a hash table of short fingerprints, with two
/// buckets for each key. Keys can be erased and counted.
///
///     bloomset::cuckoo sessions({.capacity = 1'000'000, .fpr = 0.01});
///     if (!is_contained(sessions.insert("alice"))) ask_for_a_larger_one();
///     sessions.erase("alice");

#include <array>
#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/figures.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/detail/cuckoo/layout.hpp>
#include <bloomset/detail/cuckoo/table.hpp>
#include <bloomset/plan/cuckoo_plan.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace bloomset {

/// A cuckoo filter over any storage.
///
/// Space       About 10.5 bits per key at 1%, 13.7 at 0.1%, with 4 slots per bucket.
/// Query       O(1): two buckets, that is two cache misses. A batch prefetches them.
/// Insert      O(1) while one of the two buckets has a free slot. Otherwise a breadth-first search
///             for a chain of moves reads at most about 4,000 buckets. The search takes 0.05 to
///             0.25 ms in a table of 100,000 keys, and more in larger tables.
/// Full        Planned capacities fit (see plan_cuckoo). If the search fails, one of four stash
///             entries is used. If none is free, the outcome is `full` and the filter is unchanged.
/// Duplicates  Each insert adds a copy in a slot of its own. A key can have 2 * `slots` copies, or
///             `slots` if its two buckets are the same, which is rare. The next insert reports
///             too_many_copies. The filter cannot distinguish keys with equal fingerprint and
///             buckets.
/// Erase       Only keys that were inserted: erasing a non-member that matches removes a copy of a
///             member.
/// Threads     Concurrent queries are safe. Insert and erase need exclusive access.
template <storage Storage = owned_storage>
class basic_cuckoo : public detail::key_overloads<basic_cuckoo<Storage>> {
  using overloads = detail::key_overloads<basic_cuckoo>;

 public:
  static constexpr filter_kind kind = filter_kind::cuckoo;
  static constexpr std::uint16_t kind_version = cuckoo_params::kind_version;
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  using params_type = cuckoo_params;
  using spec_type = cuckoo_spec;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_cuckoo<Other>;

  /// An empty filter. Precondition: plan_cuckoo accepts the spec; otherwise the program prints the
  /// planner's error and ends. Use make() for values from outside the program. Throws only
  /// std::bad_alloc.
  explicit basic_cuckoo(const cuckoo_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_cuckoo(detail::or_die(make(spec))) {}

  /// An empty filter, or the failure of plan_cuckoo, or out_of_memory.
  static result<basic_cuckoo> make(const cuckoo_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    const auto plan = plan_cuckoo(spec);
    if (!plan) return fail(plan.error());
    auto memory = owned_storage::make(plan->payload_bytes());
    if (!memory) return fail(std::move(memory.error()));
    return open(*plan, std::move(*memory), 0);
  }

  /// A filter of `count` copies over the payload of image(). Fails with corrupt if the payload does
  /// not fit the parameters. O(1), as the slots are not read.
  static result<basic_cuckoo> open(const cuckoo_params& params, Storage bytes,
                                   std::uint64_t count) {
    if (!params.possible()) {
      return fail(errc::invalid_argument, "the cuckoo filter's parameters are out of range");
    }
    const detail::cuckoo_layout layout(params.buckets, params.slots, params.fingerprint_bits);
    if (bytes.bytes().size() != layout.payload_bytes()) {
      return fail(errc::corrupt, "the cuckoo filter's slots do not fit its parameters");
    }
    const auto stashed = detail::check_stash(layout, bytes.bytes());
    if (!stashed || count < *stashed || count - *stashed > params.buckets * params.slots) {
      return fail(errc::corrupt, "the cuckoo filter's stash or count contradicts its slots");
    }
    return basic_cuckoo(params, std::move(bytes), count, *stashed);
  }

  using overloads::count;
  using overloads::erase;
  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member; false is certain.
  bool may_contain(const hash_type& h) const noexcept {
    const std::byte* payload = bytes_.bytes().data();
    const cuckoo_place at = layout_.place(h);
    bool found = layout_.contains(payload, at);
    if (stashed_ != 0) [[unlikely]]
      found |= detail::is_stashed(layout_, payload, stashed_, h);
    return found;
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash_type> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::cuckoo_may_contain(layout_, bytes_.bytes().data(), stashed_, hs, answers.data());
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(const hash_type& h, Has&& has) const {
    const cuckoo_place at = layout_.place(h);
    const bool has_first = has(layout_.bucket_bytes(at.first));
    return has(layout_.bucket_bytes(at.second)) && has_first;
  }
  /// The bytes that open() reads, except zeros: the stash.
  template <class Use>
  static void trace_open(const cuckoo_params& params, Use&& use) {
    const detail::cuckoo_layout layout(params.buckets, params.slots, params.fingerprint_bits);
    use(byte_interval{layout.stash_at(), layout.payload_bytes()});
  }

  /// Inserts one copy. Returns `inserted` if there was none, `maybe_present` if there was one.
  /// Returns `full` or too_many_copies if there is no room; then nothing has changed.
  insert_outcome insert(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    return insert_at(layout_.place(h));
  }

  /// Inserts a batch, in order, up to the first key without room.
  insert_summary insert(std::span<const hash_type> hs) noexcept
    requires writable_storage<Storage>
  {
    insert_summary summary;
    std::array<cuckoo_place, 32> places;  // their buckets are prefetched together
    for (std::size_t first = 0; first < hs.size(); first += places.size()) {
      const std::size_t n = detail::min(places.size(), hs.size() - first);
      for (std::size_t i = 0; i < n; ++i) {
        places[i] = layout_.place(hs[first + i]);
        layout_.prefetch(bytes_.bytes().data(), places[i]);
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (!summary.add(insert_at(places[i]))) return summary;
      }
    }
    return summary;
  }

  /// Erases one copy. Returns false, and changes nothing, if there is none. A stashed fingerprint
  /// of the bucket moves into the free slot.
  bool erase(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    if (!detail::erase_copy(layout_, payload(), stashed_, layout_.place(h))) return false;
    // The count of a damaged file may be too low; it stays at least the number of stash entries.
    count_ -= count_ > stashed_;
    return true;
  }

  /// Copies of the key, and of other keys with the same fingerprint and buckets.
  std::uint64_t count(const hash_type& h) const noexcept {
    return detail::all_copies(layout_, bytes_.bytes().data(), stashed_, layout_.place(h));
  }

  /// Removes every key.
  void clear() noexcept
    requires writable_storage<Storage>
  {
    detail::fill_zero(bytes_.writable_bytes());
    count_ = 0;
    stashed_ = 0;
  }

  /// Inserts every copy of the other filter. The keys themselves are not needed. Fails with
  /// incompatible if the filters differ in buckets, slots, fingerprint bits or seed. Fails with
  /// `full` if not all copies fit, and with out_of_memory. A failure changes nothing. O(slots).
  /// Temporarily needs as much memory again as this filter has.
  template <storage Other>
  result<void> merge(const basic_cuckoo<Other>& other)
    requires writable_storage<Storage>
  {
    if (auto ok = same_shape(params_, other.params()); !ok) return ok;
    auto merged = owned_storage::copy_of(bytes_.bytes());
    if (!merged) return fail(std::move(merged.error()));
    std::byte* const into = merged->writable_bytes().data();
    unsigned stashed = stashed_;
    const auto added = detail::insert_all(layout_, into, stashed, other.bytes().data());
    if (added.stopped_by == insert_outcome::too_many_copies) {
      return fail(errc::full,
                  "the union would have more copies of a key than two buckets hold; erase copies, "
                  "or use a vector_quotient filter");
    }
    if (added.stopped_by == insert_outcome::full) {
      return fail(
          errc::full,
          "the other filter's keys do not all fit; merge into a filter planned for both sets");
    }
    std::memcpy(payload(), into, size_in_bytes());
    count_ += added.done;
    stashed_ = stashed;
    return {};
  }

  const cuckoo_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }
  std::span<const std::byte> bytes() const noexcept { return bytes_.bytes(); }

  std::uint64_t capacity() const noexcept { return params_.capacity; }
  /// Copies of all keys: slots and stash entries in use.
  std::uint64_t size() const noexcept { return count_; }
  double planned_fpr() const noexcept { return params_.fpr; }
  std::uint64_t size_in_bytes() const noexcept { return bytes_.bytes().size(); }

  /// The load: slots in use / slots.
  double fill() const noexcept {
    return static_cast<double>(count_ - stashed_) /
           (static_cast<double>(params_.buckets) * params_.slots);
  }
  /// The rate of the stored fingerprints: passing / (buckets (2^f - 1)) + n / 2^64, where `passing`
  /// counts the pairs (first bucket, fingerprint) that pass as a member. A stored fingerprint lets
  /// two pairs pass, one per bucket of its key. All pairs are equally likely. O(slots).
  double current_fpr() const noexcept { return rate_of(census()); }
  /// Estimates the distinct keys: different fingerprints, plus the keys expected to share one by
  /// chance. Equals size() if chance explains all copies. O(slots).
  double estimate_size() const noexcept { return keys_of(census()); }
  /// The results of fill(), current_fpr() and estimate_size(), for which the fingerprints are
  /// counted once. O(slots).
  detail::filter_figures figures() const noexcept {
    const detail::cuckoo_census found = census();
    return {fill(), rate_of(found), keys_of(found)};
  }

  /// For visualisation: the places of a key.
  cuckoo_place place(const hash_type& h) const noexcept { return layout_.place(h); }
  /// The fingerprint in a slot; 0 if it is free. Preconditions: bucket < params().buckets, slot <
  /// params().slots.
  std::uint32_t slot(std::uint64_t bucket, unsigned slot) const noexcept {
    return layout_.get(bytes_.bytes().data(), bucket, slot);
  }
  /// The number of fingerprints in the stash.
  unsigned stashed() const noexcept { return stashed_; }

  /// The fields and bytes that save() writes. Refers to this filter's slots.
  filter_image image() const { return detail::image_of(*this, params_.seed, {bytes_.bytes()}); }

 private:
  basic_cuckoo(const cuckoo_params& params, Storage bytes, std::uint64_t count, unsigned stashed)
      : bytes_(std::move(bytes)),
        params_(params),
        layout_(params.buckets, params.slots, params.fingerprint_bits),
        count_(count),
        stashed_(stashed) {}

  insert_outcome insert_at(const cuckoo_place& at) noexcept {
    const insert_outcome outcome = detail::insert_copy(layout_, payload(), stashed_, at);
    count_ += is_contained(outcome);
    return outcome;
  }

  detail::cuckoo_census census() const noexcept {
    return detail::take_cuckoo_census(layout_, bytes_.bytes().data(), stashed_);
  }
  double rate_of(const detail::cuckoo_census& found) const noexcept {
    const double all = static_cast<double>(params_.buckets) * static_cast<double>(layout_.values());
    return detail::min(1.0, static_cast<double>(found.passing) / all +
                                formulas::hash_collision_fpr(static_cast<double>(count_)));
  }
  double keys_of(const detail::cuckoo_census& found) const noexcept {
    const auto different = static_cast<double>(found.different);
    return formulas::distinct_among(
        static_cast<double>(count_), different,
        formulas::fingerprint_cardinality(different, static_cast<double>(params_.buckets),
                                          static_cast<double>(layout_.values())));
  }

  std::byte* payload() noexcept { return bytes_.writable_bytes().data(); }

  detail::filter_memory<Storage>
      bytes_;  // First, so that an assignment whose copy throws changes nothing.
  cuckoo_params params_;
  detail::cuckoo_layout layout_;
  std::uint64_t count_;
  unsigned stashed_;
};

/// The cuckoo filter in its own memory.
using cuckoo = basic_cuckoo<>;
/// A read-only cuckoo filter over a mapped file.
using cuckoo_view = basic_cuckoo<mapped_storage>;

}  // namespace bloomset
