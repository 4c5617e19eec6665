#pragma once

/// Known false positives of a filter, which its file carries so that they are answered "no".

#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <span>
#include <vector>

namespace bloomset {

/// The hashes of non-members that pass a filter, in ascending order.
///
/// Cost     A key that passes the filter is also searched for here, in O(log size). Other keys are
///          not.
/// Risk     A member whose 64-bit hash is that of an exception is answered "no". For n keys and e
///          exceptions this happens with probability n e / 2^64: 2e-7 for 10^9 keys and 4096
///          exceptions.
/// Threads  Concurrent const calls are safe.
class exception_list {
 public:
  static constexpr std::size_t max_size = 4096;

  bool empty() const noexcept { return hashes_.empty(); }
  std::size_t size() const noexcept { return hashes_.size(); }
  /// O(log size).
  bool contains(hash64 h) const noexcept;
  /// Adds a hash that is not in the list. Precondition: size() < max_size. O(size).
  void add(hash64 h);
  /// Removes a hash. Returns false if it is not in the list. O(size).
  bool remove(hash64 h) noexcept;

  /// The hashes in ascending order.
  std::span<const hash64> hashes() const noexcept { return hashes_; }
  /// The list of these hashes. Fails with corrupt unless they are 1 to max_size and ascend.
  static result<exception_list> of(std::span<const hash64> hashes);

  bool operator==(const exception_list&) const = default;

 private:
  std::vector<hash64> hashes_;
};

}  // namespace bloomset
