#pragma once

// Guided slots: a system of equations has free slots, and any values there keep all members. Each
// choice passes other keys, so the build looks for values with which few of them pass.
//
// Another key passes if the value retrieved for it is a given one. This is an equation, too, which
// should not hold. Reduced by the equations of the members, it has only free slots left, and it is
// decided once the leftmost of these has a value. So the free slots are chosen from the last to the
// first, as in the back substitution. A beam search keeps the partial choices that pass fewest
// keys: each of them with each value of the next free slot is a candidate.

#include <bloomset/detail/retrieval/kernels.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// The most columns of a guided system.
inline constexpr std::uint32_t max_guided_columns = 2;

/// The other keys of a job, in the same form as its members.
struct other_keys {
  const std::uint64_t* keys = nullptr;
  const std::uint32_t* values = nullptr;  ///< with which they pass
  const std::uint32_t* begins = nullptr;
};

/// The search, with its memory, of which a thread needs 64 bytes for each other key of a job. The
/// result does not depend on the order of the keys of a start.
class guided_search {
 public:
  guided_search();
  guided_search(guided_search&&) noexcept;
  guided_search& operator=(guided_search&&) noexcept;
  ~guided_search();

  /// Chooses the values of the free slots of a job with windows of 64 slots, which is eliminated,
  /// and stores them in its results. Keys of bumped starts are left out. Returns the number of
  /// other keys that pass.
  std::uint64_t choose(const retrieval_job& job, const other_keys& others);

 private:
  struct memory;
  std::unique_ptr<memory> memory_;
};

}  // namespace bloomset::detail

#pragma GCC visibility pop
