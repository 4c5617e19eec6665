#pragma once

// The blocks of a vector quotient filter, and the rule from a hash to its places in them. This is
// the specification: the kernels change the same bytes in the same way, faster.
// docs/reference/format.md
// ("vector_quotient") has it in words.
//
// A block has 512 bits. It stores up to S remainders of r bits in B buckets:
//
//   bit 0            S r            512 - S - B                       512
//   | slots 0 .. S - 1   |  zeros  |  ends: for each bucket a one per remainder, then a zero;  |
//   | in bucket order    |         |  zeros behind the last bucket                             |
//
// An empty block is all zeros. The ones in the ends count the remainders.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>

namespace bloomset {

/// The places of a key in a vector quotient filter. The two blocks are the same for about one key
/// in min(blocks, 8192).
struct vector_quotient_place {
  std::uint64_t first;   ///< a block
  std::uint64_t second;  ///< the tag's other block
  std::uint64_t tag;     ///< bucket * 2^r + remainder
};

}  // namespace bloomset

namespace bloomset::detail {

inline constexpr std::uint64_t vq_block_bytes = 64;
inline constexpr unsigned vq_block_bits = 512;
/// The two blocks of a key lie in one region of 8192 blocks (512 KiB), so that one entry of the TLB
/// finds both (docs/maintain/decisions/kinds/vector-quotient-regions.md). The last region also has
/// the remaining blocks: up to twice as many.
inline constexpr std::uint64_t vq_region_blocks = 8192;
/// Bounds of S + B: the ends, and the bit before them, lie in words 5 to 7 of a block.
inline constexpr unsigned vq_min_ends = 64;
inline constexpr unsigned vq_max_ends = 191;
inline constexpr unsigned vq_max_slots = 63;

/// An entry of the stash or of the overflow table: a tag in its pair of blocks, and copies of it.
struct vq_entry {
  std::uint64_t pair;
  std::uint64_t copies;  ///< 0: a free entry
};
static_assert(sizeof(vq_entry) == 16);

/// The stash fills one cache line.
inline constexpr unsigned vq_stash_entries = 4;
inline constexpr std::uint64_t vq_stash_bytes = vq_stash_entries * sizeof(vq_entry);

[[gnu::always_inline]] inline std::uint64_t vq_word(const std::byte* block, unsigned i) noexcept {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, block + std::size_t{8} * i, sizeof word);
  return word;
}

/// condition ? a : b without a branch, for conditions that no CPU can predict.
[[gnu::always_inline]] constexpr std::uint64_t vq_choose(bool condition, std::uint64_t a,
                                                         std::uint64_t b) noexcept {
  return b ^ ((a ^ b) & (0 - std::uint64_t{condition}));
}

/// Words 5 to 7 of a block, with a bit set at the end of each bucket. The bit before the ends, the
/// sentinel, is set too: it is where the first bucket begins. Bucket b thus lies between set bits b
/// and b + 1.
struct vq_ends {
  std::uint64_t word5;
  std::uint64_t word6;
  std::uint64_t word7;
  unsigned rank6;  ///< set bits in word5
  unsigned rank7;  ///< set bits in word5 and word6
  unsigned total;  ///< set bits
};

/// The slots [begin, end) of a bucket, and the slots of its block in use.
struct vq_run {
  unsigned begin;
  unsigned end;
  unsigned taken;
};

/// A tag in one of its blocks.
struct vq_lookup {
  unsigned copies;
  unsigned slot;   ///< of the first copy; undefined without one
  unsigned end;    ///< of the bucket's run
  unsigned taken;  ///< slots of the block in use
};

class vq_layout {
 public:
  /// Preconditions: blocks in [1, 2^44], slots in [1, 63], bits in [1, 32],
  /// slots + buckets in [64, 191], slots * (bits + 1) + buckets <= 512.
  constexpr vq_layout(std::uint64_t blocks, unsigned slots, unsigned buckets,
                      unsigned bits) noexcept
      : blocks_(blocks),
        tags_(std::uint64_t{buckets} << bits),
        last_region_(
            blocks < 2 * vq_region_blocks ? 0 : (blocks / vq_region_blocks - 1) * vq_region_blocks),
        slots_(slots),
        bits_(bits),
        ends_offset_(vq_block_bits - slots - buckets) {
    const unsigned sentinel = ends_offset_ - 1;
    sentinel_[sentinel / 64 - 5] = std::uint64_t{1} << (sentinel % 64);
    for (unsigned bit = sentinel; bit < vq_block_bits; ++bit) {
      ends_mask_[bit / 64 - 5] |= std::uint64_t{1} << (bit % 64);
    }
    for (unsigned i = 0; i < 2; ++i) ends_only_[i] = ends_mask_[i] & ~sentinel_[i];
    rank_byte_ = ends_offset_ / 8 < 48 ? ends_offset_ / 8 : 48;
    rank_skip_ = ends_offset_ - 8 * rank_byte_;
    rank_mask_ = rank_skip_ < 64 ? ~std::uint64_t{0} << rank_skip_ : 0;
    is_narrow_ = slots <= 56 && rank_skip_ + buckets <= 128;
  }

  constexpr std::uint64_t blocks() const noexcept { return blocks_; }
  constexpr unsigned slots() const noexcept { return slots_; }
  constexpr unsigned buckets() const noexcept { return vq_block_bits - slots_ - ends_offset_; }
  constexpr unsigned remainder_bits() const noexcept { return bits_; }
  /// The number of possible tags: B * 2^r.
  constexpr std::uint64_t tags() const noexcept { return tags_; }
  constexpr std::uint64_t block_bytes() const noexcept { return blocks_ * vq_block_bytes; }
  /// The bit of a block at which the ends begin.
  constexpr unsigned ends_offset() const noexcept { return ends_offset_; }
  /// The first block of the last region.
  constexpr std::uint64_t last_region() const noexcept { return last_region_; }

  [[gnu::always_inline]] constexpr unsigned bucket_of(std::uint64_t tag) const noexcept {
    return static_cast<unsigned>(tag >> bits_);
  }
  [[gnu::always_inline]] constexpr std::uint64_t remainder_of(std::uint64_t tag) const noexcept {
    return tag & ((std::uint64_t{1} << bits_) - 1);
  }

  // From a hash to its places --------------------------------------------------------------------

  /// first = floor(h N / 2^64), tag = floor((h phi mod 2^64) B 2^r / 2^64), where phi is 2^64
  /// divided by the golden ratio: the upper bits of h phi depend on all lower bits of h, unlike
  /// `first`.
  [[gnu::always_inline]] constexpr vector_quotient_place place(hash64 h) const noexcept {
    return place(mulhi64(h.value, blocks_), mulhi64(h.value * golden64, tags_));
  }
  [[gnu::always_inline]] constexpr vector_quotient_place place(std::uint64_t block,
                                                               std::uint64_t tag) const noexcept {
    return {block, other_block(block, tag), tag};
  }

  /// The other block of a tag: (g(tag) - block) modulo the region. An involution for any number of
  /// blocks, so that a tag can move without its key.
  [[gnu::always_inline]] constexpr std::uint64_t other_block(std::uint64_t block,
                                                             std::uint64_t tag) const noexcept {
    const bool is_last = block >= last_region_;
    const std::uint64_t base = vq_choose(is_last, last_region_, block & ~(vq_region_blocks - 1));
    const std::uint64_t size = vq_choose(is_last, blocks_ - last_region_, vq_region_blocks);
    return other_block(block, tag, base, size);
  }
  /// The same with the first block of the region and its number of blocks.
  [[gnu::always_inline]] static constexpr std::uint64_t other_block(std::uint64_t block,
                                                                    std::uint64_t tag,
                                                                    std::uint64_t base,
                                                                    std::uint64_t size) noexcept {
    std::uint64_t g = tag * first_mix64;
    g = (g ^ (g >> 32)) * second_mix64;
    g = ((g >> 32) * size) >> 32;
    const std::uint64_t local = block - base;
    return base + g - local + vq_choose(g < local, size, 0);
  }

  /// The number of a tag in its pair of blocks: min(first, second) * tags() + tag. Precondition:
  /// blocks() * tags() <= 2^63.
  [[gnu::always_inline]] constexpr std::uint64_t pair_number(
      const vector_quotient_place& at) const noexcept {
    return (at.first < at.second ? at.first : at.second) * tags_ + at.tag;
  }
  constexpr vector_quotient_place place_of_pair(std::uint64_t pair) const noexcept {
    return place(pair / tags_, pair % tags_);
  }

  // For kernels ----------------------------------------------------------------------------------

  /// Whether the ends of all buckets are in two words from byte rank_byte() on, and any slots of a
  /// bucket in the 57 bits of the ends from the bucket's number on.
  [[gnu::always_inline]] constexpr bool is_narrow() const noexcept { return is_narrow_; }
  [[gnu::always_inline]] constexpr unsigned rank_byte() const noexcept { return rank_byte_; }
  /// The bits of these words before the ends, and the ends in the first word.
  [[gnu::always_inline]] constexpr unsigned rank_skip() const noexcept { return rank_skip_; }
  [[gnu::always_inline]] constexpr std::uint64_t rank_mask() const noexcept { return rank_mask_; }
  /// The ends in word 5 or 6 of a block. All of word 7 are ends.
  [[gnu::always_inline]] constexpr std::uint64_t ends_of(unsigned word) const noexcept {
    return ends_only_[word - 5];
  }

  // A block --------------------------------------------------------------------------------------

  template <class Byte>  // std::byte, which may be const
  [[gnu::always_inline]] static Byte* block(Byte* blocks, std::uint64_t i) noexcept {
    return blocks + i * vq_block_bytes;
  }

  /// Word 5 + i of a block as in vq_ends. For i = 3 zero, although it reads the bytes there.
  [[gnu::always_inline]] std::uint64_t ends_in(const std::byte* block, unsigned i) const noexcept {
    return (~vq_word(block, 5 + i) & ends_mask_[i]) | sentinel_[i];
  }
  [[gnu::always_inline]] vq_ends ends(const std::byte* block) const noexcept {
    vq_ends found{ends_in(block, 0), ends_in(block, 1), ends_in(block, 2), 0, 0, 0};
    found.rank6 = count_ones(found.word5);
    found.rank7 = found.rank6 + count_ones(found.word6);
    found.total = found.rank7 + count_ones(found.word7);
    return found;
  }

  /// Remainders in a block: its ends are S + B bits, a zero for each bucket, a one for each
  /// remainder, and zeros. More than S only in a damaged block, which counts as full.
  [[gnu::always_inline]] unsigned taken(const vq_ends& ends) const noexcept {
    return vq_block_bits - ends_offset_ + 1 - ends.total;
  }
  [[gnu::always_inline]] unsigned taken(const std::byte* block) const noexcept {
    return taken(ends(block));
  }

  /// The run of a bucket: between the end of the bucket before it and its own. Begin and end are at
  /// most S, whatever the bytes of the block are.
  vq_run run(const std::byte* block, unsigned bucket) const noexcept {
    const vq_ends ends = this->ends(block);
    const unsigned word = bucket < ends.rank6 ? 5 : bucket < ends.rank7 ? 6 : 7;
    const std::uint64_t here = word == 5 ? ends.word5 : word == 6 ? ends.word6 : ends.word7;
    const std::uint64_t next = word == 5 ? ends.word6 : word == 6 ? ends.word7 : 0;
    const unsigned before = word == 5 ? 0 : word == 6 ? ends.rank6 : ends.rank7;
    const unsigned rank = bucket - before;
    const bool exists = word != 7 || rank < ends.total - ends.rank7;  // else a damaged block
    const unsigned bit = exists ? select_one(here, rank) : 64;
    const std::uint64_t above = (here >> (bit % 64)) >> 1;
    const unsigned length =
        above != 0
            ? static_cast<unsigned>(__builtin_ctzll(above))
            : 63 - bit % 64 + (next != 0 ? static_cast<unsigned>(__builtin_ctzll(next)) : 64);
    const unsigned begin = 64 * word + bit + 1 - ends_offset_ - bucket;
    const unsigned first = begin < slots_ ? begin : slots_;
    const unsigned end = first + length;
    return {first, end < slots_ ? end : slots_, taken(ends)};
  }

  /// The remainder in a slot. Precondition: slot < slots().
  std::uint64_t get(const std::byte* block, unsigned slot) const noexcept {
    const unsigned bit = slot * bits_;
    return (load<std::uint64_t>(block + bit / 8) >> (bit % 8)) & ((std::uint64_t{1} << bits_) - 1);
  }

  /// Looks for a tag in a block.
  vq_lookup look_up(const std::byte* block, std::uint64_t tag) const noexcept {
    const auto [begin, end, taken] = run(block, bucket_of(tag));
    vq_lookup found{0, end, end, taken};
    for (unsigned slot = end; slot != begin;) {
      if (get(block, --slot) == remainder_of(tag)) found = {found.copies + 1, slot, end, taken};
    }
    return found;
  }

  /// Copies of a tag in a block.
  unsigned copies(const std::byte* block, std::uint64_t tag) const noexcept {
    return look_up(block, tag).copies;
  }

  /// Inserts a remainder behind the others of its bucket, whose run ends at slot `end`.
  /// Precondition: taken() < slots(), so that run() is also right in a damaged block.
  [[gnu::always_inline]] void insert(std::byte* block, unsigned bucket, unsigned end,
                                     std::uint64_t remainder) const noexcept {
    insert_bits(block, end * bits_, bits_, slots_ * bits_, remainder);
    insert_bits(block, ends_offset_ + end + bucket, 1, vq_block_bits, 1);
  }
  /// Erases the remainder in a slot of the bucket's run. Precondition: slot < slots().
  [[gnu::always_inline]] void erase(std::byte* block, unsigned bucket,
                                    unsigned slot) const noexcept {
    erase_bits(block, slot * bits_, bits_, slots_ * bits_);
    erase_bits(block, ends_offset_ + slot + bucket, 1, vq_block_bits);
  }

  /// Calls `use(slot, tag)` for each remainder of a block until it returns false.
  template <class Use>
  void for_each_tag(const std::byte* block, Use&& use) const noexcept {
    unsigned slot = 0;
    for (unsigned i = 0; i < 3; ++i) {
      std::uint64_t ones = vq_word(block, 5 + i) & ends_mask_[i] & ~sentinel_[i];
      for (; ones != 0; ones &= ones - 1) {
        // The zeros before a one are the ends of the buckets before its own.
        const unsigned bit = 64 * (5 + i) + static_cast<unsigned>(__builtin_ctzll(ones));
        const unsigned bucket = bit - ends_offset_ - slot;
        if (slot == slots_ || bucket >= buckets()) return;  // a damaged block
        if (!use(slot, (std::uint64_t{bucket} << bits_) | get(block, slot))) return;
        ++slot;
      }
    }
  }

 private:
  // Other threads may be reading the block (seqlocks.hpp).
  static void store_word(std::byte* block, unsigned i, std::uint64_t word) noexcept {
    auto* const at = reinterpret_cast<std::uint64_t*>(block + std::size_t{8} * i);
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
  }

  // The bits below `end` of the word that has the bit before it.
  static std::uint64_t bits_below(unsigned end) noexcept {
    return ~std::uint64_t{0} >> (-end % 64);
  }

  // Moves the bits [at, end - width) up by `width` and writes the value into the gap. The bits
  // [end - width, end) are lost. Preconditions: 0 < width < 64, at + width <= end.
  [[gnu::always_inline]] static void insert_bits(std::byte* block, unsigned at, unsigned width,
                                                 unsigned end, std::uint64_t value) noexcept {
    __extension__ using wide = unsigned __int128;
    const unsigned last = (end - 1) / 64;
    const unsigned shift = at % 64;
    unsigned i = at / 64;
    std::uint64_t old = vq_word(block, i);
    const wide gap = ((wide{old >> shift} << width) | value) << shift;
    std::uint64_t made =
        (old & ((std::uint64_t{1} << shift) - 1)) | static_cast<std::uint64_t>(gap);
    auto carry = static_cast<std::uint64_t>(gap >> 64);
    while (i < last) {
      store_word(block, i, made);
      old = vq_word(block, ++i);
      made = (old << width) | carry;
      carry = old >> (64 - width);
    }
    const std::uint64_t mask = bits_below(end);
    store_word(block, last, (old & ~mask) | (made & mask));
  }

  // The inverse: moves the bits [at + width, end) down by `width` and fills up with zeros.
  [[gnu::always_inline]] static void erase_bits(std::byte* block, unsigned at, unsigned width,
                                                unsigned end) noexcept {
    const unsigned last = (end - 1) / 64;
    const std::uint64_t in_last = bits_below(end);
    std::uint64_t kept = (std::uint64_t{1} << (at % 64)) - 1;
    for (unsigned i = at / 64; i < last; ++i) {
      const std::uint64_t old = vq_word(block, i);
      const std::uint64_t next =
          vq_word(block, i + 1) & (i + 1 == last ? in_last : ~std::uint64_t{0});
      store_word(block, i, (old & kept) | (((old >> width) | (next << (64 - width))) & ~kept));
      kept = 0;
    }
    const std::uint64_t old = vq_word(block, last);
    kept |= ~in_last;
    store_word(block, last, (old & kept) | (((old & in_last) >> width) & ~kept));
  }

  std::uint64_t blocks_;
  std::uint64_t tags_;
  std::uint64_t last_region_;
  unsigned slots_;
  unsigned bits_;
  unsigned ends_offset_;
  unsigned rank_byte_ = 0;
  unsigned rank_skip_ = 0;
  bool is_narrow_ = false;
  std::uint64_t rank_mask_ = 0;
  // NOLINTBEGIN(modernize-avoid-c-arrays): kernels may not emit operators of std::array
  std::uint64_t ends_mask_[4] = {};  // of words 5 to 7: the ends and the sentinel
  std::uint64_t sentinel_[4] = {};
  std::uint64_t ends_only_[2] = {};
  // NOLINTEND(modernize-avoid-c-arrays)
};

}  // namespace bloomset::detail
