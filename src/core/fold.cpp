#include <bloomery/detail/core/bit_array.hpp>
#include <bloomery/detail/core/fold.hpp>

#include <algorithm>
#include <array>
#include <bit>

#include "core/format.hpp"

namespace bloomery::detail {

void fold_blocks(std::span<const std::byte> from, std::span<std::byte> to, std::size_t block_bytes,
                 std::uint64_t factor) noexcept {
  const std::size_t words = block_bytes / 8;
  const std::byte* source = from.data();
  for (std::size_t block = 0; block < to.size(); block += block_bytes) {
    for (std::size_t w = 0; w < words; ++w) {
      std::uint64_t all = 0;
      for (std::uint64_t i = 0; i < factor; ++i) {
        all |= load<std::uint64_t>(source + i * block_bytes + 8 * w);
      }
      store(to.data() + block + 8 * w, all);
    }
    source += factor * block_bytes;
  }
}

void fold_bits(std::span<const std::byte> from, std::span<std::byte> to, std::uint64_t bits,
               std::uint64_t factor, reduction how) noexcept {
  const std::uint64_t places = bits / factor;
  // The place of the present bit, and of the next: as bits are read in order, no division is
  // needed.
  std::uint64_t place = 0;
  std::uint64_t next = how == reduction::upper_half ? factor : places;
  for (std::size_t byte = 0; byte < from.size(); ++byte) {
    for (unsigned set = std::to_integer<unsigned>(from[byte]); set != 0; set &= set - 1) {
      const std::uint64_t p = 8 * byte + static_cast<unsigned>(std::countr_zero(set));
      if (how == reduction::upper_half) {
        if (p >= next) {
          place = p / factor;
          next = (place + 1) * factor;
        }
        set_bit(to.data(), place);
      } else {
        while (p >= next) {
          place = next;  // the first position of this round
          next += places;
        }
        set_bit(to.data(), p - place);
      }
    }
  }
}

std::vector<std::uint64_t> divisors_of(std::uint64_t n) {
  std::vector<std::uint64_t> divisors;
  for (std::uint64_t d = 1; d <= n / d; ++d) {
    if (n % d == 0) divisors.push_back(d);
  }
  for (std::size_t i = divisors.size(); i > 0; --i) {
    const std::uint64_t other = n / divisors[i - 1];
    if (other != divisors.back()) divisors.push_back(other);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

std::uint64_t foldable_size(std::uint64_t n) noexcept {
  constexpr std::array<std::uint64_t, 14> units = {
      1, 2, 4, 12, 24, 60, 120, 360, 840, 2520, 5040, 55'440, 720'720, 36'756'720};
  const auto larger = std::upper_bound(units.begin(), units.end(), n / 200);
  return larger == units.begin() ? n : (n + larger[-1] - 1) / larger[-1] * larger[-1];
}

result<void> check_factor(std::uint64_t factor, std::uint64_t size, std::string_view units) {
  if (factor != 0 && size % factor == 0) return {};
  return format_failure(errc::invalid_argument,
                        "a filter of {} {} cannot be folded by {}; the factor must divide the size",
                        size, units, factor);
}

}  // namespace bloomery::detail
