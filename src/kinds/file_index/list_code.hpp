#pragma once

// Lists of files as bits: d >= 2 ascending numbers below N.
//
//     d - 1       Elias gamma code: b zeros, then the b + 1 bits of the number, highest first
//     d > N / 4   N bits, bit i for file i
//     else        the differences to the file before, less 1, in Rice codes: quotient by 2^k in
//                 ones and a zero, then k bits; k = floor(log2(0.7 N / d)), at least 0
//
// Bits fill words of 64 from the lowest on.

#include <bit>
#include <bloomset/detail/core/bits.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// Bits after the last one that a reader may load.
inline constexpr std::size_t bit_padding = 8;

class bit_writer {
 public:
  std::uint64_t size() const noexcept { return size_; }

  /// Appends the lowest `bits` bits. Precondition: bits <= 32.
  void put(std::uint64_t value, unsigned bits) {
    words_.resize((size_ + bits + 63) / 64);
    if (bits == 0) return;
    value &= (std::uint64_t{1} << bits) - 1;
    const auto shift = static_cast<unsigned>(size_ % 64);
    words_[size_ / 64] |= value << shift;
    if (shift + bits > 64) words_[size_ / 64 + 1] |= value >> (64 - shift);
    size_ += bits;
  }
  std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(words_)); }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t size_ = 0;
};

/// Reads bits below `end`. A read beyond gives zeros and is remembered.
class bit_reader {
 public:
  bit_reader(const std::byte* bits, std::uint64_t at, std::uint64_t end) noexcept
      : bits_(bits), at_(at), end_(end) {}

  bool failed() const noexcept { return failed_; }

  /// Precondition: bits <= 32.
  std::uint32_t get(unsigned bits) noexcept {
    if (at_ > end_ || bits > end_ - at_) {
      failed_ = true;
      return 0;
    }
    const auto value = load<std::uint64_t>(bits_ + at_ / 8) >> (at_ % 8);
    at_ += bits;
    return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << bits) - 1));
  }
  /// The number of bits of that value before the next other one, which is skipped. Fails beyond
  /// `most`.
  std::uint32_t run(bool of, std::uint32_t most) noexcept {
    std::uint64_t length = 0;
    for (;;) {
      if (at_ >= end_ || length > most) {
        failed_ = true;
        return 0;
      }
      const auto word = load<std::uint64_t>(bits_ + at_ / 8) >> (at_ % 8);
      const auto here = static_cast<unsigned>(std::countr_zero(of ? ~word : word));
      if (here < loaded) {
        length += here;
        at_ += here + 1;
        failed_ |= at_ > end_ || length > most;
        return static_cast<std::uint32_t>(length);
      }
      length += loaded;
      at_ += loaded;
    }
  }

  /// A Rice code with k low bits, k <= 25, whose quotient is at most `most`.
  std::uint64_t rice(unsigned k, std::uint32_t most) noexcept {
    if (at_ < end_) {  // mostly, one load has all of it
      const auto word = load<std::uint64_t>(bits_ + at_ / 8) >> (at_ % 8);
      const auto quotient = static_cast<unsigned>(std::countr_one(word));
      const unsigned bits = quotient + 1 + k;
      if (bits <= loaded && bits <= end_ - at_ && quotient <= most) {
        at_ += bits;
        return std::uint64_t{quotient} << k |
               (word >> (quotient + 1) & ((std::uint64_t{1} << k) - 1));
      }
    }
    const std::uint64_t quotient = run(true, most);
    return quotient << k | get(k);
  }

 private:
  static constexpr unsigned loaded = 57;  // bits that a load has at any offset

  const std::byte* bits_;
  std::uint64_t at_;
  std::uint64_t end_;
  bool failed_ = false;
};

inline bool is_dense(std::uint64_t d, std::uint64_t files) noexcept {
  return 4 * d > files;
}
inline unsigned rice_bits(std::uint64_t d, std::uint64_t files) noexcept {
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a list has two files at least.
  const std::uint64_t mean = 7 * files / (10 * d);
  return mean == 0 ? 0 : static_cast<unsigned>(std::bit_width(mean) - 1);
}

inline void write_list(bit_writer& writer, std::span<const std::uint32_t> list,
                       std::uint64_t files) {
  const auto length = static_cast<std::uint32_t>(list.size() - 1);
  const auto length_bits = static_cast<unsigned>(std::bit_width(length));
  writer.put(0, length_bits - 1);
  for (unsigned bit = length_bits; bit-- > 0;) writer.put(length >> bit & 1, 1);
  if (is_dense(list.size(), files)) {
    std::size_t next = 0;
    for (std::uint32_t file = 0; file < files; ++file) {
      const bool has = next < list.size() && list[next] == file;
      writer.put(has, 1);
      next += has;
    }
    return;
  }
  const unsigned k = rice_bits(list.size(), files);
  std::uint32_t expected = 0;
  for (const std::uint32_t file : list) {
    const std::uint32_t difference = file - expected;
    for (std::uint32_t i = 0; i < difference >> k; ++i) writer.put(1, 1);
    writer.put(0, 1);
    writer.put(difference, k);
    expected = file + 1;
  }
}

/// Appends the list to `to`, or skips it if that is null. Returns false if the bits are no list.
inline bool read_list(bit_reader& reader, std::uint64_t files, std::vector<std::uint32_t>* to) {
  const std::uint32_t zeros = reader.run(false, 31);
  std::uint64_t length = 1;
  for (std::uint32_t i = 0; i < zeros; ++i) length = length << 1 | reader.get(1);
  const std::uint64_t d = length + 1;
  if (reader.failed() || d > files) return false;
  if (is_dense(d, files)) {
    std::uint64_t found = 0;
    for (std::uint32_t file = 0; file < files && !reader.failed(); ++file) {
      if (reader.get(1) == 0) continue;
      ++found;
      if (to != nullptr) to->push_back(file);
    }
    return !reader.failed() && found == d;
  }
  const unsigned k = rice_bits(d, files);
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < d; ++i) {
    const std::uint64_t file = expected + reader.rice(k, static_cast<std::uint32_t>(files >> k));
    if (reader.failed() || file >= files) return false;
    if (to != nullptr) to->push_back(static_cast<std::uint32_t>(file));
    expected = file + 1;
  }
  return true;
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
