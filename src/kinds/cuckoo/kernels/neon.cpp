// Queries of several keys at once. A vector has both buckets of a key. Their places come from
// multiplications of 64 bits, which NEON lacks, so scalar code finds them.

#if defined(__aarch64__)

#include <arm_neon.h>

#include <array>

#include "kinds/cuckoo/kernels/kernels.hpp"

namespace bloomery::detail {
namespace cuckoo_neon {
namespace {

// NOLINTBEGIN(portability-simd-intrinsics): this folder is where they belong.

constexpr std::size_t group = 32;

// The buckets of a key.
struct bucket_pair {
  std::array<const std::byte*, 2> words;  // that contain them
  std::array<std::uint64_t, 2> bits;      // at which they begin
  std::uint64_t pattern;                  // the fingerprint in each slot
};

class bucket_pairs {
 public:
  explicit bucket_pairs(const cuckoo_layout& layout) noexcept
      : bucket_bits_(std::uint64_t{layout.slots()} * layout.fingerprint_bits()),
        // Words are shifted to the left, until their bucket begins at bit 7. Buckets of whole bytes
        // begin at bit 0 as they are.
        first_bit_(bucket_bits_ % 8 == 0 ? 0 : 7),
        ones_(layout.slot_ones() << first_bit_),
        high_(vdupq_n_u64(ones_ << (layout.fingerprint_bits() - 1))),
        low_(vsubq_u64(high_, vdupq_n_u64(ones_))),
        shifts_(vdupq_n_u64(first_bit_)) {}

  [[gnu::always_inline]] void find(const cuckoo_layout& layout, const std::byte* payload, hash64 h,
                                   bucket_pair& to) const noexcept {
    const cuckoo_place at = layout.place(h);
    to.bits = {at.first * bucket_bits_, at.second * bucket_bits_};
    const std::byte* first = payload + (to.bits[0] >> 3);
    const std::byte* second = payload + (to.bits[1] >> 3);
    // Without this, g++ loads the stored bits into a vector to shift them.
    asm("" : "+r"(first), "+r"(second));
    to.words = {first, second};
    to.pattern = at.fingerprint * ones_;
  }

  // Not zero if a slot of the key's buckets has its fingerprint.
  [[gnu::always_inline]] uint32x4_t equal(const bucket_pair& at) const noexcept {
    const uint64x2_t words = {load<std::uint64_t>(at.words[0]), load<std::uint64_t>(at.words[1])};
    const uint64x2_t by = vbicq_u64(shifts_, vld1q_u64(at.bits.data()));
    const uint64x2_t slots = vshlq_u64(words, vreinterpretq_s64_u64(by));
    const uint64x2_t x = veorq_u64(slots, vdupq_n_u64(at.pattern));
    return vreinterpretq_u32_u64(
        vbicq_u64(high_, vorrq_u64(vaddq_u64(vandq_u64(x, low_), low_), x)));
  }

  // 1 for each of 16 keys that has an equal slot, otherwise 0.
  [[gnu::always_inline]] uint8x16_t contains(const bucket_pair* at) const noexcept {
    const auto two = [&](std::size_t k) __attribute__((always_inline)) {
      const uint32x4_t low = equal(at[k]);
      return vpmaxq_u32(low, equal(at[k + 1]));
    };
    const auto four = [&](std::size_t k) __attribute__((always_inline)) {
      const uint32x4_t low = two(k);
      return vreinterpretq_u16_u32(vpmaxq_u32(low, two(k + 2)));
    };
    const auto eight = [&](std::size_t k) __attribute__((always_inline)) {
      const uint16x8_t low = four(k);
      return vreinterpretq_u8_u16(vpmaxq_u16(low, four(k + 4)));
    };
    const uint8x16_t low = eight(0);
    return vminq_u8(vpmaxq_u8(low, eight(8)), vdupq_n_u8(1));
  }

 private:
  std::uint64_t bucket_bits_;
  unsigned first_bit_;
  std::uint64_t ones_;
  uint64x2_t high_, low_, shifts_;
};

void contains(const cuckoo_layout& layout, const std::byte* payload, std::span<const hash64> hashes,
              bool* answers, bool ahead) noexcept {
  std::size_t done = 0;
  if (layout.has_words_of_buckets()) {
    const cuckoo_layout own = layout;  // else its members are reloaded after each store
    const bucket_pairs pairs(own);
    std::array<bucket_pair, group> places;
    for (; done + group <= hashes.size(); done += group) {
      for (std::size_t i = 0; i < group; ++i) {
        pairs.find(own, payload, hashes[done + i], places[i]);
        if (!ahead) continue;
        prefetch_line(places[i].words[0]);
        prefetch_line(places[i].words[1]);
      }
      for (std::size_t i = 0; i < group; i += 16) {
        vst1q_u8(reinterpret_cast<std::uint8_t*>(answers + done + i), pairs.contains(&places[i]));
      }
    }
  }
  cuckoo_kernels::scalar.contains(layout, payload, hashes.subspan(done), answers + done, ahead);
}

// NOLINTEND(portability-simd-intrinsics)

}  // namespace
}  // namespace cuckoo_neon

const cuckoo_kernels cuckoo_kernels::vector128{cuckoo_neon::contains};

}  // namespace bloomery::detail

#endif
