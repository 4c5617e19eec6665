#pragma once

// Batches of queries, once per instruction set.

#include <bloomery/detail/fuse/table.hpp>
#include <cstddef>
#include <span>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

struct fuse_kernels {
  /// Precondition: the table has one shard and less than 2^32 bits.
  void (*may_contain)(const fuse_table& table, std::span<const hash64> hashes,
                      bool* answers) noexcept;

  static const fuse_kernels scalar, vector128, vector256, vector512;
};

}  // namespace bloomery::detail

#pragma GCC visibility pop
