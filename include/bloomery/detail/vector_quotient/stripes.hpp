#pragma once

// Sequence counters for blocks that one thread changes while others read them (H.-J. Boehm, "Can
// Seqlocks Get Along With Programming Language Memory Models?", MSPC 2012): odd while a block of
// the stripe is being changed. Without fences, which the thread sanitizer does not follow: the
// words of blocks are stored with release and loaded with acquire, which costs nothing on x86.

#include <array>
#include <atomic>
#include <bloomery/detail/core/threads.hpp>
#include <bloomery/detail/vector_quotient/layout.hpp>
#include <cstddef>
#include <cstdint>

namespace bloomery::detail {

class vq_stripes {
 public:
  /// The counter of a block when no change is under way; waits for that.
  std::uint32_t begin_read(std::uint64_t block) const noexcept {
    for (unsigned looks = 1;; ++looks) {
      const std::uint32_t seen = of(block).load(std::memory_order_acquire);
      if (seen % 2 == 0) return seen;
      // A change takes some 100 ns, unless its thread was put aside in the middle of it.
      if (looks % 64 == 0) give_way();
    }
  }
  /// Whether nothing has changed since.
  bool is_still(std::uint64_t block, std::uint32_t seen) const noexcept {
    return of(block).load(std::memory_order_relaxed) == seen;
  }

  /// Before a change; false if one of this writer's is under way in the stripe already, which then
  /// is what ends it. Writers take turns.
  bool begin_change(std::uint64_t block) noexcept {
    auto& counter = of(block);
    const std::uint32_t now = counter.load(std::memory_order_relaxed);
    if (now % 2 != 0) return false;
    counter.store(now + 1, std::memory_order_relaxed);
    return true;
  }
  void end_change(std::uint64_t block) noexcept {
    auto& counter = of(block);
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// A copy of a block's words as they stand.
  static void copy(const std::byte* block, std::byte* to) noexcept {
    for (std::size_t at = 0; at < vq_block_bytes; at += 8) {
      // An atomic_ref of const is C++26; nothing is written.
      auto* const word = reinterpret_cast<std::uint64_t*>(
          const_cast<std::byte*>(block + at));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
      store(to + at, std::atomic_ref(*word).load(std::memory_order_acquire));
    }
  }

 private:
  // Two threads meet in one of so many stripes seldom enough; 16 KiB stay in the cache.
  static constexpr std::size_t stripes = 4096;

  std::atomic<std::uint32_t>& of(std::uint64_t block) noexcept {
    return counters_[block % stripes];
  }
  const std::atomic<std::uint32_t>& of(std::uint64_t block) const noexcept {
    return counters_[block % stripes];
  }

  std::array<std::atomic<std::uint32_t>, stripes> counters_{};
};

/// The change of one block, where there are stripes to be told.
class vq_change {
 public:
  vq_change(vq_stripes* stripes, std::uint64_t block) noexcept
      : stripes_(stripes != nullptr && stripes->begin_change(block) ? stripes : nullptr),
        block_(block) {}
  vq_change(const vq_change&) = delete;
  vq_change& operator=(const vq_change&) = delete;
  ~vq_change() {
    if (stripes_ != nullptr) stripes_->end_change(block_);
  }

 private:
  vq_stripes* stripes_;
  std::uint64_t block_;
};

}  // namespace bloomery::detail
