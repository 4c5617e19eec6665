#pragma once

// Sequence locks for blocks that one thread writes while others read them (H.-J. Boehm, "Can
// Seqlocks Get Along With Programming Language Memory Models?", MSPC 2012). A counter is odd while
// a block of its stripe is being written. The thread sanitizer does not follow fences, so there are
// none: the words of a block are stored with release and loaded with acquire.

#include <array>
#include <atomic>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/detail/vector_quotient/layout.hpp>
#include <cstddef>
#include <cstdint>

namespace bloomset::detail {

class vq_seqlocks {
 public:
  /// Waits until no write of the block is under way; returns its counter.
  std::uint32_t begin_read(std::uint64_t block) const noexcept {
    for (unsigned looks = 1;; ++looks) {
      const std::uint32_t seen = counter(block).load(std::memory_order_acquire);
      if (seen % 2 == 0) return seen;
      // A write takes about 100 ns, unless its thread is preempted.
      if (looks % 64 == 0) give_way();
    }
  }
  /// Whether no write of the block has begun since begin_read() returned `seen`.
  bool is_unchanged(std::uint64_t block, std::uint32_t seen) const noexcept {
    return counter(block).load(std::memory_order_relaxed) == seen;
  }

  /// Copies the words of a block that may be written meanwhile.
  static void copy(const std::byte* block, std::byte* to) noexcept {
    for (std::size_t at = 0; at < vq_block_bytes; at += 8) {
      // An atomic_ref of const is C++26; nothing is written.
      auto* const word = reinterpret_cast<std::uint64_t*>(
          const_cast<std::byte*>(block + at));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
      store(to + at, std::atomic_ref(*word).load(std::memory_order_acquire));
    }
  }

 private:
  // The counters have 16 KiB and stay in the cache. Two threads rarely meet at one of them.
  static constexpr std::size_t stripes = 4096;
  friend class vq_block_write;

  const std::atomic<std::uint32_t>& counter(std::uint64_t block) const noexcept {
    return counters_[block % stripes];
  }

  std::array<std::atomic<std::uint32_t>, stripes> counters_{};
};

/// Writes one block while it exists. Only one thread writes at a time. Without locks this does
/// nothing. If the thread already writes a block of the same stripe, the outer write ends both.
class vq_block_write {
 public:
  vq_block_write(vq_seqlocks* locks, std::uint64_t block) noexcept {
    if (locks == nullptr) return;
    auto& counter = locks->counters_[block % vq_seqlocks::stripes];
    const std::uint32_t now = counter.load(std::memory_order_relaxed);
    if (now % 2 != 0) return;
    counter.store(now + 1, std::memory_order_relaxed);
    counter_ = &counter;
  }
  vq_block_write(const vq_block_write&) = delete;
  vq_block_write& operator=(const vq_block_write&) = delete;
  ~vq_block_write() {
    if (counter_ == nullptr) return;
    counter_->store(counter_->load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  std::atomic<std::uint32_t>* counter_ = nullptr;
};

}  // namespace bloomset::detail
