#pragma once

// Parameter blocks: little-endian fields one after the other, then zeros up to a multiple of 64
// bytes.

#include <bloomery/detail/core/bits.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bloomery::detail {

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
      overrun_ = true;
      return Word{};
    }
    const Word word = load<Word>(block_.data() + at_);
    at_ += sizeof(Word);
    return word;
  }

  /// Whether every read was inside the block, and the bytes after the last field are the padding
  /// that a writer makes.
  bool complete() const noexcept {
    if (overrun_ || block_.size() != round_up(at_, block_bytes)) return false;
    for (std::size_t i = at_; i < block_.size(); ++i) {
      if (block_[i] != std::byte{0}) return false;
    }
    return true;
  }

 private:
  std::span<const std::byte> block_;
  std::size_t at_ = 0;
  bool overrun_ = false;
};

}  // namespace bloomery::detail
