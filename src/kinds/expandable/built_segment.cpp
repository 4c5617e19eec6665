#include <bloomery/detail/expandable/built_segment.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <bloomery/detail/core/bits.hpp>

namespace bloomery::detail {

std::optional<std::size_t> built_segment::stored_bytes(const segment_shape& shape) const noexcept {
  const std::size_t area = low.size + high.size;
  if (area > max_segment_area) return std::nullopt;
  if (std::max(low.largest_block, high.largest_block) > max_block_entries) return std::nullopt;
  return shape.stored_bytes(area);
}

void built_segment::write(const segment_shape& shape, std::span<std::byte> to) const noexcept {
  std::byte* offset = to.data();
  store(offset, std::uint16_t{0});
  std::byte* const area = to.data() + shape.offset_bytes();
  std::size_t begin = 0;
  for (const built_half* half : {&low, &high}) {
    if (half->size == 0) continue;
    for (const std::size_t end : half->ends) {
      offset += 2;
      store(offset, static_cast<std::uint16_t>(begin + end));
    }
    std::memcpy(area + begin, half->area.data(), half->size);
    begin += half->size;
  }
  std::memset(area + begin, 0, to.size() - shape.offset_bytes() - begin);
}

}  // namespace bloomery::detail
