#pragma once

// The operations of a vector quotient filter on batches of hashes, and on single hashes as batches
// of one. vq_insert and vq_erase of a hash call a kernel (src/kinds/vector_quotient/kernels/). The
// scalar kernel calls vq_insert and vq_erase of a place (table.hpp) for each hash. The kernels of
// other instruction sets change the bytes in the same way.

#include <bloomery/concepts.hpp>
#include <bloomery/detail/core/prefetch.hpp>
#include <bloomery/detail/vector_quotient/table.hpp>
#include <bloomery/hash.hpp>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// Batches prefetch the blocks of later keys while they work on those of earlier keys.
struct vq_kernels {
  bool (*contains)(const vq_reader&, const vector_quotient_place&);
  void (*may_contain)(const vq_reader&, std::span<const hash64>, bool* answers);
  void (*count)(const vq_reader&, std::span<const hash64>, std::uint64_t* counts);
  insert_summary (*insert)(const vq_writer&, std::span<const hash64>);
  void (*erase)(const vq_writer&, std::span<const hash64>, bool* erased);

  [[gnu::visibility("hidden")]] static const vq_kernels scalar, vector256;
  [[gnu::visibility("hidden")]] static const vq_kernels& vector512(
      const vq_layout& layout) noexcept;
};

/// The kernels for this CPU and layout.
const vq_kernels& vq_ops(const vq_layout& layout) noexcept;

inline bool vq_may_contain(const vq_reader& filter, hash64 h) noexcept {
  const vector_quotient_place at = filter.layout->place(h);
  prefetch_line(filter.layout->block(filter.blocks, at.first));
  prefetch_line(filter.layout->block(filter.blocks, at.second));
  return vq_ops(*filter.layout).contains(filter, at);
}

inline std::uint64_t vq_count(const vq_reader& filter, hash64 h) noexcept {
  std::uint64_t copies = 0;
  vq_ops(*filter.layout).count(filter, {&h, 1}, &copies);
  return copies;
}

inline insert_outcome vq_insert(const vq_writer& filter, hash64 h) noexcept {
  const insert_summary one = vq_ops(*filter.layout).insert(filter, {&h, 1});
  if (one.done == 0) return one.stopped_by;
  return one.inserted != 0 ? insert_outcome::inserted : insert_outcome::maybe_present;
}

inline bool vq_erase(const vq_writer& filter, hash64 h) noexcept {
  bool erased = false;
  vq_ops(*filter.layout).erase(filter, {&h, 1}, &erased);
  return erased;
}

}  // namespace bloomery::detail
