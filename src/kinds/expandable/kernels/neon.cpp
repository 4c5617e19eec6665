// Queries to segments. ARM64 counts ones by CNT, in vectors only, and has no PDEP. A query with an
// unusual block, such as a code of more than 128 bits, is left to the scalar kernel.

#if defined(__aarch64__)

#include <arm_neon.h>

#include <array>
#include <bit>
#include <bloomset/detail/expandable/segment_kernels.hpp>
#include <cstddef>

namespace bloomset::detail {
namespace {

constexpr std::uint64_t each_byte = 0x0101010101010101;
// Bits of slots that 8 bytes always contain, if the slots end in the last byte.
constexpr unsigned word_bits = 57;

// places[8 * byte + k]: the place of one number k of a byte.
constexpr auto places = [] {
  std::array<std::uint8_t, 256 * 8> all{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::size_t to = std::size_t{8} * byte;
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) != 0) all[to++] = static_cast<std::uint8_t>(bit);
    }
  }
  return all;
}();

// Byte i: the ones in bytes 0 to i.
std::uint64_t ones_up_to(std::uint64_t x) noexcept {
  return vget_lane_u64(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(x))), 0) * each_byte;
}

// The place of one number k. Precondition: there are more than k, and `ones` is ones_up_to(x).
unsigned select_one(std::uint64_t x, std::uint64_t ones, std::uint64_t k) noexcept {
  // The first byte with more than k ones up to it. 127 - k is k ^ 127.
  const std::uint64_t more = ((k ^ 127) * each_byte + ones) >> 7 & each_byte;
  const auto at = static_cast<unsigned>(std::countr_zero(more));
  const std::uint64_t rest = k - (ones << 8 >> at);
  return at + places[(x >> at & 255) << 3 | (rest & 7)];
}

bool ask(const segment_shape& shape, const segment_query& q) noexcept {
  const auto unusual = [&]() noexcept {
    return segment_kernels::scalar.contains(shape.cell_bits, q);
  };
  const std::size_t w = q.slot_bits;
  const auto offsets = load<std::uint32_t>(q.bytes + 2 * (q.cell >> block_cell_bits));
  const std::size_t begin = offsets & 0xffff;
  const std::size_t end = offsets >> 16;
  const std::byte* const area = q.bytes + shape.offset_bytes();
  if (begin > end || end + shape.offset_bytes() + code_read > q.size) [[unlikely]]
    return unusual();

  const std::uint64_t cell = q.cell % block_cells;
  std::uint64_t zeros = ~load<std::uint64_t>(area + begin);
  std::uint64_t up_to = ones_up_to(zeros);
  std::uint64_t k = cell;
  std::size_t first = 0;
  if (k >= up_to >> 56) {
    k -= up_to >> 56;
    zeros = ~load<std::uint64_t>(area + begin + 8);
    up_to = ones_up_to(zeros);
    if (k >= up_to >> 56) [[unlikely]]
      return unusual();
    first = 64;
  }
  const unsigned zero = select_one(zeros, up_to, k);
  const std::uint64_t behind = zeros >> zero >> 1;
  if (behind == 0) [[unlikely]]
    return unusual();
  auto size = static_cast<unsigned>(std::countr_zero(behind));
  if (size == 0) return false;
  first += zero - cell;

  // The slots from the cell's first on, from the highest bit of a word downwards.
  const auto slots_end = static_cast<std::ptrdiff_t>(8 * end - first * w);
  if (size * w > word_bits || slots_end < 64) [[unlikely]]
    return unusual();
  const std::byte* const last = area + (static_cast<std::size_t>(slots_end + 7) >> 3);
  std::uint64_t slots = load<std::uint64_t>(last - 8) << (-slots_end & 7);
  const std::uint64_t remainder = q.remainder << (-w & 63);
  const std::uint64_t slot = ~std::uint64_t{0} << (-w & 63);
  slots |= 1;  // a one below all of these entries, for countl_zero
  for (; size != 0; --size, slots <<= w) {
    // The bits from the entry's marker on.
    const std::uint64_t differing = ((slots ^ remainder) & slot) << __builtin_clzll(slots);
    if (differing << 1 == 0 && (slots & slot) != 0) return true;
  }
  return false;
}

}  // namespace

void segment_kernels::contains_by_neon(unsigned cell_bits, std::span<const segment_query> queries,
                                       std::span<const segment_query> to_prefetch,
                                       bool* answers) noexcept {
  const segment_shape shape{cell_bits, 0};
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (i < to_prefetch.size()) {
      const segment_query& next = to_prefetch[i];
      const auto offsets = load<std::uint32_t>(next.bytes + 2 * (next.cell >> block_cell_bits));
      const std::byte* const area = next.bytes + shape.offset_bytes();
      prefetch_line(area + (offsets & 0xffff));
      prefetch_line(area + (offsets >> 16));
    }
    answers[i] = ask(shape, queries[i]);
  }
  if (queries.size() < to_prefetch.size()) {
    segment_kernels::scalar.prefetch(cell_bits, to_prefetch.subspan(queries.size()));
  }
}

}  // namespace bloomset::detail

#endif
