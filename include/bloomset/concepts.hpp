#pragma once

/// The operations of a filter, as concepts. An operation that a kind lacks does not exist on its
/// type, so a program can test for it: `if constexpr (erasable<F>)`.

#include <bloomset/hash.hpp>
#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset {

/// The outcome of an insert. After `inserted` and `maybe_present` the filter contains the key.
/// After the other two it is exactly as before.
enum class insert_outcome : std::uint8_t {
  inserted,         ///< the key was certainly not there before
  maybe_present,    ///< the key may have been there; kinds that count now hold one more copy
  full,             ///< no room
  too_many_copies,  ///< the filter holds as many copies of this key (or of keys like it) as it can
};

/// Whether the filter contains the key after this outcome.
constexpr bool is_contained(insert_outcome outcome) noexcept {
  return outcome == insert_outcome::inserted || outcome == insert_outcome::maybe_present;
}

/// The outcome of a batch insert. It stops at the first key without room.
struct insert_summary {
  std::uint64_t inserted = 0;       ///< keys that were certainly new
  std::uint64_t maybe_present = 0;  ///< keys that may have been there before
  std::size_t done = 0;             ///< keys of the batch that are contained now
  insert_outcome stopped_by = insert_outcome::inserted;  ///< the reason, if keys are left

  /// Counts the outcome of the batch's next key. False if the batch stops there.
  constexpr bool add(insert_outcome outcome) noexcept {
    if (!is_contained(outcome)) {
      stopped_by = outcome;
      return false;
    }
    ++done;
    ++(outcome == insert_outcome::inserted ? inserted : maybe_present);
    return true;
  }
  /// Adds the summary of the batch's next part.
  constexpr insert_summary& operator+=(const insert_summary& part) noexcept {
    inserted += part.inserted;
    maybe_present += part.maybe_present;
    done += part.done;
    stopped_by = part.stopped_by;
    return *this;
  }
};

/// Every filter. `may_contain` is never false for a key that was inserted and not erased since.
///
/// Threads     Const calls may run in several threads at the same time. All other calls need
///             exclusive access, unless a kind says more.
/// Copies      Deep over owned_storage, otherwise as the storage defines. If memory runs out, an
///             assignment throws std::bad_alloc and changes nothing.
/// Moves       A filter that was moved from may only be destroyed or assigned to. Any other call
///             breaks a precondition; calls that read its bytes assert it.
template <class F>
concept membership_filter =
    std::movable<F> &&
    requires(const F& f, const typename F::hash_type& h, std::span<const typename F::hash_type> hs,
             std::span<bool> answers, const filter_header& header, std::span<const std::byte> bytes,
             typename F::storage_type store) {
      { F::kind } -> std::convertible_to<filter_kind>;
      { f.params() } noexcept -> std::convertible_to<const typename F::params_type&>;
      { f.may_contain(h) } noexcept -> std::same_as<bool>;
      { f.may_contain(hs, answers) } noexcept -> std::same_as<void>;
      { f.capacity() } noexcept -> std::same_as<std::uint64_t>;  // keys planned for
      // Kinds that hold copies: the number of copies. Others: the number of keys that were
      // certainly new, a lower bound on the distinct keys.
      { f.size() } noexcept -> std::same_as<std::uint64_t>;
      { f.planned_fpr() } noexcept -> std::same_as<double>;  // the rate at capacity
      { f.current_fpr() } noexcept -> std::same_as<double>;  // the rate of the bits as they are
      // The number of distinct keys, estimated from the bits; infinite if unknown.
      { f.estimate_size() } noexcept -> std::same_as<double>;
      { f.size_in_bytes() } noexcept -> std::same_as<std::uint64_t>;
      { f.image() } -> std::same_as<filter_image>;
      { F::params_type::decode(header, bytes) } -> std::same_as<result<typename F::params_type>>;
      {
        F::open(std::declval<typename F::params_type>(), std::move(store), std::uint64_t{})
      } -> std::same_as<result<F>>;
    };

template <class F>
concept insertable = membership_filter<F> && requires(F& f, const typename F::hash_type& h,
                                                      std::span<const typename F::hash_type> hs) {
  { f.insert(h) } noexcept -> std::same_as<insert_outcome>;
  { f.insert(hs) } noexcept -> std::same_as<insert_summary>;
  f.clear();
};

template <class Entry>
struct basic_hash_source;  // hash_source.hpp
using hash_source = basic_hash_source<hash64>;

/// Static kinds. They are built once from all their keys, in any order, and duplicates are allowed.
/// No key can be added later, which makes these filters smaller.
template <class F>
concept buildable =
    membership_filter<F> && requires(const typename F::spec_type& spec, const hash_source& source,
                                     std::span<const typename F::hash_type> hashes) {
      { F::build(spec, source) } -> std::same_as<result<F>>;
      { F::build(spec, hashes) } -> std::same_as<result<F>>;
    };

/// `erase` undoes one insert of a member. It returns false, and changes nothing, if the key is
/// certainly not a member. Erase only keys that were inserted: erasing a non-member that matches
/// removes some member. No small filter can detect this (Agarwala and Even, 2024).
template <class F>
concept erasable = membership_filter<F> && requires(F& f, const typename F::hash_type& h) {
  { f.erase(h) } noexcept -> std::same_as<bool>;
};

/// `count` is the number of inserts of a key minus the number of its erases. It is never too low,
/// up to the kind's ceiling.
template <class F>
concept countable = membership_filter<F> && requires(const F& f, const typename F::hash_type& h) {
  { f.count(h) } noexcept -> std::same_as<std::uint64_t>;
};

/// `merge` makes the filter of the union of two sets. It fails, and changes nothing, if the kind
/// cannot combine the two filters.
template <class F>
concept mergeable = membership_filter<F> && requires(F& f, const F& other) {
  { f.merge(other) } -> std::same_as<result<void>>;
};

/// `intersect` keeps the keys that both filters may contain.
template <class F>
concept intersectable = membership_filter<F> && requires(F& f, const F& other) {
  { f.intersect(other) } -> std::same_as<result<void>>;
};

}  // namespace bloomset
