#pragma once

// The places and values of changes, as a tree.
//
// Pages of 64 KiB are halved down to 4 bits. For a node with changes, one bit says whether its
// first half has some, and another one whether its second half has. The second bit is left out if
// the first half has none. Each level has its own probabilities. Scattered changes thus cost their
// entropy, and changes that are neighbours, as those of a block of blocked_bloom, cost less: the
// probabilities of the levels below the block say so.

#include <algorithm>
#include <array>
#include <bloomset/detail/core/bits.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "patch/range_coder.hpp"

#pragma GCC visibility push(hidden)

namespace bloomset::detail {

inline constexpr std::size_t page_bytes = std::size_t{1} << 16;

/// The share of groups of 4 bits that change, in steps of a sixteenth or less: (16 - k mod 8) / 16
/// / 2^(k div 8) for the step k.
constexpr std::uint64_t share_of_step(std::uint8_t step) noexcept {
  return ((std::uint64_t{16} - step % 8) << 28) >> (step / 8);
}
inline constexpr std::uint64_t whole_share = std::uint64_t{1} << 32;

/// Codes changes in one direction: from words to bits or back. `Coder` is range_encoder or
/// range_decoder. A coder has about 30 kB.
template <class Coder>
class change_coder {
 public:
  /// With `only_sets` no bit changes from 1 to 0.
  change_coder(Coder& coder, bool only_sets, std::uint8_t step) noexcept
      : coder_(coder), only_sets_(only_sets) {
    std::uint64_t share = capped(share_of_step(step));  // of a half, in 1/2^32
    if (share == 0) share = 1;
    const auto twice = [](std::uint64_t one) { return 2 * one - (one * one >> 32); };
    for (unsigned level = 0; level < levels; ++level) {
      second_[level] = bit_model(share >> 16, weight);
      for (std::uint64_t part = 0; part <= parts; ++part) {
        // Halves with part / parts and with the rest of the bits that can change.
        const std::uint64_t left = capped(2 * share * part / parts);
        const std::uint64_t right = capped(2 * share * (parts - part) / parts);
        const std::uint64_t any = left + right - (left * right >> 32);
        first_[level][part] = bit_model(any == 0 ? 0 : (left << 16) / any, weight);
      }
      share = capped(twice(share));
    }
    page_ = {bit_model(share >> 16, weight), bit_model(share >> 16, weight)};
    for (unsigned left = 1; left <= 4; ++left) {
      bit_[left] = {bit_model(bit_model::scale / left, weight), bit_model(1024, weight)};
    }
  }

  /// One page. When encoding, `after` is read; when decoding, it is written. `before` may be
  /// shorter, and is followed by zeros. Precondition: after.size() <= page_bytes.
  template <class Byte>
  void page(std::span<const std::byte> before, std::span<Byte> after) {
    words_ = (after.size() + 7) / 8;
    changes_.fill(0);
    bool differs = false;
    if constexpr (!Coder::decodes) differs = find_changes(before, after);
    differs = coder_.bit(page_[last_page_ ? 1 : 0], differs);
    last_page_ = differs;
    if (differs) node(1, levels - 1, before);
    if constexpr (Coder::decodes) {
      for (std::size_t w = 0; w < words_; ++w) {
        const std::uint64_t word = old_word(before, w) ^ changes_[w];
        const std::size_t at = w * 8;
        std::memcpy(after.data() + at, &word, std::min<std::size_t>(8, after.size() - at));
      }
    }
  }

 private:
  static constexpr unsigned levels = 17;      // halves of 4 bits up to 32 KiB
  static constexpr unsigned word_levels = 4;  // halves of 4 to 32 bits
  static constexpr std::size_t page_words = page_bytes / 8;
  static constexpr std::uint64_t parts = 8;
  static constexpr std::uint16_t weight = 8;

  static std::uint64_t capped(std::uint64_t share) noexcept {
    return share < whole_share ? share : whole_share - 1;
  }

  static std::uint64_t old_word(std::span<const std::byte> bytes, std::size_t w) noexcept {
    const std::size_t at = w * 8;
    if (at + 8 <= bytes.size()) return load<std::uint64_t>(bytes.data() + at);
    std::uint64_t word = 0;
    if (at < bytes.size()) std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    return word;
  }

  template <class Byte>
  bool find_changes(std::span<const std::byte> before, std::span<Byte> after) {
    if (before.size() == after.size() &&
        std::memcmp(before.data(), after.data(), after.size()) == 0) {
      return false;
    }
    for (std::size_t w = 0; w < words_; ++w) {
      changes_[w] = old_word(before, w) ^ old_word(after, w);
      changed_[page_words + w] = changes_[w] != 0;
    }
    std::fill(changed_.begin() + static_cast<std::ptrdiff_t>(page_words + words_), changed_.end(),
              false);
    for (std::size_t i = page_words - 1; i >= 1; --i)
      changed_[i] = changed_[2 * i] || changed_[2 * i + 1];
    return changed_[1];
  }

  /// A part of the page of two halves or more, all above words. `at` is its number in a heap.
  void node(std::size_t at, unsigned level, std::span<const std::byte> before) {
    if (at >= page_words) {
      const std::size_t w = at - page_words;
      changes_[w] = part(old_word(before, w), changes_[w], word_levels - 1, 64);
      return;
    }
    // A half that begins behind the end has no changes.
    const std::size_t right_begin = (2 * at + 1) << (level - word_levels) & (page_words - 1);
    const bool has_right = right_begin < words_;
    const bool left = !has_right || coder_.bit(first_[level][parts / 2], changed_[2 * at]);
    const bool right = !left || (has_right && coder_.bit(second_[level], changed_[2 * at + 1]));
    if (left) node(2 * at, level - 1, before);
    if (right) node(2 * at + 1, level - 1, before);
  }

  /// The lowest `bits` bits of `old` change by `change`, which is known when encoding and not 0.
  /// Returns the change.
  std::uint64_t part(std::uint64_t old, std::uint64_t change, unsigned level, unsigned bits) {
    if (bits == 4) return only_sets_ ? sets(old & 15, change) : value(old & 15, change);
    const unsigned half = bits / 2;
    const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
    std::uint64_t at = parts / 2;
    bool left = (change & mask) != 0;
    bool right = (change >> half & mask) != 0;
    unsigned zeros = 1;
    unsigned upper_zeros = 1;
    if (only_sets_) {
      zeros = half - count_ones(old & mask);
      upper_zeros = half - count_ones(old >> half & mask);
      // Without zeros nothing can be set. Damaged input may say that it is.
      if (zeros + upper_zeros != 0)
        at = (parts * zeros + (zeros + upper_zeros) / 2) / (zeros + upper_zeros);
    }
    left = upper_zeros == 0 || (zeros != 0 && coder_.bit(first_[level][at], left));
    right = !left || (upper_zeros != 0 && coder_.bit(second_[level], right));
    std::uint64_t made = 0;
    if (left) made = part(old & mask, change & mask, level - 1, half);
    if (right) made |= part(old >> half & mask, change >> half & mask, level - 1, half) << half;
    return made;
  }

  /// Which zeros of 4 bits are set.
  std::uint64_t sets(std::uint64_t old, std::uint64_t change) {
    unsigned left = 4 - count_ones(old);
    std::uint64_t made = 0;
    for (std::uint64_t bit = 8; bit != 0; bit >>= 1) {
      if ((old & bit) != 0) continue;
      if ((left == 1 && made == 0) ||
          coder_.bit(bit_[left][made == 0 ? 0 : 1], (change & bit) != 0)) {
        made |= bit;
      }
      --left;
    }
    return made;
  }

  /// How 4 bits change, whose old value is known. Counters often change from a value to the next.
  std::uint64_t value(std::uint64_t old, std::uint64_t change) {
    auto& models = value_[old];
    std::uint64_t made = 1;  // and the bits so far
    for (unsigned i = 4; i-- != 0;) {
      const bool last = made == 8;  // a change is not 0
      made = made * 2 + (last || coder_.bit(models[made], (change >> i & 1) != 0) ? 1 : 0);
    }
    return made - 16;
  }

  Coder& coder_;
  bool only_sets_;
  bool last_page_ = true;
  std::size_t words_ = 0;
  std::array<bit_model, 2> page_;
  std::array<std::array<bit_model, parts + 1>, levels> first_;
  std::array<bit_model, levels> second_;
  std::array<std::array<bit_model, 2>, 5> bit_;
  std::array<std::array<bit_model, 16>, 16> value_;
  std::array<std::uint64_t, page_words> changes_{};
  std::array<bool, 2 * page_words> changed_{};
};

}  // namespace bloomset::detail

#pragma GCC visibility pop
