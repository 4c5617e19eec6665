#include <algorithm>
#include <array>
#include <bit>
#include <bloomery/detail/expandable/segment.hpp>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "kinds/expandable/kernels/table.hpp"

namespace bloomery::detail {
namespace scalar {
namespace {

#include "kinds/expandable/kernels/bits.inl"

void push_slot(const slot_row& row, std::size_t n, std::size_t at, std::uint64_t entry) noexcept {
  push_slot_by_words(row, n, at, entry);
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t n, bool /*is_inside*/) noexcept {
  copy_words(to, from, n);
}

#include "kinds/expandable/kernels/loops.inl"

}  // namespace
}  // namespace scalar

const segment_kernels scalar_segments = scalar::loops;

const segment_kernels& segment_ops() noexcept {
  return segment_kernel_table.chosen();
}

std::optional<std::size_t> built_segment::stored_bytes(const segment_shape& shape) const noexcept {
  const std::size_t area = low.size + high.size;
  if (area > max_segment_area) return std::nullopt;
  if (std::max(low.largest_block, high.largest_block) > max_block_entries) return std::nullopt;
  return shape.stored_bytes(area);
}

void built_segment::write(const segment_shape& shape, std::span<std::byte> to) const noexcept {
  std::byte* start = to.data();
  store(start, std::uint16_t{0});
  std::byte* const area = to.data() + shape.table_bytes();
  std::size_t begin = 0;
  for (const built_half* half : {&low, &high}) {
    if (half->size == 0) continue;  // of a segment that was not split, the second
    for (const std::size_t end : half->ends) {
      start += 2;
      store(start, static_cast<std::uint16_t>(begin + end));
    }
    std::memcpy(area + begin, half->area.data(), half->size);
    begin += half->size;
  }
  std::memset(area + begin, 0, to.size() - shape.table_bytes() - begin);
}

}  // namespace bloomery::detail
