#pragma once

// The operations of a vector quotient filter on hashes, single and in batches
// (src/kinds/vector_quotient/kernels/). The scalar kernels call vq_insert and vq_erase (table.hpp)
// for each hash. The kernels of other instruction sets change the bytes in the same way.

#include <bloomset/concepts.hpp>
#include <bloomset/detail/vector_quotient/table.hpp>
#include <bloomset/hash.hpp>
#include <cstdint>
#include <span>

namespace bloomset::detail {

struct vq_kernels {
  // A single key. `contains` leaves the stash to the caller.
  bool (*contains)(const vq_layout&, const std::byte* blocks, hash64);
  insert_outcome (*insert_one)(const vq_writer&, hash64);
  bool (*erase_one)(const vq_writer&, hash64);
  // Batches prefetch the blocks of later keys while they work on those of earlier keys.
  void (*may_contain)(const vq_reader&, std::span<const hash64>, bool* answers);
  void (*count)(const vq_reader&, std::span<const hash64>, std::uint64_t* counts);
  insert_summary (*insert)(const vq_writer&, std::span<const hash64>);
  void (*erase)(const vq_writer&, std::span<const hash64>, bool* erased);

  [[gnu::visibility("hidden")]] static const vq_kernels scalar;
  [[gnu::visibility("hidden")]] static const vq_kernels& vector128(const vq_layout&) noexcept;
  [[gnu::visibility("hidden")]] static const vq_kernels& vector256(const vq_layout&) noexcept;
  [[gnu::visibility("hidden")]] static const vq_kernels& vector512(const vq_layout&) noexcept;
};

/// The kernels for this CPU and layout.
const vq_kernels& vq_ops(const vq_layout& layout) noexcept;

}  // namespace bloomset::detail
