// The specification (bloomset/detail/vector_quotient/table.hpp) for one hash after the other.

#include <bloomset/detail/vector_quotient/kernels.hpp>

#include "cpu/dispatch.hpp"
#include "kinds/vector_quotient/kernels/group.hpp"

namespace bloomset::detail {
namespace {

bool is_in_blocks(const vq_layout& layout, const std::byte* blocks,
                  const vector_quotient_place& at) {
  return layout.copies(layout.block(blocks, at.first), at.tag) != 0 ||
         layout.copies(layout.block(blocks, at.second), at.tag) != 0;
}

bool contains(const vq_layout& layout, const std::byte* blocks, hash64 h) {
  return is_in_blocks(layout, blocks, vq_fetch_place(layout, blocks, h));
}
insert_outcome insert_one(const vq_writer& filter, hash64 h) {
  return vq_insert(filter, vq_fetch_place(*filter.layout, filter.blocks, h));
}
bool erase_one(const vq_writer& filter, hash64 h) {
  return vq_erase(filter, vq_fetch_place(*filter.layout, filter.blocks, h));
}

void may_contain(const vq_reader& filter, std::span<const hash64> hashes, bool* answers) {
  vq_for_each_place(
      *filter.layout, filter.blocks, hashes, [&](std::size_t i, const vector_quotient_place& at) {
        answers[i] =
            is_in_blocks(*filter.layout, filter.blocks, at) || vq_stashed_copies(filter, at) != 0;
        return true;
      });
}

void count(const vq_reader& filter, std::span<const hash64> hashes, std::uint64_t* counts) {
  vq_for_each_place(*filter.layout, filter.blocks, hashes,
                    [&](std::size_t i, const vector_quotient_place& at) {
                      counts[i] = vq_copies(filter, at);
                      return true;
                    });
}

insert_summary insert(const vq_writer& filter, std::span<const hash64> hashes) {
  insert_summary summary;
  vq_for_each_place(*filter.layout, filter.blocks, hashes,
                    [&](std::size_t, const vector_quotient_place& at) {
                      return summary.add(vq_insert(filter, at));
                    });
  return summary;
}

void erase(const vq_writer& filter, std::span<const hash64> hashes, bool* erased) {
  vq_for_each_place(*filter.layout, filter.blocks, hashes,
                    [&](std::size_t i, const vector_quotient_place& at) {
                      erased[i] = vq_erase(filter, at);
                      return true;
                    });
}

constexpr vq_kernels kernels = {contains, insert_one, erase_one, may_contain, count, insert, erase};

}  // namespace

const vq_kernels vq_kernels::scalar = kernels;

const vq_kernels& vq_ops([[maybe_unused]] const vq_layout& layout) noexcept {
#if defined(__x86_64__)
  const instruction_set set = chosen_instruction_set();
  if (set == instruction_set::avx512) return vq_kernels::vector512(layout);
  if (set == instruction_set::avx2) return vq_kernels::vector256(layout);
#elif defined(__aarch64__)
  if (chosen_instruction_set() == instruction_set::neon) return vq_kernels::vector128(layout);
#endif
  return vq_kernels::scalar;
}

}  // namespace bloomset::detail
