#pragma once

/// What a filter is and what it may be able to do. What a kind cannot do does not exist on its
/// type, so each ability can be asked for with `if constexpr (erasable<F>)`.

#include <bloomery/hash.hpp>
#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace bloomery {

/// What an insert did. After `inserted` and `maybe_present` the filter contains the key; after the
/// other two it is exactly as it was before.
enum class insert_outcome : std::uint8_t {
  inserted,         ///< the key was certainly not there before
  maybe_present,    ///< it may have been there; kinds that count hold one copy more now
  full,             ///< no room
  too_many_copies,  ///< as many copies of this key (or of keys like it) as can be held are there
};

constexpr bool is_contained(insert_outcome outcome) noexcept {
  return outcome == insert_outcome::inserted || outcome == insert_outcome::maybe_present;
}

/// What a batch insert did. It stops at the first key that found no room.
struct insert_summary {
  std::uint64_t inserted = 0;       ///< keys that were certainly new
  std::uint64_t maybe_present = 0;  ///< keys that may have been there before
  std::size_t done = 0;             ///< keys of the batch that are contained now
  insert_outcome stopped_by = insert_outcome::inserted;  ///< else why key `done` is not contained
};

/// Every filter. `may_contain` is never false for a key that was inserted and not erased since.
/// Const calls may run in several threads at once; anything else needs the filter to itself,
/// unless a kind says more.
///
/// Copies      Deep over owned_storage, else as the storage says. Assignment is all or nothing:
///             without memory it throws std::bad_alloc, and the filter is as it was.
/// Moves       A filter that was moved from may only be destroyed or assigned to. Every other call
///             is a broken precondition; those that use its bytes assert it.
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
      // Kinds that hold copies: these; others: keys that certainly were new, at most the distinct.
      { f.size() } noexcept -> std::same_as<std::uint64_t>;
      { f.planned_fpr() } noexcept -> std::same_as<double>;  // the rate at capacity
      { f.current_fpr() } noexcept -> std::same_as<double>;  // the rate of the bits as they stand
      // Distinct keys, from the bits; infinite if these do not tell.
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

/// Hashes that can be gone through more than once, in any number, with repetitions: a span in
/// memory, or a file. What a static kind is built from.
struct hash_source {
  using sink = std::function<result<void>(std::span<const hash64>)>;

  std::uint64_t size = 0;  ///< hashes in all, repetitions included
  /// Gives all hashes, many at a time and each time in the same order, until `use` fails; passes
  /// that failure on, or its own.
  std::function<result<void>(const sink& use)> for_each;

  /// The hashes of a span, which must outlive the source.
  static hash_source of(std::span<const hash64> hashes) {
    return {hashes.size(), [hashes](const sink& use) { return use(hashes); }};
  }
};

/// Static kinds: built once from all their keys, in any order, with duplicates. They take no more
/// keys later, and are smaller for it.
template <class F>
concept buildable =
    membership_filter<F> && requires(const typename F::spec_type& spec, const hash_source& source,
                                     std::span<const typename F::hash_type> hashes) {
      { F::build(spec, source) } -> std::same_as<result<F>>;
      { F::build(spec, hashes) } -> std::same_as<result<F>>;
    };

/// `erase` takes back one insert of a key that is a member. It is false, and nothing changes, for a
/// key that certainly is no member. For a stranger that passes as a member it removes some member:
/// no small filter can tell (Agarwala and Even, 2024), so erase only what was inserted.
template <class F>
concept erasable = membership_filter<F> && requires(F& f, const typename F::hash_type& h) {
  { f.erase(h) } noexcept -> std::same_as<bool>;
};

/// `count` is how often a key was inserted and not erased: never too low up to the kind's ceiling.
template <class F>
concept countable = membership_filter<F> && requires(const F& f, const typename F::hash_type& h) {
  { f.count(h) } noexcept -> std::same_as<std::uint64_t>;
};

/// `merge` makes the filter of the union of the two sets; filters that differ in what the kind
/// cannot reconcile are an error, and nothing changes.
template <class F>
concept mergeable = membership_filter<F> && requires(F& f, const F& other) {
  { f.merge(other) } -> std::same_as<result<void>>;
};

/// `intersect` keeps what both may contain.
template <class F>
concept intersectable = membership_filter<F> && requires(F& f, const F& other) {
  { f.intersect(other) } -> std::same_as<result<void>>;
};

}  // namespace bloomery
