#pragma once

/// A vector quotient filter in use by several threads at once.
///
///     bloomery::vector_quotient sessions({.capacity = 1'000'000, .fpr = 0.01});
///     auto shared = sessions.concurrent();
///     std::jthread writer([&] { shared.insert("alice"); });
///     if (shared.may_contain("alice")) ask_the_database();

#include <bloomery/concepts.hpp>
#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/detail/vector_quotient/table.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace bloomery {

/// Obtained by basic_vector_quotient::concurrent() and shared by reference. Any number of threads
/// may call any of its members at once.
///
/// Queries write nothing and take no lock: one that meets a change of its two blocks in the very
/// moment looks again when it is done. Only while tags are stashed, in a filter all but full, does
/// a query that finds nothing wait its turn. Inserts, erases and counts take turns, by a mutex.
/// What has returned is seen by everything that begins after it (in the sense of happens-before),
/// and a key that is a member all the while is found at every moment, also while it moves.
///
/// While the door is open the filter itself may not be used; afterwards it is as if one thread had
/// done everything in the order of the turns. A door that was moved from may only be destroyed or
/// assigned to.
class concurrent_vector_quotient : public detail::key_shell<concurrent_vector_quotient> {
  using shell = detail::key_shell<concurrent_vector_quotient>;

 public:
  using hash_type = hash64;
  using hasher_type = xxh3_hasher;

  using shell::count;
  using shell::erase;
  using shell::insert;
  using shell::may_contain;

  bool may_contain(const hash64& h) const noexcept { return holds(layout().place(h)); }
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept;

  /// As the filter's own; see there.
  insert_outcome insert(const hash64& h) noexcept;
  insert_summary insert(std::span<const hash64> hs) noexcept;
  bool erase(const hash64& h) noexcept;
  std::uint64_t count(const hash64& h) const noexcept;

  hasher_type hash_function() const noexcept { return hasher_type(seed_); }

  /// Made by basic_vector_quotient::concurrent().
  concurrent_vector_quotient(const detail::vq_writer& filter, std::uint64_t* side_entries,
                             std::uint64_t seed);
  ~concurrent_vector_quotient();
  concurrent_vector_quotient(concurrent_vector_quotient&&) noexcept;
  concurrent_vector_quotient& operator=(concurrent_vector_quotient&&) noexcept;
  concurrent_vector_quotient(const concurrent_vector_quotient&) = delete;
  concurrent_vector_quotient& operator=(const concurrent_vector_quotient&) = delete;

 private:
  struct shared;

  shared& in_use() const noexcept;
  const detail::vq_layout& layout() const noexcept { return *filter_.layout; }
  bool holds(const vector_quotient_place& at) const noexcept;
  insert_outcome insert_at(const vector_quotient_place& at) noexcept;

  detail::vq_writer filter_;
  std::uint64_t* side_entries_;
  std::uint64_t seed_;
  std::unique_ptr<shared> shared_;
};

}  // namespace bloomery
