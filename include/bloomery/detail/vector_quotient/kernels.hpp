#pragma once

// Operations of a vector quotient filter on many hashes, for one instruction set
// (src/kinds/vector_quotient/kernels/). The specification is layout.hpp.

#include <bloomery/concepts.hpp>
#include <bloomery/detail/vector_quotient/table.hpp>
#include <bloomery/hash.hpp>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// Batches fetch the blocks of later keys while they look at those of earlier ones, and do to the
/// bytes what single calls in that order do.
struct vq_kernels {
  bool (*holds)(const vq_reader&, const vector_quotient_place&);
  void (*may_contain)(const vq_reader&, std::span<const hash64>, bool* answers);
  insert_summary (*insert)(const vq_writer&, std::span<const hash64>);
  void (*erase)(const vq_writer&, std::span<const hash64>, bool* erased);
};

/// Those for this CPU.
const vq_kernels& vq_ops() noexcept;

/// One key: both blocks are on their way before the first is looked at.
inline bool vq_may_contain(const vq_reader& filter, const vector_quotient_place& at) noexcept {
  __builtin_prefetch(filter.layout->block(filter.blocks, at.first));
  __builtin_prefetch(filter.layout->block(filter.blocks, at.second));
  return vq_ops().holds(filter, at);
}

/// A batch. One that is large beside a filter beyond the cache is first brought together by region,
/// which needs as much memory as its hashes, 128 MiB at most, and without it goes on one by one.
void vq_may_contain(const vq_reader& filter, std::span<const hash64> hashes,
                    bool* answers) noexcept;

inline insert_summary vq_insert(const vq_writer& filter, std::span<const hash64> hashes) noexcept {
  return vq_ops().insert(filter, hashes);
}
inline void vq_erase(const vq_writer& filter, std::span<const hash64> hashes,
                     bool* erased) noexcept {
  vq_ops().erase(filter, hashes, erased);
}

}  // namespace bloomery::detail
