#pragma once

// The overflow table of a vector quotient filter: for each tag with more copies than its blocks
// have room for, the number of further copies. A hash table with linear probing (D. E. Knuth, "The
// Art of Computer Programming" 3, 6.4, algorithms L and R) of E entries, E a power of two or 0. The
// key of an entry is the tag's pair number (vq_layout::pair_number).

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/vector_quotient/layout.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// An overflow table over bytes anywhere, read-only. In a damaged table a search ends after at most
/// one round, with a meaningless count.
class vq_overflow_view {
 public:
  vq_overflow_view() noexcept = default;
  /// Precondition: a power of two of entries, or none.
  explicit vq_overflow_view(std::span<const std::byte> bytes) noexcept
      : bytes_(bytes.data()), entries_(bytes.size() / sizeof(vq_entry)) {}
  /// open, view and bytes are those of vq_overflow_table, without a copy.
  static result<vq_overflow_view> open(std::span<const std::byte> bytes) {
    return vq_overflow_view(bytes);
  }
  vq_overflow_view view() const noexcept { return *this; }
  std::span<const std::byte> bytes() const noexcept {
    return {bytes_, static_cast<std::size_t>(entries_) * sizeof(vq_entry)};
  }

  [[gnu::always_inline]] std::uint64_t entries() const noexcept { return entries_; }
  [[gnu::always_inline]] vq_entry entry(std::uint64_t i) const noexcept {
    return load<vq_entry>(bytes_ + i * sizeof(vq_entry));
  }
  /// Copies of the tag in the table.
  [[gnu::always_inline]] std::uint64_t copies(std::uint64_t pair) const noexcept {
    const std::uint64_t at = find(pair);
    return at < entries_ ? entry(at).copies : 0;
  }
  /// The index of the tag's entry, or entries() if it has none.
  [[gnu::always_inline]] std::uint64_t find(std::uint64_t pair) const noexcept {
    if (entries_ == 0) return 0;
    std::uint64_t at = home(pair);
    for (std::uint64_t steps = 0; steps < entries_; ++steps, at = next(at)) {
      const vq_entry found = entry(at);
      if (found.copies == 0) break;
      if (found.pair == pair) return at;
    }
    return entries_;
  }
  /// The index at which the search for a tag begins.
  [[gnu::always_inline]] std::uint64_t home(std::uint64_t pair) const noexcept {
    return remix64(pair) & (entries_ - 1);
  }
  [[gnu::always_inline]] std::uint64_t next(std::uint64_t i) const noexcept {
    return (i + 1) & (entries_ - 1);
  }

 private:
  const std::byte* bytes_ = nullptr;
  std::uint64_t entries_ = 0;
};

/// An overflow table in memory of its own.
///
/// Space   16 bytes per entry; one to three quarters of the entries are in use, except at the least
///         size of 4 entries. Without a tag it has no memory.
/// Insert  O(1) amortised.
class vq_overflow_table {
 public:
  vq_overflow_table() noexcept = default;

  /// A copy of stored entries; out_of_memory if there is no memory for them.
  static result<vq_overflow_table> open(std::span<const std::byte> bytes);

  vq_overflow_view view() const noexcept { return vq_overflow_view(memory_.bytes()); }
  [[gnu::always_inline]] std::uint64_t copies(std::uint64_t pair) const noexcept {
    return used_ == 0 ? 0 : view().copies(pair);
  }
  std::uint64_t entries() const noexcept { return memory_.bytes().size() / sizeof(vq_entry); }
  std::uint64_t used() const noexcept { return used_; }
  std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }
  /// Bytes that the table grows by if one more tag is inserted; 0 while it has a free entry.
  std::uint64_t next_growth() const noexcept;

  /// Adds copies of a tag. Returns false, and changes nothing, without memory or beyond 2^64
  /// copies.
  bool insert(std::uint64_t pair, std::uint64_t copies) noexcept;
  /// Erases one copy of a tag; returns false if there is none.
  bool erase(std::uint64_t pair) noexcept;
  void clear() noexcept;
  void relocate(const memory_mover& mover) noexcept { memory_.relocate(mover); }

 private:
  bool resize(std::uint64_t entries) noexcept;
  void insert_new(const vq_entry& entry) noexcept;
  void set(std::uint64_t i, const vq_entry& entry) noexcept {
    store(memory_.writable_bytes().data() + i * sizeof(vq_entry), entry);
  }

  owned_storage memory_;
  std::uint64_t used_ = 0;
};

}  // namespace bloomset::detail
