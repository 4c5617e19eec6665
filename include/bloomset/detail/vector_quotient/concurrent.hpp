#pragma once

/// A vector quotient filter that several threads change and query at once.
///
///     bloomset::vector_quotient sessions({.capacity = 1'000'000, .fpr = 0.01});
///     auto shared = sessions.concurrent();
///     std::jthread writer([&] { shared.insert("alice"); });
///     if (shared.may_contain("alice")) ask_the_database();

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/vector_quotient/table.hpp>
#include <cstdint>
#include <span>

namespace bloomset {

/// A handle to a vector quotient filter, made by basic_vector_quotient::concurrent() and shared by
/// reference.
///
/// Threads   Any number of threads may call any of its members at once. Do not use the filter
///           itself while the handle exists. Afterwards the filter is as if one thread had made all
///           changes, in the order in which they locked the mutex.
/// Query     Writes nothing and locks nothing. If another thread is changing one of the two blocks,
///           the query repeats after the change. An almost full filter may have stashed tags; then
///           a query that finds nothing locks the mutex. A key that is a member throughout is
///           always found, also while its tag moves.
/// Changes   Insert, erase and count lock a mutex; a batch locks it once for 32 keys. An operation
///           that begins after another one returned (happens-before) sees its result.
/// Moves     A handle that was moved from may only be destroyed or assigned to.
class concurrent_vector_quotient : public detail::key_overloads<concurrent_vector_quotient> {
  using overloads = detail::key_overloads<concurrent_vector_quotient>;

 public:
  using hash_type = hash64;
  using hasher_type = filter_hasher;

  using overloads::count;
  using overloads::erase;
  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain.
  bool may_contain(const hash64& h) const noexcept { return contains(layout().place(h)); }
  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept;

  /// See basic_vector_quotient.
  insert_outcome insert(const hash64& h) noexcept;
  /// Inserts a batch, in order, up to the first key without room.
  insert_summary insert(std::span<const hash64> hs) noexcept;
  /// Undoes one insert of a member. Returns false if the key is certainly not a member.
  bool erase(const hash64& h) noexcept;
  /// The number of inserts of the key minus the number of its erases. Never too low.
  std::uint64_t count(const hash64& h) const noexcept;

  hasher_type hash_function() const noexcept { return hasher_type(seed_); }

  /// For basic_vector_quotient::concurrent().
  concurrent_vector_quotient(const detail::vq_writer& filter, const hash_seed& seed);
  ~concurrent_vector_quotient();
  concurrent_vector_quotient(concurrent_vector_quotient&&) noexcept;
  concurrent_vector_quotient& operator=(concurrent_vector_quotient&&) noexcept;
  concurrent_vector_quotient(const concurrent_vector_quotient&) = delete;
  concurrent_vector_quotient& operator=(const concurrent_vector_quotient&) = delete;

 private:
  struct shared_state;

  shared_state& state() const noexcept;
  const detail::vq_layout& layout() const noexcept { return *filter_.layout; }
  bool contains(const vector_quotient_place& at) const noexcept;
  insert_outcome insert_locked(const vector_quotient_place& at) noexcept;

  detail::vq_writer filter_;
  hash_seed seed_;
  shared_state* state_;  // owned; null if moved from
};

}  // namespace bloomset
