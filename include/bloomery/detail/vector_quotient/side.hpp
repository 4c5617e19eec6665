#pragma once

// The side table of a vector quotient filter: for tags with more copies than the blocks hold, how
// many more. A hash table with linear probing (Knuth, TAOCP 3, 6.4, algorithms L and R), of a power
// of two of entries or of none at all; an entry is two 64-bit words, the pair number of the tag
// (vq_layout::pair_of) and its copies, zero for a free entry.

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/vector_quotient/layout.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// A table wherever its bytes are. What a damaged one answers means nothing; it answers after one
/// round at most.
class vq_side_view {
 public:
  constexpr vq_side_view() noexcept = default;
  /// Precondition: slots is a power of two or zero.
  constexpr vq_side_view(const std::byte* entries, std::uint64_t slots) noexcept
      : entries_(entries), slots_(slots) {}

  [[gnu::always_inline]] std::uint64_t slots() const noexcept { return slots_; }
  [[gnu::always_inline]] vq_entry entry(std::uint64_t i) const noexcept {
    return load<vq_entry>(entries_ + i * sizeof(vq_entry));
  }
  /// Copies of the tag in the table.
  [[gnu::always_inline]] std::uint64_t copies(std::uint64_t pair) const noexcept {
    const std::uint64_t at = find(pair);
    return at < slots_ ? entry(at).copies : 0;
  }
  /// Where the tag's entry is, or slots() if there is none.
  [[gnu::always_inline]] std::uint64_t find(std::uint64_t pair) const noexcept {
    if (slots_ == 0) return 0;
    std::uint64_t at = home(pair);
    for (std::uint64_t steps = 0; steps < slots_; ++steps, at = (at + 1) & (slots_ - 1)) {
      const vq_entry found = entry(at);
      if (found.copies == 0) break;
      if (found.pair == pair) return at;
    }
    return slots_;
  }
  [[gnu::always_inline]] std::uint64_t home(std::uint64_t pair) const noexcept {
    return remix64(pair) & (slots_ - 1);
  }
  void prefetch(std::uint64_t pair) const noexcept {
    if (slots_ != 0) __builtin_prefetch(entries_ + home(pair) * sizeof(vq_entry));
  }

 private:
  const std::byte* entries_ = nullptr;
  std::uint64_t slots_ = 0;
};

/// A table in memory of its own, between one and three quarters full, or of the least size or none.
class vq_side {
 public:
  vq_side() noexcept = default;

  /// A copy of stored entries; what cannot be had of memory is out_of_memory.
  static result<vq_side> copy_of(std::span<const std::byte> entries);

  vq_side_view view() const noexcept { return {memory_.bytes().data(), slots()}; }
  [[gnu::always_inline]] bool holds(std::uint64_t pair) const noexcept {
    return used_ != 0 && view().copies(pair) != 0;
  }
  std::uint64_t slots() const noexcept { return memory_.bytes().size() / sizeof(vq_entry); }
  std::uint64_t used() const noexcept { return used_; }
  std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }
  /// Bytes by which it grows with one tag more; 0 if that has room.
  std::uint64_t next_growth() const noexcept;

  /// Adds copies of a tag: false, and nothing has changed, without memory or beyond 2^64.
  /// O(1) amortised.
  bool add(std::uint64_t pair, std::uint64_t copies) noexcept;
  /// Takes one copy of a tag: false if there is none. The last one gives up the memory.
  bool take(std::uint64_t pair) noexcept;
  void clear() noexcept;
  void relocate(const memory_mover& mover) noexcept { memory_.relocate(mover); }

 private:
  bool resize(std::uint64_t slots) noexcept;
  void set(std::uint64_t at, const vq_entry& entry) noexcept {
    store(memory_.writable_bytes().data() + at * sizeof(vq_entry), entry);
  }

  owned_storage memory_;
  std::uint64_t used_ = 0;
};

}  // namespace bloomery::detail
