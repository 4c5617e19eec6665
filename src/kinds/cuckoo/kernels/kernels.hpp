#pragma once

// Batches of queries, once per instruction set.

#include <bloomery/detail/cuckoo/layout.hpp>
#include <cstddef>
#include <span>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

struct cuckoo_kernels {
  /// answers[i] tells whether a slot of key i's buckets has its fingerprint. The stash is not
  /// asked. `ahead`: prefetches the buckets of a group of keys.
  void (*contains)(const cuckoo_layout& layout, const std::byte* payload,
                   std::span<const hash64> hashes, bool* answers, bool ahead) noexcept;

  static const cuckoo_kernels scalar, vector128, vector256, vector512;
};

}  // namespace bloomery::detail

#pragma GCC visibility pop
