// Queries of several keys at once (cuckoo_layout::place and contains). Four keys' places are found
// in the lanes of vectors. A vector then has a bucket of each of two keys.

#if defined(__aarch64__)

#include <arm_neon.h>

#include <array>
#include <bloomset/detail/cuckoo/table.hpp>

namespace bloomset::detail {
namespace cuckoo_neon {
namespace {

#include "cpu/lanes128.inl"

constexpr std::size_t group = 32;

// The buckets of four keys.
struct four_places {
  struct bucket {
    std::array<std::uintptr_t, 4> words;  // that contain it
    std::array<std::uint64_t, 4> bits;    // at which it begins
  };
  bucket first, second;
  std::array<std::uint64_t, 4> pattern;  // the fingerprint in each slot
};

const std::byte* pointer(std::uintptr_t word) noexcept {
  return reinterpret_cast<const std::byte*>(word);
}

class four_keys {
 public:
  four_keys(const cuckoo_layout& layout, const std::byte* payload) noexcept
      : bucket_bits_(vdupq_n_u32(layout.slots() * layout.fingerprint_bits())),
        base_(vdupq_n_u64(reinterpret_cast<std::uintptr_t>(payload))),
        buckets_(vdupq_n_u32(static_cast<std::uint32_t>(layout.buckets()))),
        values_(vdupq_n_u32(static_cast<std::uint32_t>(layout.values()))),
        // Words are shifted to the left, until their bucket begins at bit 7. Buckets of whole bytes
        // begin at bit 0 as they are.
        first_bit_(layout.slots() * layout.fingerprint_bits() % 8 == 0 ? 0 : 7),
        ones_(layout.slot_ones() << first_bit_),
        high_(vdupq_n_u64(ones_ << (layout.fingerprint_bits() - 1))),
        low_(vsubq_u64(high_, vdupq_n_u64(ones_))),
        shifts_(vdupq_n_u64(first_bit_)) {}

  [[gnu::always_inline]] void find(const hash64* h, four_places& to) const noexcept {
    four_words folded = load_four(h);
    folded.low = veorq_u32(folded.low, folded.high);
    const uint32x4_t first = scaled(folded * 0x9e3779b97f4a7c15, buckets_);
    const uint32x4_t fingerprint = vaddq_u32(scaled(remixed(folded), values_), vdupq_n_u32(1));
    const uint32x4_t g = scaled(remixed({fingerprint, vdupq_n_u32(0)}), buckets_);
    const uint32x4_t second =
        vaddq_u32(vsubq_u32(g, first), vandq_u32(vcltq_u32(g, first), buckets_));
    put(first, to.first);
    put(second, to.second);
    const four_words pattern = four_words{fingerprint, vdupq_n_u32(0)} * ones_;
    const uint32x4x2_t halves = {{pattern.low, pattern.high}};
    vst2q_u32(reinterpret_cast<std::uint32_t*>(to.pattern.data()), halves);
  }

  // Not zero in the lane of each of two keys that has an equal slot.
  [[gnu::always_inline]] uint32x4_t equal(const four_places& at, std::size_t i) const noexcept {
    const uint64x2_t pattern = vld1q_u64(&at.pattern[i]);
    const auto differing = [&](const four_places::bucket& of) __attribute__((always_inline)) {
      const uint64x2_t words = {load<std::uint64_t>(pointer(of.words[i])),
                                load<std::uint64_t>(pointer(of.words[i + 1]))};
      const uint64x2_t by = vbicq_u64(shifts_, vld1q_u64(&of.bits[i]));
      const uint64x2_t x = veorq_u64(vshlq_u64(words, vreinterpretq_s64_u64(by)), pattern);
      return vorrq_u64(vaddq_u64(vandq_u64(x, low_), low_), x);
    };
    const uint64x2_t first = differing(at.first);
    return vreinterpretq_u32_u64(vbicq_u64(high_, vandq_u64(first, differing(at.second))));
  }

  // 1 for each of 16 keys that has an equal slot, otherwise 0.
  [[gnu::always_inline]] uint8x16_t contains(const four_places* at) const noexcept {
    const auto four = [&](std::size_t k) __attribute__((always_inline)) {
      const uint32x4_t low = equal(at[k], 0);
      return vreinterpretq_u16_u32(vpmaxq_u32(low, equal(at[k], 2)));
    };
    const auto eight = [&](std::size_t k) __attribute__((always_inline)) {
      const uint16x8_t low = four(k);
      return vreinterpretq_u8_u16(vpmaxq_u16(low, four(k + 1)));
    };
    const uint8x16_t low = eight(0);
    return vminq_u8(vpmaxq_u8(low, eight(2)), vdupq_n_u8(1));
  }

 private:
  [[gnu::always_inline]] void put(uint32x4_t bucket, four_places::bucket& to) const noexcept {
    const uint64x2_t low = vmull_u32(vget_low_u32(bucket), vget_low_u32(bucket_bits_));
    const uint64x2_t high = vmull_high_u32(bucket, bucket_bits_);
    vst1q_u64(&to.bits[0], low);
    vst1q_u64(&to.bits[2], high);
    vst1q_u64(&to.words[0], vsraq_n_u64(base_, low, 3));
    vst1q_u64(&to.words[2], vsraq_n_u64(base_, high, 3));
  }

  uint32x4_t bucket_bits_;
  uint64x2_t base_;
  uint32x4_t buckets_, values_;
  unsigned first_bit_;
  std::uint64_t ones_;
  uint64x2_t high_, low_, shifts_;
};

void contains(const cuckoo_layout& layout, const std::byte* payload, std::span<const hash64> hashes,
              bool* answers, bool ahead) noexcept {
  std::size_t done = 0;
  if (layout.has_words_of_buckets() && layout.buckets() >> 32 == 0) {
    const four_keys keys(layout, payload);
    std::array<four_places, group / 4> places;
    for (; done + group <= hashes.size(); done += group) {
      for (std::size_t i = 0; i < group / 4; ++i) {
        keys.find(&hashes[done + 4 * i], places[i]);
        for (std::size_t k = 0; ahead && k < 4; ++k) {
          prefetch_line(pointer(places[i].first.words[k]));
          prefetch_line(pointer(places[i].second.words[k]));
        }
      }
      for (std::size_t i = 0; i < group; i += 16) {
        vst1q_u8(reinterpret_cast<std::uint8_t*>(answers + done + i),
                 keys.contains(&places[i / 4]));
      }
    }
  }
  cuckoo_kernels::scalar.contains(layout, payload, hashes.subspan(done), answers + done, ahead);
}

}  // namespace
}  // namespace cuckoo_neon

const cuckoo_kernels cuckoo_kernels::vector128{cuckoo_neon::contains};

}  // namespace bloomset::detail

#endif
