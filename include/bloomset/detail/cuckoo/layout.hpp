#pragma once

// The payload of a cuckoo filter, and the rule from a hash to its places in it.
// docs/reference/format.md
// ("cuckoo") has it in words. The layout has no bytes: its functions take the payload.
//
//   payload = table | zeros up to a multiple of 8 bytes | stash
//
// Slot s of bucket c is the f bits from bit (c * slots + s) * f on; zero is an empty slot. The
// stash of 64 bytes behind the table keeps 8-byte accesses to the last slots inside the payload.

#include <bit>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>

namespace bloomset {

/// The places of a key in a cuckoo filter. The two buckets are the same for about one key in
/// `buckets`.
struct cuckoo_place {
  std::uint64_t first;
  std::uint64_t second;
  std::uint32_t fingerprint;  ///< in [1, 2^f), never zero
};

}  // namespace bloomset

namespace bloomset::detail {

/// A fingerprint without a slot.
struct stash_entry {
  std::uint64_t bucket;       ///< one of its two buckets
  std::uint32_t fingerprint;  ///< 0: a free entry
  std::uint32_t zero;
};
static_assert(sizeof(stash_entry) == 16);

/// The stash fills one cache line. A stash of s entries lowers the chance that n keys below the
/// load threshold do not fit from O(1/n) to O(1/n^(s+1)) (A. Kirsch, M. Mitzenmacher, U. Wieder,
/// "More Robust Hashing: Cuckoo Hashing with a Stash", 2009).
inline constexpr unsigned stash_entries = 4;
inline constexpr std::uint64_t stash_bytes = stash_entries * sizeof(stash_entry);

class cuckoo_layout {
 public:
  /// Preconditions: buckets * slots * fingerprint_bits <= 2^62, slots is 2, 4 or 8,
  /// fingerprint_bits is in [4, 32].
  constexpr cuckoo_layout(std::uint64_t buckets, unsigned slots, unsigned fingerprint_bits) noexcept
      : buckets_(buckets), slots_(slots), bits_(fingerprint_bits), lanes_(slots) {
    // The slots of a bucket are compared in one 64-bit word if they fit behind the shift to the
    // first. A longer bucket is compared in halves.
    const unsigned shift = slots * fingerprint_bits % 8 == 0 ? 0 : 7;
    while (lanes_ * bits_ + (lanes_ * bits_ % 8 == 0 ? shift : 7) > 64) lanes_ /= 2;
    for (unsigned lane = 0; lane < lanes_; ++lane) ones_ |= std::uint64_t{1} << (lane * bits_);
    high_ = ones_ << (bits_ - 1);
    low_ = high_ - ones_;
    if (lanes_ == slots_ && shift == 0) bucket_bytes_ = slots_ * bits_ / 8;
  }

  constexpr std::uint64_t buckets() const noexcept { return buckets_; }
  constexpr unsigned slots() const noexcept { return slots_; }
  constexpr unsigned fingerprint_bits() const noexcept { return bits_; }
  /// The number of possible fingerprints: 2^f - 1.
  constexpr std::uint64_t values() const noexcept { return (std::uint64_t{1} << bits_) - 1; }
  /// Whether the slots of a bucket are compared in one word.
  constexpr bool has_words_of_buckets() const noexcept { return lanes_ == slots_; }
  /// A one at the lowest bit of each slot of such a word.
  constexpr std::uint64_t slot_ones() const noexcept { return ones_; }
  constexpr std::uint64_t table_bits() const noexcept { return buckets_ * slots_ * bits_; }
  constexpr std::uint64_t stash_at() const noexcept {
    return round_up(bytes_for_bits(table_bits()), 8);
  }
  constexpr std::uint64_t payload_bytes() const noexcept { return stash_at() + stash_bytes; }

  /// The first bucket is that of the hash itself. The fingerprint is that of the hash times 2^64
  /// divided by the golden ratio (D. E. Knuth, "The Art of Computer Programming" 3, 6.4): the upper
  /// bits of the product depend on all lower bits of the hash, unlike the bucket.
  constexpr cuckoo_place place(hash64 h) const noexcept {
    const std::uint64_t first = mulhi64(h.value, buckets_);
    const auto fingerprint = static_cast<std::uint32_t>(1 + mulhi64(h.value * golden64, values()));
    return {first, other_bucket(first, fingerprint), fingerprint};
  }

  /// The other bucket of a fingerprint: (g(fingerprint) - bucket) modulo buckets. An involution for
  /// any number of buckets, so that a fingerprint can move without its key.
  constexpr std::uint64_t other_bucket(std::uint64_t bucket,
                                       std::uint32_t fingerprint) const noexcept {
    std::uint64_t g = fingerprint * first_mix64;
    g = mulhi64((g ^ (g >> 32)) * second_mix64, buckets_);
    const std::uint64_t other = g - bucket;
    return g < bucket ? other + buckets_ : other;
  }
  constexpr cuckoo_place place(std::uint64_t bucket, std::uint32_t fingerprint) const noexcept {
    return {bucket, other_bucket(bucket, fingerprint), fingerprint};
  }

  void prefetch(const std::byte* payload, const cuckoo_place& at) const noexcept {
    prefetch(payload, at.first);
    prefetch(payload, at.second);
  }
  void prefetch(const std::byte* payload, std::uint64_t bucket) const noexcept {
    const std::byte* const begin = payload + (bucket * slots_ * bits_ >> 3);
    const std::byte* const last = payload + (((bucket + 1) * slots_ - 1) * bits_ >> 3);
    prefetch_line(begin);
    prefetch_line(last + sizeof(std::uint64_t) - 1);  // a slot is read as a word
  }

  /// The bytes of the payload that have slots of the bucket.
  constexpr byte_interval bucket_bytes(std::uint64_t bucket) const noexcept {
    const std::uint64_t bits = std::uint64_t{slots_} * bits_;
    return {bucket * bits / 8, bytes_for_bits((bucket + 1) * bits)};
  }

  std::uint32_t get(const std::byte* payload, std::uint64_t bucket, unsigned slot) const noexcept {
    const std::uint64_t bit = (bucket * slots_ + slot) * bits_;
    return static_cast<std::uint32_t>(word(payload, bit) & values());
  }

  void set(std::byte* payload, std::uint64_t bucket, unsigned slot,
           std::uint32_t fingerprint) const noexcept {
    const std::uint64_t bit = (bucket * slots_ + slot) * bits_;
    std::byte* at = payload + (bit >> 3);
    const unsigned shift = bit & 7;
    const std::uint64_t others = load<std::uint64_t>(at) & ~(values() << shift);
    store(at, others | (std::uint64_t{fingerprint} << shift));
  }

  /// Whether a slot of the two buckets has the fingerprint.
  [[gnu::always_inline]] bool contains(const std::byte* payload,
                                       const cuckoo_place& at) const noexcept {
    const std::uint64_t pattern = at.fingerprint * ones_;
    // Without shifts, for example with 4 slots of 10 bits, the plan for 1%.
    if (bucket_bytes_ != 0) [[likely]] {
      return has_zero_lane(load<std::uint64_t>(payload + at.first * bucket_bytes_) ^ pattern,
                           load<std::uint64_t>(payload + at.second * bucket_bytes_) ^ pattern);
    }
    if (!has_words_of_buckets()) [[unlikely]] {
      return contains(payload, at.first, at.fingerprint) ||
             contains(payload, at.second, at.fingerprint);
    }
    const std::uint64_t bits = std::uint64_t{slots_} * bits_;
    return has_zero_lane(word(payload, at.first * bits) ^ pattern,
                         word(payload, at.second * bits) ^ pattern);
  }

  /// Whether a slot of the bucket has the fingerprint.
  bool contains(const std::byte* payload, std::uint64_t bucket,
                std::uint32_t fingerprint) const noexcept {
    std::uint64_t found = 0;
    for_words(bucket, [&](std::uint64_t bit, unsigned) noexcept {
      found |= equal_lanes(word(payload, bit), fingerprint);
    });
    return found != 0;
  }

  /// Slots of the bucket with the fingerprint; those with zero are free.
  unsigned copies(const std::byte* payload, std::uint64_t bucket,
                  std::uint32_t fingerprint) const noexcept {
    unsigned found = 0;
    for_words(bucket, [&](std::uint64_t bit, unsigned) noexcept {
      found += count_ones(equal_lanes(word(payload, bit), fingerprint));
    });
    return found;
  }

  /// The first slot of the bucket with the fingerprint, or slots() if there is none.
  unsigned find(const std::byte* payload, std::uint64_t bucket,
                std::uint32_t fingerprint) const noexcept {
    unsigned slot = slots_;
    for_words(bucket, [&](std::uint64_t bit, unsigned first) noexcept {
      const std::uint64_t found = equal_lanes(word(payload, bit), fingerprint);
      if (found != 0 && slot == slots_) {
        slot = first + static_cast<unsigned>(std::countr_zero(found)) / bits_;
      }
    });
    return slot;
  }

  stash_entry stashed(const std::byte* payload, unsigned i) const noexcept {
    return load<stash_entry>(payload + stash_at() + i * sizeof(stash_entry));
  }
  void set_stashed(std::byte* payload, unsigned i, const stash_entry& entry) const noexcept {
    store(payload + stash_at() + i * sizeof(stash_entry), entry);
  }

 private:
  static std::uint64_t word(const std::byte* payload, std::uint64_t bit) noexcept {
    return load<std::uint64_t>(payload + (bit >> 3)) >> (bit & 7);
  }

  // The top bit of each lane that equals the fingerprint; no sum leaves its lane (H. S. Warren,
  // "Hacker's Delight", 6-1). Bits above the lanes are ignored.
  std::uint64_t equal_lanes(std::uint64_t lanes, std::uint32_t fingerprint) const noexcept {
    const std::uint64_t x = lanes ^ (fingerprint * ones_);
    return ~(((x & low_) + low_) | x) & high_;
  }

  // Whether a lane of either word is zero. A borrow leaves a lane only if that lane is zero, so a
  // wrong bit is above a right one ("Hacker's Delight", 6-1). Bits above the lanes are ignored.
  bool has_zero_lane(std::uint64_t a, std::uint64_t b) const noexcept {
    return ((((a - ones_) & ~a) | ((b - ones_) & ~b)) & high_) != 0;
  }

  template <class Use>
  void for_words(std::uint64_t bucket, Use&& use) const noexcept {
    const std::uint64_t start = bucket * slots_ * bits_;
    for (unsigned slot = 0; slot < slots_; slot += lanes_)
      use(start + std::uint64_t{slot} * bits_, slot);
  }

  std::uint64_t buckets_;
  unsigned slots_;
  unsigned bits_;
  unsigned lanes_;          // slots compared at once
  std::uint64_t ones_ = 0;  // the lowest bit of each lane
  std::uint64_t high_ = 0;  // the highest
  std::uint64_t low_ = 0;   // all but the highest
  // Bytes of a bucket, or 0 if a bucket is not whole bytes or longer than a word.
  std::uint64_t bucket_bytes_ = 0;
};

}  // namespace bloomset::detail
