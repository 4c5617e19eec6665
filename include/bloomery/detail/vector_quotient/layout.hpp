#pragma once

// The blocks of a vector quotient filter and the rule that turns a hash into places in them;
// docs/format.md ("vector_quotient") draws them. This is the specification: the kernels in
// src/kernels/ do the same to the same bytes, faster.
//
// A block is 512 bits for up to S remainders of r bits in B mini-buckets:
//
//   bit 0            S r            512 - S - B                       512
//   | remainder 0 .. S - 1 |  zeros  |  ends: for each bucket a one for each of its remainders,  |
//   | ordered by bucket    |         |  then a zero; behind the last bucket's, zeros             |
//
// so that an empty block is zero, and the number of ones is that of the remainders in use.

#include <atomic>
#include <bloomery/detail/core/bits.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>

namespace bloomery {

/// Where a key of a vector quotient filter may be: a tag, that is a mini-bucket and a remainder, in
/// the first block or the second. They are one block for about one key in `blocks`, or in 8192.
struct vector_quotient_place {
  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t tag;  ///< bucket * 2^r + remainder
};

}  // namespace bloomery

namespace bloomery::detail {

inline constexpr std::uint64_t vq_block_bytes = 64;
inline constexpr unsigned vq_block_bits = 512;
/// A key's two blocks lie in the same region of so many (512 KiB), so that both are found by one
/// entry of the TLB, and everything that goes through a filter block by block stays in the cache.
/// The last region takes what is left over: up to twice as many.
inline constexpr unsigned vq_region_log2 = 13;
inline constexpr std::uint64_t vq_region_blocks = std::uint64_t{1} << vq_region_log2;
/// The ends of a block, and the bit before them, lie in its last three words.
inline constexpr unsigned vq_most_ends = 191;
inline constexpr unsigned vq_least_ends = 64;
inline constexpr unsigned vq_most_slots = 63;

[[gnu::always_inline]] inline std::uint64_t vq_word(const std::byte* block, unsigned i) noexcept {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, block + std::size_t{8} * i, sizeof word);
  return word;
}

/// Of the stash and the side table behind the blocks: a tag in its pair of blocks, and its copies.
struct vq_entry {
  std::uint64_t pair;
  std::uint64_t copies;
};
static_assert(sizeof(vq_entry) == 16);

/// Four fill one cache line.
inline constexpr unsigned vq_stash_entries = 4;
inline constexpr std::uint64_t vq_stash_bytes = vq_stash_entries * sizeof(vq_entry);

/// a or b without a branch, where none could be foretold.
[[gnu::always_inline]] constexpr std::uint64_t vq_pick(bool is_a, std::uint64_t a,
                                                       std::uint64_t b) noexcept {
  return b ^ ((a ^ b) & (0 - std::uint64_t{is_a}));
}

/// The place of the k-th set bit from below, or 64 if there is none (S. Vigna, "Broadword
/// Implementation of Rank/Select Queries", 2008: sums of bytes, then the bits of one).
[[gnu::always_inline]] constexpr unsigned vq_select(std::uint64_t word, unsigned k) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t high = 0x8080808080808080;
  if (k >= 64) return 64;
  std::uint64_t sums = word - ((word >> 1) & 0x5555555555555555);
  sums = (sums & 0x3333333333333333) + ((sums >> 2) & 0x3333333333333333);
  sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0f) * ones;  // byte i: bits in bytes 0 to i
  if (k >= sums >> 56) return 64;
  const std::uint64_t not_above = ((((k * ones) | high) - sums) & high) >> 7;
  const auto shift = static_cast<unsigned>((not_above * ones) >> 56) * 8;
  const auto before = static_cast<unsigned>(shift == 0 ? 0 : (sums >> (shift - 8)) & 0xff);
  std::uint64_t byte = (word >> shift) & 0xff;
  for (unsigned left = k - before; left != 0; --left) byte &= byte - 1;
  return shift + static_cast<unsigned>(__builtin_ctzll(byte));
}

/// The remainders of a bucket: slots [begin, end). Never beyond the block's slots, whatever its
/// bytes are.
struct vq_run {
  unsigned begin;
  unsigned end;
};

class vq_layout {
 public:
  /// Precondition: blocks is in [1, 2^44], slots in [1, 63], bits in [1, 32],
  /// slots + buckets in [64, 191], slots * (bits + 1) + buckets <= 512.
  constexpr vq_layout(std::uint64_t blocks, unsigned slots, unsigned buckets,
                      unsigned bits) noexcept
      : blocks_(blocks),
        tags_(std::uint64_t{buckets} << bits),
        last_base_(
            blocks < 2 * vq_region_blocks ? 0 : (blocks / vq_region_blocks - 1) * vq_region_blocks),
        slots_(slots),
        bits_(bits),
        ends_at_(vq_block_bits - slots - buckets),
        lanes_(57 / bits) {
    // The bit before the ends counts as the zero that ends a bucket before the first.
    for (unsigned bit = ends_at_ - 1; bit < vq_block_bits; ++bit) {
      zeros_[bit / 64 - 5] |= std::uint64_t{1} << (bit % 64);
    }
    const unsigned mark = ends_at_ - 1;
    before_[mark / 64 - 5] = std::uint64_t{1} << (mark % 64);
    for (unsigned lane = 0; lane < lanes_; ++lane) ones_ |= std::uint64_t{1} << (lane * bits);
    high_ = ones_ << (bits - 1);
    low_ = high_ - ones_;
  }

  constexpr std::uint64_t blocks() const noexcept { return blocks_; }
  constexpr unsigned slots() const noexcept { return slots_; }
  constexpr unsigned buckets() const noexcept { return vq_block_bits - slots_ - ends_at_; }
  constexpr unsigned remainder_bits() const noexcept { return bits_; }
  constexpr unsigned ends_at() const noexcept { return ends_at_; }
  /// Tags that exist: B * 2^r.
  constexpr std::uint64_t tags() const noexcept { return tags_; }
  constexpr std::uint64_t block_bytes() const noexcept { return blocks_ * vq_block_bytes; }

  [[gnu::always_inline]] constexpr unsigned bucket_of(std::uint64_t tag) const noexcept {
    return static_cast<unsigned>(tag >> bits_);
  }
  [[gnu::always_inline]] constexpr std::uint64_t remainder_of(std::uint64_t tag) const noexcept {
    return tag & ((std::uint64_t{1} << bits_) - 1);
  }

  /// The first block is h's share of them, the tag that of h times 2^64 divided by the golden
  /// ratio: its upper bits depend on all lower ones of h, which the block does not.
  [[gnu::always_inline]] constexpr vector_quotient_place place(hash64 h) const noexcept {
    const std::uint64_t first = mulhi64(h.value, blocks_);
    const std::uint64_t tag = mulhi64(h.value * 0x9e3779b97f4a7c15, tags_);
    return {first, other(first, tag), tag};
  }
  constexpr vector_quotient_place place(std::uint64_t block, std::uint64_t tag) const noexcept {
    return {block, other(block, tag), tag};
  }

  /// The other block of a tag: (g(tag) - block) modulo the region. Its own inverse, for any number
  /// of blocks, so that a tag can move without its key.
  [[gnu::always_inline]] constexpr std::uint64_t other(std::uint64_t block,
                                                       std::uint64_t tag) const noexcept {
    const bool is_last = block >= last_base_;
    const std::uint64_t base = vq_pick(is_last, last_base_, block & ~(vq_region_blocks - 1));
    const std::uint64_t size = vq_pick(is_last, blocks_ - last_base_, vq_region_blocks);
    std::uint64_t g = tag * 0xbf58476d1ce4e5b9;
    g = (g ^ (g >> 32)) * 0x94d049bb133111eb;
    g = ((g >> 32) * size) >> 32;
    const std::uint64_t local = block - base;
    return base + g - local + vq_pick(g < local, size, 0);
  }

  /// One number for a tag in its pair of blocks. Precondition: blocks() * tags() <= 2^63.
  [[gnu::always_inline]] constexpr std::uint64_t pair_of(
      const vector_quotient_place& at) const noexcept {
    return (at.first < at.second ? at.first : at.second) * tags_ + at.tag;
  }
  constexpr vector_quotient_place place_of_pair(std::uint64_t pair) const noexcept {
    return place(pair / tags_, pair % tags_);
  }

  [[gnu::always_inline]] const std::byte* block(const std::byte* blocks,
                                                std::uint64_t i) const noexcept {
    return blocks + i * vq_block_bytes;
  }
  [[gnu::always_inline]] std::byte* block(std::byte* blocks, std::uint64_t i) const noexcept {
    return blocks + i * vq_block_bytes;
  }

  /// Ones in words 5 to 7 where a zero is a bucket's end, or the one before them.
  [[gnu::always_inline]] std::uint64_t ends(const std::byte* block, unsigned word) const noexcept {
    return (~vq_word(block, word) & zeros_[word - 5]) | before_[word - 5];
  }

  /// Remainders in use; above slots() only in a damaged block. Such a one counts as full.
  [[gnu::always_inline]] unsigned taken(const std::byte* block) const noexcept {
    const int zeros = __builtin_popcountll(ends(block, 5)) + __builtin_popcountll(ends(block, 6)) +
                      __builtin_popcountll(ends(block, 7));
    return vq_block_bits - ends_at_ + 1 - static_cast<unsigned>(zeros);
  }

  /// The run of a bucket: between the zero that ends the bucket before it and the next zero, less
  /// the zeros on the way.
  vq_run run(const std::byte* block, unsigned bucket) const noexcept {
    const std::uint64_t z5 = ends(block, 5);
    const std::uint64_t z6 = ends(block, 6);
    const std::uint64_t z7 = ends(block, 7);
    const auto c5 = static_cast<unsigned>(__builtin_popcountll(z5));
    const auto c6 = c5 + static_cast<unsigned>(__builtin_popcountll(z6));
    const unsigned word = bucket < c5 ? 5 : bucket < c6 ? 6 : 7;
    const std::uint64_t here = word == 5 ? z5 : word == 6 ? z6 : z7;
    const std::uint64_t next = word == 5 ? z6 : word == 6 ? z7 : 0;
    const unsigned before = word == 5 ? 0 : word == 6 ? c5 : c6;
    const unsigned bit = vq_select(here, (bucket - before) % 64);
    return run_between(bucket, word, bit, here, next);
  }

  /// The rest of run(): from the zero before it, at `bit` of `word`, or 64 for none.
  [[gnu::always_inline]] vq_run run_between(unsigned bucket, unsigned word, unsigned bit,
                                            std::uint64_t here, std::uint64_t next) const noexcept {
    const std::uint64_t rest = (here >> (bit % 64)) >> 1;
    unsigned run = 0;
    if (rest != 0) [[likely]] {
      run = static_cast<unsigned>(__builtin_ctzll(rest));
    } else {
      run = 63 - bit % 64 + (next != 0 ? static_cast<unsigned>(__builtin_ctzll(next)) : 64);
    }
    const unsigned begin = 64 * word + bit + 1 - ends_at_ - bucket;
    const unsigned first = begin < slots_ ? begin : slots_;
    const unsigned end = first + run;
    return {first, end < slots_ ? end : slots_};
  }

  /// The remainder in a slot. Precondition: slot < slots().
  std::uint64_t get(const std::byte* block, unsigned slot) const noexcept {
    const unsigned bit = slot * bits_;
    return (load<std::uint64_t>(block + bit / 8) >> (bit % 8)) & ((std::uint64_t{1} << bits_) - 1);
  }

  /// Calls `use(first slot, equal)` for windows of the run: the top bit of lane i of `equal` is set
  /// where slot first + i holds the remainder; lanes are r bits wide. Exact: no sum leaves its lane
  /// (Warren, "Hacker's Delight", 6-1).
  template <class Use>
  [[gnu::always_inline]] void for_equal(const std::byte* block, vq_run run, std::uint64_t remainder,
                                        Use&& use) const noexcept {
    for (unsigned at = run.begin; at < run.end; at += lanes_) {
      const unsigned bit = at * bits_;
      std::uint64_t x = 0;
      __builtin_memcpy(&x, block + bit / 8, sizeof x);
      x = (x >> (bit % 8)) ^ (remainder * ones_);
      std::uint64_t equal = ~(((x & low_) + low_) | x) & high_;
      const unsigned left = run.end - at;
      if (left < lanes_) equal &= (std::uint64_t{1} << (left * bits_)) - 1;
      use(at, equal);
    }
  }

  /// How often the run holds the remainder.
  unsigned copies(const std::byte* block, vq_run run, std::uint64_t remainder) const noexcept {
    int found = 0;
    for_equal(block, run, remainder, [&](unsigned, std::uint64_t equal) noexcept {
      found += __builtin_popcountll(equal);
    });
    return static_cast<unsigned>(found);
  }
  unsigned copies(const std::byte* block, std::uint64_t tag) const noexcept {
    return copies(block, run(block, bucket_of(tag)), remainder_of(tag));
  }
  /// The first slot of the run that holds the remainder, or run.end.
  unsigned find(const std::byte* block, vq_run run, std::uint64_t remainder) const noexcept {
    unsigned slot = run.end;
    for_equal(block, run, remainder, [&](unsigned at, std::uint64_t equal) noexcept {
      if (equal != 0 && slot == run.end) {
        slot = at + static_cast<unsigned>(__builtin_ctzll(equal)) / bits_;
      }
    });
    return slot;
  }

  /// Puts a remainder behind the bucket's others, in slot `end`. Precondition: taken() < slots(),
  /// so that run() is what a sound block's is, also in a damaged one.
  void put(std::byte* block, unsigned bucket, unsigned end,
           std::uint64_t remainder) const noexcept {
    open_bits(block, end * bits_, bits_, slots_ * bits_, remainder);
    open_bits(block, ends_at_ + end + bucket, 1, vq_block_bits, 1);
  }
  /// Removes the remainder in a slot of the bucket's run. Precondition: slot < slots().
  void take(std::byte* block, unsigned bucket, unsigned slot) const noexcept {
    close_bits(block, slot * bits_, bits_, slots_ * bits_);
    close_bits(block, ends_at_ + slot + bucket, 1, vq_block_bits);
  }

  /// Calls `use(slot, tag)` for each remainder in use until it returns false.
  template <class Use>
  void for_tags(const std::byte* block, Use&& use) const noexcept {
    unsigned slot = 0;
    for (unsigned word = 5; word < 8; ++word) {
      std::uint64_t used = vq_word(block, word) & zeros_[word - 5] & ~before_[word - 5];
      for (; used != 0; used &= used - 1) {
        // The zeros before a one are the buckets before its own.
        const unsigned bit = 64 * word + static_cast<unsigned>(__builtin_ctzll(used));
        const unsigned bucket = bit - ends_at_ - slot;
        if (slot == slots_ || bucket >= buckets()) return;  // a damaged block
        if (!use(slot, (std::uint64_t{bucket} << bits_) | get(block, slot))) return;
        ++slot;
      }
    }
  }

  /// For the kernels.
  constexpr std::uint64_t last_base() const noexcept { return last_base_; }
  constexpr unsigned lanes() const noexcept { return lanes_; }
  constexpr std::uint64_t lane_ones() const noexcept { return ones_; }
  constexpr std::uint64_t lane_high() const noexcept { return high_; }
  constexpr std::uint64_t lane_low() const noexcept { return low_; }

 private:
  // Other threads may be reading (vector_quotient_stripes.hpp); on x86 this is any store.
  static void set_word(std::byte* block, unsigned i, std::uint64_t word) noexcept {
    auto* const at = reinterpret_cast<std::uint64_t*>(block + std::size_t{8} * i);
    std::atomic_ref(*at).store(word, std::memory_order_release);
  }

  static std::uint64_t mask_of(unsigned word, unsigned at, unsigned limit) noexcept {
    std::uint64_t mask = ~std::uint64_t{0};
    if (word == at / 64) mask <<= at % 64;
    if (word == limit / 64) mask &= (std::uint64_t{1} << (limit % 64)) - 1;
    return mask;
  }

  // Moves the bits [at, limit - width) up by `width` and writes the value into the gap; what was in
  // [limit - width, limit) is lost. 0 < width < 64, at + width <= limit.
  static void open_bits(std::byte* block, unsigned at, unsigned width, unsigned limit,
                        std::uint64_t value) noexcept {
    for (unsigned i = (limit - 1) / 64; i + 1 > at / 64 && i < 8; --i) {
      const std::uint64_t old = vq_word(block, i);
      std::uint64_t moved = old << width;
      if (i != 0) moved |= vq_word(block, i - 1) >> (64 - width);
      const std::uint64_t mask = mask_of(i, at, limit);
      // The gap: its first bits in the word of `at`, the rest, if any, in the next.
      std::uint64_t gap = 0;
      std::uint64_t bits = 0;
      if (i == at / 64) {
        gap = ((std::uint64_t{1} << width) - 1) << (at % 64);
        bits = value << (at % 64);
      } else if (i == at / 64 + 1 && at % 64 + width > 64) {
        gap = ((std::uint64_t{1} << width) - 1) >> (64 - at % 64);
        bits = value >> (64 - at % 64);
      }
      set_word(block, i, (old & ~mask) | (moved & mask & ~gap) | bits);
    }
  }

  // The reverse: the bits [at + width, limit) down by `width`; zeros come in from above.
  static void close_bits(std::byte* block, unsigned at, unsigned width, unsigned limit) noexcept {
    const unsigned last = (limit - 1) / 64;
    const auto below_limit = [&](unsigned i) noexcept {
      return vq_word(block, i) & mask_of(i, 0, limit);
    };
    for (unsigned i = at / 64; i <= last; ++i) {
      std::uint64_t moved = below_limit(i) >> width;
      if (i < last) moved |= below_limit(i + 1) << (64 - width);
      const std::uint64_t mask = mask_of(i, at, limit);
      set_word(block, i, (vq_word(block, i) & ~mask) | (moved & mask));
    }
  }

  std::uint64_t blocks_;
  std::uint64_t tags_;
  std::uint64_t last_base_;  // first block of the last region
  unsigned slots_;
  unsigned bits_;
  unsigned ends_at_;
  unsigned lanes_;                // remainders compared at once: those that any 57 bits hold
  std::uint64_t zeros_[3] = {};   // NOLINT(modernize-avoid-c-arrays): for kernels, which may not
  std::uint64_t before_[3] = {};  // NOLINT(modernize-avoid-c-arrays): emit std::array's operators
  std::uint64_t ones_ = 0;        // the lowest bit of each lane
  std::uint64_t high_ = 0;        // the highest
  std::uint64_t low_ = 0;         // all but the highest
};

}  // namespace bloomery::detail
