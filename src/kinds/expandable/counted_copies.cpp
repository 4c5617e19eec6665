#include <bloomery/detail/expandable/counted_copies.hpp>

#include <bloomery/detail/core/bits.hpp>

namespace bloomery::detail {

counted_copies copies_at(std::span<const std::byte> list, std::size_t i) noexcept {
  return load<counted_copies>(list.data() + i * sizeof(counted_copies));
}

std::size_t lower_bound(std::span<const std::byte> list, std::size_t size, hash64 h) noexcept {
  std::size_t first = 0;
  while (size != 0) {
    const std::size_t half = size / 2;
    if (copies_at(list, first + half).hash < h.value) {
      first += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return first;
}

std::uint64_t counted_of(std::span<const std::byte> list, std::size_t size, hash64 h) noexcept {
  const std::size_t i = lower_bound(list, size, h);
  if (i == size) return 0;
  const counted_copies found = copies_at(list, i);
  return found.hash == h.value ? found.copies : 0;
}

double copies_counted(std::span<const std::byte> list, std::size_t size) noexcept {
  double all = 0;
  for (std::size_t i = 0; i < size; ++i) all += static_cast<double>(copies_at(list, i).copies);
  return all;
}

}  // namespace bloomery::detail
