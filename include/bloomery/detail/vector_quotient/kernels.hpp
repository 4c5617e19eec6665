#pragma once

// The operations of a vector quotient filter on batches of hashes, and on single hashes as batches
// of one. vq_insert and vq_erase of a hash call a kernel (src/kinds/vector_quotient/kernels/). The
// scalar kernel calls vq_insert and vq_erase of a place (table.hpp) for each hash. The kernels of
// other instruction sets change the bytes in the same way.

#include <bloomery/concepts.hpp>
#include <bloomery/detail/vector_quotient/table.hpp>
#include <bloomery/hash.hpp>
#include <cstdint>
#include <span>

namespace bloomery::detail {

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
  [[gnu::visibility("hidden")]] static const vq_kernels& vector128(
      const vq_layout& layout) noexcept;
  [[gnu::visibility("hidden")]] static const vq_kernels& vector256(
      const vq_layout& layout) noexcept;
  [[gnu::visibility("hidden")]] static const vq_kernels& vector512(
      const vq_layout& layout) noexcept;
};

/// The kernels for this CPU and layout.
const vq_kernels& vq_ops(const vq_layout& layout) noexcept;

inline bool vq_may_contain(const vq_reader& filter, hash64 h) noexcept {
  return vq_ops(*filter.layout).contains(*filter.layout, filter.blocks, h) ||
         (filter.stashed != 0 && vq_stashed_copies(filter, filter.layout->place(h)) != 0);
}

inline std::uint64_t vq_count(const vq_reader& filter, hash64 h) noexcept {
  std::uint64_t copies = 0;
  vq_ops(*filter.layout).count(filter, {&h, 1}, &copies);
  return copies;
}

inline insert_outcome vq_insert(const vq_writer& filter, hash64 h) noexcept {
  return vq_ops(*filter.layout).insert_one(filter, h);
}

inline bool vq_erase(const vq_writer& filter, hash64 h) noexcept {
  return vq_ops(*filter.layout).erase_one(filter, h);
}

}  // namespace bloomery::detail
