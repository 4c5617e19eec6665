#pragma once

// What a vector quotient filter does with many hashes at once, for one instruction set. Mechanics in
// src/kernels/, the specification in vector_quotient_layout.hpp.

#include <bloomery/concepts.hpp>
#include <bloomery/detail/block_kernels.hpp>
#include <bloomery/detail/vector_quotient_table.hpp>
#include <bloomery/hash.hpp>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// Each fetches the blocks of later keys while it looks at those of earlier ones, and does to the
/// bytes what single calls in that order do.
struct vq_kernels {
  void (*may_contain)(const vq_reader&, std::span<const hash64>, bool* answers);
  insert_summary (*insert)(const vq_writer&, std::span<const hash64>);
  void (*erase)(const vq_writer&, std::span<const hash64>, bool* erased);
};

inline void vq_may_contain(const vq_reader& filter, std::span<const hash64> hashes,
                           bool* answers) noexcept {
  kernels().quotient->may_contain(filter, hashes, answers);
}
inline insert_summary vq_insert(const vq_writer& filter, std::span<const hash64> hashes) noexcept {
  return kernels().quotient->insert(filter, hashes);
}
inline void vq_erase(const vq_writer& filter, std::span<const hash64> hashes,
                     bool* erased) noexcept {
  kernels().quotient->erase(filter, hashes, erased);
}

/// One key.
inline bool vq_may_contain(const vq_reader& filter, const vector_quotient_place& at) noexcept {
  const vq_layout& layout = *filter.layout;
  return layout.copies(layout.block(filter.blocks, at.first), at.tag) != 0 ||
         layout.copies(layout.block(filter.blocks, at.second), at.tag) != 0 ||
         (filter.stashed != 0 && vq_stashed_copies(filter, at) != 0);
}

}  // namespace bloomery::detail
