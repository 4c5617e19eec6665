// Queries of four keys at once to a filter of one shard (fuse_table::may_contain).

#if defined(__aarch64__)

#include <arm_neon.h>

#include <array>
#include <bloomset/detail/fuse/table.hpp>

namespace bloomset::detail {
namespace fuse_neon {
namespace {

#include "cpu/lanes128.inl"

constexpr std::size_t group = 32;
// Fingerprints that a word of 32 bits contains, wherever in a byte they begin.
constexpr unsigned max_bits = 25;
// Smaller filters are queried without prefetching, as in scalar.cpp.
constexpr std::uint64_t cached_bytes = std::uint64_t{1} << 20;

// Four keys' fingerprints in the table, and their own.
template <unsigned Arity>
struct four_places {
  std::array<std::array<std::uintptr_t, 4>, Arity> words;  // that contain the fingerprints
  std::array<uint32x4_t, Arity> bits;                      // at which the fingerprints begin
  uint32x4_t own;                                          // in the upper bits
};

template <unsigned Arity>
class four_keys {
 public:
  explicit four_keys(const fuse_table& table) noexcept
      : log2_(table.segment_log2),
        base_(vdupq_n_u64(reinterpret_cast<std::uintptr_t>(table.fingerprints))),
        seed_{vdupq_n_u32(static_cast<std::uint32_t>(table.front.seed)),
              vdupq_n_u32(static_cast<std::uint32_t>(table.front.seed >> 32))},
        length_(vdupq_n_u32(static_cast<std::uint32_t>(table.front.length))),
        segment_(vdupq_n_u32(1U << log2_)),
        mask_(vsubq_u32(segment_, vdupq_n_u32(1))),
        width_(vdupq_n_u32(table.fingerprint_bits)),
        unused_(vdupq_n_s32(32 - static_cast<int>(table.fingerprint_bits))) {}

  [[gnu::always_inline]] void find(const hash64* h, four_places<Arity>& to) const noexcept {
    four_words x = load_four(h) ^ seed_;
    x.low = veorq_u32(x.low, x.high);
    x = remixed(x);
    uint32x4_t slot = scaled(x, length_);
    put(slot, 0, to);
    for (unsigned j = 1; j < Arity; ++j) {
      slot = vaddq_u32(slot, segment_);
      const int by = static_cast<int>((Arity - 1 - j) * log2_);
      // The bits from number `by` on. Shifts by 32 and more give zero, in either direction.
      const uint32x4_t offset = j + 1 == Arity ? x.low
                                               : vorrq_u32(vshlq_u32(x.low, vdupq_n_s32(-by)),
                                                           vshlq_u32(x.high, vdupq_n_s32(32 - by)));
      put(veorq_u32(slot, vandq_u32(offset, mask_)), j, to);
    }
    to.own = (x * 0x9e3779b97f4a7c15).high;
  }

  // All ones for each key whose fingerprint is the sum.
  [[gnu::always_inline]] uint32x4_t compare(const four_places<Arity>& at) const noexcept {
    uint32x4_t sum = at.own;
    for (unsigned j = 0; j < Arity; ++j) {
      const auto word = [&](unsigned i) __attribute__((always_inline)) {
        return load<std::uint32_t>(reinterpret_cast<const std::byte*>(at.words[j][i]));
      };
      const uint32x4_t words = {word(0), word(1), word(2), word(3)};
      // Moves the fingerprint to the upper bits.
      sum = veorq_u32(sum, vshlq_u32(words, vsubq_s32(unused_, vreinterpretq_s32_u32(at.bits[j]))));
    }
    return vceqzq_u32(vshlq_u32(sum, vnegq_s32(unused_)));
  }

 private:
  [[gnu::always_inline]] void put(uint32x4_t slot, unsigned j,
                                  four_places<Arity>& to) const noexcept {
    const uint32x4_t bits = vmulq_u32(slot, width_);
    const uint32x4_t bytes = vshrq_n_u32(bits, 3);
    vst1q_u64(&to.words[j][0], vaddw_u32(base_, vget_low_u32(bytes)));
    vst1q_u64(&to.words[j][2], vaddw_high_u32(base_, bytes));
    to.bits[j] = vandq_u32(bits, vdupq_n_u32(7));
  }

  unsigned log2_;
  uint64x2_t base_;
  four_words seed_;
  uint32x4_t length_, segment_, mask_, width_;
  int32x4_t unused_;  // bits of a word above a fingerprint at bit 0
};

template <unsigned Arity>
void query(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  std::size_t done = 0;
  if (table.fingerprint_bits <= max_bits) {
    const bool ahead = table.size > cached_bytes;
    const four_keys<Arity> keys(table);
    std::array<four_places<Arity>, group / 4> places;
    for (; done + group <= hashes.size(); done += group) {
      for (std::size_t i = 0; i < group / 4; ++i) {
        keys.find(&hashes[done + 4 * i], places[i]);
        if (!ahead) continue;
        for (const auto& words : places[i].words) {
          for (const std::uintptr_t each : words) {
            prefetch_line<0, 2>(reinterpret_cast<const void*>(each));
          }
        }
      }
      for (std::size_t i = 0; i < group / 4; i += 4) {
        const auto two = [&](std::size_t k) __attribute__((always_inline)) {
          const uint32x4_t low = keys.compare(places[i + k]);
          const uint32x4_t high = keys.compare(places[i + k + 1]);
          return vreinterpretq_u8_u16(
              vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)));
        };
        const uint8x16_t low = two(0);
        const uint8x16_t equal = vuzp1q_u8(low, two(2));
        vst1q_u8(reinterpret_cast<std::uint8_t*>(answers + done + 4 * i), vshrq_n_u8(equal, 7));
      }
    }
  }
  fuse_kernels::scalar.may_contain(table, hashes.subspan(done), answers + done);
}

void may_contain(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  table.arity == 3 ? query<3>(table, hashes, answers) : query<4>(table, hashes, answers);
}

}  // namespace
}  // namespace fuse_neon

const fuse_kernels fuse_kernels::vector128{fuse_neon::may_contain};

}  // namespace bloomset::detail

#endif
