#include "passwdqc/bucket.hpp"

#include <algorithm>
#include <functional>

#include "options.hpp"

namespace bloomset::dialects::passwdqc {
namespace {

// The two halves of a bucket: a number of 128 bits, of which the file has the upper half first.
struct halves {
  std::uint64_t high;
  std::uint64_t low;
};

// The topmost bits tell how many fingerprints there are. Four of them leave 12 bits for their top
// digits; the larger values of these bits are the marks of two and of three.
constexpr std::uint64_t mark_of_two = 0x3d;    // 6 bits
constexpr std::uint64_t mark_of_three = 0x1f;  // 5 bits
constexpr unsigned digits = 16;                // of the top four of 33 bits
constexpr unsigned low_width = 29;             // the others

std::uint64_t bits_at(const halves& number, unsigned at, unsigned width) noexcept {
  if (at >= 64) return low_bits(number.high >> (at - 64), width);
  // NOLINTNEXTLINE(clang-analyzer-core.BitwiseShift): no bit at 64 or above comes here.
  const std::uint64_t upper = at == 0 ? 0 : number.high << (64 - at);
  return low_bits(number.low >> at | upper, width);
}

void put_bits(halves& number, unsigned at, std::uint64_t value) noexcept {
  if (at >= 64) {
    number.high |= value << (at - 64);
    return;
  }
  number.low |= value << at;
  if (at != 0) number.high |= value >> (64 - at);
}

// Four top digits a >= b >= c >= d have the place of (d, c, b, a) in the order of all such. The
// tables count those with fewer digits that begin below a given one.
using counts = std::array<unsigned, digits + 1>;

constexpr counts below(const counts& shorter) noexcept {
  counts sums{};
  for (unsigned digit = 0; digit < digits; ++digit) {
    sums[digit + 1] = sums[digit] + (shorter[digits] - shorter[digit]);
  }
  return sums;
}

constexpr counts ones = [] {
  counts sums{};
  for (unsigned digit = 0; digit <= digits; ++digit) sums[digit] = digit;
  return sums;
}();
constexpr counts pairs = below(ones);
constexpr counts triples = below(pairs);
constexpr counts quadruples = below(triples);
constexpr unsigned orders = quadruples[digits];
static_assert(orders == 3876);

using top_digits = std::array<std::uint8_t, max_entries>;

constexpr unsigned place_of(const top_digits& top) noexcept {
  const auto [a, b, c, d] = top;
  return quadruples[d] + (triples[c] - triples[d]) + (pairs[b] - pairs[c]) + (ones[a] - ones[b]);
}

constexpr auto digits_at = [] {
  std::array<top_digits, orders> all{};
  for (std::uint8_t d = 0; d < digits; ++d) {
    for (std::uint8_t c = d; c < digits; ++c) {
      for (std::uint8_t b = c; b < digits; ++b) {
        for (std::uint8_t a = b; a < digits; ++a) all[place_of({a, b, c, d})] = {a, b, c, d};
      }
    }
  }
  return all;
}();

}  // namespace

std::optional<bucket> bucket::read(const std::byte* from) noexcept {
  const halves number{little_endian<std::uint64_t>(from), little_endian<std::uint64_t>(from + 8)};
  bucket made;
  const auto top = static_cast<unsigned>(number.high >> 52);
  if (number.high <= 1) {
    made.size_ = static_cast<unsigned>(number.high);
    made.at_[0] = number.low;
    if (made.size_ == 0 && number.low != 0) return std::nullopt;
    return made;
  }
  if (number.high >> 59 == mark_of_three) {
    made.size_ = 3;
  } else if (number.high >> 58 == mark_of_two) {
    made.size_ = 2;
  } else if (top >= 1 && top <= orders) {
    made.size_ = 4;
    const top_digits& digit = digits_at[top - 1];
    for (unsigned i = 0; i < max_entries; ++i) {
      made.at_[i] =
          std::uint64_t{digit[i]} << low_width | bits_at(number, i * low_width, low_width);
    }
  } else {
    return std::nullopt;
  }
  if (made.size_ < max_entries) {
    const unsigned width = widths[made.size_ - 1];
    for (unsigned i = 0; i < made.size_; ++i) made.at_[i] = bits_at(number, i * width, width);
  }
  const auto sorted = made.all();
  if (!std::is_sorted(sorted.begin(), sorted.end(), std::greater<>())) return std::nullopt;
  return made;
}

void bucket::write(std::byte* to) const noexcept {
  halves number{};
  if (size_ == 4) {
    top_digits top{};
    for (unsigned i = 0; i < max_entries; ++i) {
      top[i] = static_cast<std::uint8_t>(at_[i] >> low_width);
      put_bits(number, i * low_width, low_bits(at_[i], low_width));
    }
    number.high |= std::uint64_t{place_of(top) + 1} << 52;
  } else if (size_ != 0) {
    const unsigned width = widths[size_ - 1];
    for (unsigned i = 0; i < size_; ++i) put_bits(number, i * width, at_[i]);
    number.high |= size_ == 1 ? 1 : size_ == 2 ? mark_of_two << 58 : mark_of_three << 59;
  }
  std::memcpy(to, &number.high, sizeof number.high);
  std::memcpy(to + 8, &number.low, sizeof number.low);
}

void bucket::add(std::uint64_t fingerprint) noexcept {
  at_[size_++] = fingerprint;
  settle();
}

void bucket::replace(unsigned i, std::uint64_t fingerprint) noexcept {
  at_[i] = fingerprint;
  settle();
}

void bucket::settle() noexcept {
  for (unsigned i = 0; i < size_; ++i) at_[i] = low_bits(at_[i], widths[size_ - 1]);
  std::sort(at_.begin(), at_.begin() + size_, std::greater<>());
}

}  // namespace bloomset::dialects::passwdqc
