#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/bloom_sets.hpp>

#include <algorithm>
#include <array>
#include <bit>

#include "core/format.hpp"

namespace bloomset::detail {

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
  for (std::size_t byte = 0; byte < from.size(); ++byte) {
    for (auto set = std::to_integer<unsigned>(from[byte]); set != 0; set &= set - 1) {
      const std::uint64_t p = 8 * byte + static_cast<unsigned>(std::countr_zero(set));
      set_bit(to.data(), how == reduction::upper_half ? p / factor : p % places);
    }
  }
}

std::vector<std::uint64_t> divisors_of(std::uint64_t n) {
  std::vector<std::uint64_t> divisors = {1};
  const auto add_prime = [&](std::uint64_t prime, unsigned power) {
    const std::size_t before = divisors.size();
    for (std::size_t i = 0; i < before * power; ++i) divisors.push_back(prime * divisors[i]);
  };
  for (std::uint64_t d = 2; d < max_tried_factor && d <= n / d; d += d == 2 ? 1 : 2) {
    unsigned power = 0;
    for (; n % d == 0; n /= d) ++power;
    add_prime(d, power);
  }
  add_prime(n, n != 1 ? 1 : 0);
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

namespace {

// Divisors of n. A part without prime factors below 32 counts as a prime.
std::uint64_t count_divisors(std::uint64_t n) noexcept {
  std::uint64_t count = 1;
  for (const unsigned prime : {2U, 3U, 5U, 7U, 11U, 13U, 17U, 19U, 23U, 29U, 31U}) {
    std::uint64_t powers = 1;
    for (; n % prime == 0; n /= prime) ++powers;
    count *= powers;
  }
  return n == 1 ? count : 2 * count;
}

}  // namespace

std::uint64_t foldable_size(std::uint64_t n) noexcept {
  // Of large sizes only the multiples of a unit are tried, 16 to 305 of them.
  constexpr std::array<unsigned, 16> factors = {2, 2, 3, 2, 5, 3, 7, 2, 11, 2, 3, 13, 5, 17, 2, 19};
  // Too few numbers are within 0.5% of a small one.
  const std::uint64_t window = std::max(n / 200, std::min<std::uint64_t>(16, n / 8));
  std::uint64_t unit = 1;
  for (std::size_t i = 0;; ++i) {
    const unsigned factor = i < factors.size() ? factors[i] : 2;
    if (window / unit < std::uint64_t{16} * factor) break;
    unit *= factor;
  }
  std::uint64_t best = n;
  std::uint64_t most = count_divisors(n);
  for (std::uint64_t size = (n + unit - 1) / unit * unit; size <= n + window; size += unit) {
    const std::uint64_t count = count_divisors(size);
    if (count > most) {
      best = size;
      most = count;
    }
  }
  return best;
}

result<void> check_factor(std::uint64_t factor, std::uint64_t size, std::string_view units) {
  if (factor != 0 && size % factor == 0) return {};
  return format_failure(errc::invalid_argument,
                        "a filter of {} {} cannot be folded by {}; the factor must divide the size",
                        size, units, factor);
}

}  // namespace bloomset::detail
