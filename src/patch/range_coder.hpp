#pragma once

// Arithmetic coding of bits under adaptive probabilities, by G. N. N. Martin's range coder ("Range
// encoding", 1979) with the carry handling of Schindler's and Pavlov's coders. Only whole numbers
// are used, so every machine codes alike.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(hidden)

namespace bloomset::detail {

/// The probability that a bit is 1, in 1/65536, and the number of observations that it rests on.
/// It begins as Krichevsky and Trofimov's estimate (1981) and forgets after about 1000 bits.
struct bit_model {
  static constexpr std::uint32_t scale = 65536;
  static constexpr std::uint32_t least = 32;  // the range is then never empty
  static constexpr std::size_t max_seen = 1023;

  std::uint16_t one = scale / 2;
  std::uint16_t seen = 0;

  bit_model() noexcept = default;
  /// Expects 1 with that probability, and weighs this as much as `weight` observations.
  bit_model(std::uint64_t probability, std::uint16_t weight) noexcept
      : one(static_cast<std::uint16_t>(probability < least           ? least
                                       : probability > scale - least ? scale - least
                                                                     : probability)),
        seen(weight) {}

  void learn(bool bit) noexcept {
    const std::uint32_t share = shares[seen];
    std::uint32_t now = one;
    if (bit) {
      now += (scale - now) * share >> 16;
      now = std::min(now, scale - least);
    } else {
      now -= now * share >> 16;
      now = std::max(now, least);
    }
    one = static_cast<std::uint16_t>(now);
    if (seen < max_seen) ++seen;
  }

 private:
  static constexpr auto shares = [] {
    std::array<std::uint16_t, max_seen + 1> made{};
    for (std::size_t n = 0; n < made.size(); ++n) {
      made[n] = static_cast<std::uint16_t>(scale / (n + 2));
    }
    return made;
  }();
};

/// The interval has 48 bits. A byte is written whenever it has less than 40.
struct range_bits {
  static constexpr std::uint64_t whole = std::uint64_t{1} << 48;
  static constexpr std::uint64_t narrow = std::uint64_t{1} << 40;
  static constexpr unsigned bytes = 6;
};

class range_encoder {
 public:
  static constexpr bool decodes = false;

  explicit range_encoder(std::vector<std::byte>& into) : into_(into) {}

  bool bit(bit_model& model, bool value) {
    const std::uint64_t bound = (range_ >> 16) * model.one;
    if (value) {
      range_ = bound;
    } else {
      low_ += bound;
      range_ -= bound;
    }
    model.learn(value);
    while (range_ < range_bits::narrow) {
      range_ <<= 8;
      shift();
    }
    return value;
  }

  /// Writes what is left: the number in the interval with the most zeros at its end, without them.
  void finish() {
    for (unsigned zeros = 48;; --zeros) {
      const std::uint64_t mask = (std::uint64_t{1} << zeros) - 1;
      const std::uint64_t number = (low_ + mask) & ~mask;
      if (number < low_ + range_) {
        low_ = number;
        break;
      }
    }
    for (unsigned i = 0; i < range_bits::bytes + 1; ++i) shift();
    while (into_.size() > begin_ && into_.back() == std::byte{}) into_.pop_back();
  }

 private:
  /// Moves the highest byte out. It waits while a carry may still change it.
  void shift() {
    if (!has_waiting_ || low_ < std::uint64_t{0xff} << 40 || low_ >= range_bits::whole) {
      const auto carry = static_cast<unsigned>(low_ >> 48);
      if (has_waiting_) into_.push_back(static_cast<std::byte>(waiting_ + carry));
      for (; full_ != 0; --full_) into_.push_back(static_cast<std::byte>(0xff + carry));
      waiting_ = static_cast<unsigned>(low_ >> 40) & 0xff;
      has_waiting_ = true;
    } else {
      ++full_;
    }
    low_ = (low_ & (range_bits::narrow - 1)) << 8;
  }

  std::vector<std::byte>& into_;
  std::size_t begin_ = into_.size();
  std::uint64_t low_ = 0;
  std::uint64_t range_ = range_bits::whole - 1;
  std::uint64_t full_ = 0;  // bytes ff after the waiting one
  unsigned waiting_ = 0;
  bool has_waiting_ = false;
};

class range_decoder {
 public:
  static constexpr bool decodes = true;

  explicit range_decoder(std::span<const std::byte> from) : from_(from) {
    for (unsigned i = 0; i < range_bits::bytes; ++i) code_ = code_ << 8 | next();
  }

  bool bit(bit_model& model, bool /*value*/) noexcept {
    const std::uint64_t bound = (range_ >> 16) * model.one;
    const bool value = code_ < bound;
    if (value) {
      range_ = bound;
    } else {
      code_ -= bound;
      range_ -= bound;
    }
    model.learn(value);
    while (range_ < range_bits::narrow) {
      range_ <<= 8;
      code_ = code_ << 8 | next();
    }
    return value;
  }

  /// Whether bytes are left over.
  bool has_more() const noexcept { return at_ < from_.size(); }

 private:
  /// Zeros follow the last byte.
  std::uint64_t next() noexcept {
    return at_ < from_.size() ? std::to_integer<std::uint64_t>(from_[at_++]) : 0;
  }

  std::span<const std::byte> from_;
  std::size_t at_ = 0;
  std::uint64_t code_ = 0;
  std::uint64_t range_ = range_bits::whole - 1;
};

}  // namespace bloomset::detail

#pragma GCC visibility pop
