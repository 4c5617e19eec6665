#pragma once

// Parameter blocks: little-endian fields one after the other, then zeros up to a multiple of 64
// bytes.
//
// values(), u16(), u32(), zeros() and constant() exist in writer and reader, so that one list of
// fields serves both. u16() makes fields of 16 bits from integers and enumerations of any size.

#include <bloomset/detail/core/bits.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bloomset::detail {

inline constexpr std::size_t block_bytes = 64;

class record_writer {
 public:
  template <class Word>
  record_writer& put(Word word) {
    const std::size_t at = block_.size();
    block_.resize(at + sizeof word);
    store(block_.data() + at, word);
    return *this;
  }

  template <class... Words>
  record_writer& values(Words... words) {
    return (put(words), ...);
  }
  template <class... Values>
  record_writer& u16(Values... values) {
    return (put(static_cast<std::uint16_t>(values)), ...);
  }
  template <class... Values>
  record_writer& u32(Values... values) {
    return (put(static_cast<std::uint32_t>(values)), ...);
  }
  record_writer& zeros(std::size_t bytes) {
    block_.resize(block_.size() + bytes);
    return *this;
  }
  /// A field that has one value in every file.
  template <class Word>
  record_writer& constant(Word word) {
    return put(word);
  }

  std::vector<std::byte> finish() {
    block_.resize(round_up(block_.size(), block_bytes));
    return std::move(block_);
  }

 private:
  std::vector<std::byte> block_;
};

/// Reads the fields that record_writer wrote. A read past the end gives zero and is remembered.
class record_reader {
 public:
  explicit record_reader(std::span<const std::byte> block) noexcept : block_(block) {}

  template <class Word>
  Word get() noexcept {
    if (block_.size() - at_ < sizeof(Word)) {
      wrong_ = true;
      return Word{};
    }
    const Word word = load<Word>(block_.data() + at_);
    at_ += sizeof(Word);
    return word;
  }

  template <class... Words>
  record_reader& values(Words&... words) noexcept {
    return (narrow<Words>(words), ...);
  }
  template <class... Values>
  record_reader& u16(Values&... values) noexcept {
    return (narrow<std::uint16_t>(values), ...);
  }
  template <class... Values>
  record_reader& u32(Values&... values) noexcept {
    return (narrow<std::uint32_t>(values), ...);
  }
  record_reader& zeros(std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; ++i) wrong_ |= get<std::uint8_t>() != 0;
    return *this;
  }
  template <class Word>
  record_reader& constant(Word word) noexcept {
    wrong_ |= get<Word>() != word;
    return *this;
  }

  /// Whether every read was inside the block, every field fitted its value, and the bytes after the
  /// last field are the padding that a writer makes.
  bool complete() const noexcept {
    if (wrong_ || block_.size() != round_up(at_, block_bytes)) return false;
    return is_zero(block_.subspan(at_));
  }

 private:
  template <class Word, class Value>
  record_reader& narrow(Value& value) noexcept {
    const Word word = get<Word>();
    value = static_cast<Value>(word);
    wrong_ |= std::integral<Word> && static_cast<Word>(value) != word;
    return *this;
  }

  std::span<const std::byte> block_;
  std::size_t at_ = 0;
  bool wrong_ = false;
};

}  // namespace bloomset::detail
