#if defined(__aarch64__)

#include <arm_neon.h>

#include <bloomset/detail/blocked_bloom/kernels.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>

// Every ARM64 CPU has these instructions, so there is no target region. Groups of keys share the
// steps that move fields into a vector and answers out of it.

namespace bloomset::detail {
namespace neon {
namespace {

// For the keys behind the last whole group, and for inserts into the free layout.
using scalar::first_hashes;
using scalar::has_first;
using scalar::has_rest;
using scalar::set;
using scalar::test;

#include "kinds/blocked_bloom/kernels/loops.inl"

uint8x16_t bytes_of(const std::uint8_t (&from)[16]) noexcept {  // NOLINT(modernize-avoid-c-arrays)
  return vld1q_u8(from);
}

// A kernel of a layout queries or inserts two keys at a time. Its result is 16 bytes: the first
// eight are all at least 128 if the first block had the bits of the first key, the others likewise
// for the second. `combine` calls `two(i)` for keys i and i + 1, in order, and returns 1 for each
// of 16 keys whose bits were set.
template <class Two>
[[gnu::always_inline]] inline uint8x16_t combine(Two&& two) noexcept {
  const auto four = [&](unsigned i) __attribute__((always_inline)) {
    const uint8x16_t low = two(i);
    return vpminq_u8(low, two(i + 2));
  };
  const auto eight = [&](unsigned i) __attribute__((always_inline)) {
    const uint8x16_t low = four(i);
    return vpminq_u8(low, four(i + 4));
  };
  const uint8x16_t low = eight(0);
  return vshrq_n_u8(vpminq_u8(low, eight(8)), 7);
}

struct split_kernel {
  // The fields of a key's product are the places of its bits. `pairs` selects two bytes that have
  // the field, for lanes 0, 2, 4, 6, 1, 3, 5, 7; the shifts align it with the top of these 16 bits.
  uint8x16_t pairs = bytes_of({0, 1, 1, 2, 3, 4, 4, 5, 0, 1, 2, 3, 3, 4, 5, 6});
  uint8x16_t pairs_of_second = vaddq_u8(pairs, vdupq_n_u8(8));
  int16x8_t shifts =
      vreinterpretq_s16_u8(bytes_of({10, 0, 6, 0, 10, 0, 6, 0, 4, 0, 8, 0, 4, 0, 8, 0}));
  // The first byte of each lane in its block. An index of 64 or more selects nothing.
  uint8x16_t lanes =
      bytes_of({0, 16, 32, 48, 8, 24, 40, 56, 128, 144, 160, 176, 136, 152, 168, 184});

  // Sets the key's bits in a block, given the fields in the upper bits of each 16. Loads the block
  // again: g++ 12 copies vectors that are also the table of a lookup through memory.
  [[gnu::always_inline]] static void set_bits(std::byte* block, uint16x8_t fields) noexcept {
    // Shifts use only the lowest byte of a lane.
    const uint64x2_t counts = vreinterpretq_u64_u16(vshrq_n_u16(fields, 10));
    asm("" : "+r"(block));  // the address in one register, for load and store pairs
    auto* const words = reinterpret_cast<std::uint64_t*>(block);
    const auto set_two = [=](unsigned lane, uint64x2_t by) __attribute__((always_inline)) {
      const uint64x2_t bits = vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(by));
      vst1q_u64(words + lane, vorrq_u64(vld1q_u64(words + lane), bits));
    };
    set_two(0, counts);
    set_two(2, vshrq_n_u64(counts, 16));
    set_two(4, vshrq_n_u64(counts, 32));
    set_two(6, vshrq_n_u64(counts, 48));
  }

  // `blocks(i)` is the block of key h[i].
  template <bool Inserts, class Blocks>
  [[gnu::always_inline]] uint8x16_t two(const Blocks& blocks, const hash64* h) const noexcept {
    const uint8x16_t products = vreinterpretq_u8_u64(
        vcombine_u64(vcreate_u64(h[0].value * golden64), vcreate_u64(h[1].value * golden64)));
    const auto fields_in = [&](uint8x16_t bytes) __attribute__((always_inline)) {
      return vshlq_u16(vreinterpretq_u16_u8(vqtbl1q_u8(products, bytes)), shifts);
    };
    const uint16x8_t first = fields_in(pairs);
    const uint16x8_t second = fields_in(pairs_of_second);
    // Each field is in the upper six bits of a byte.
    const uint8x16_t fields = vuzp2q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second));
    const uint8x16_t at = vsraq_n_u8(lanes, fields, 5);

    auto* block = blocks(0);
    uint8x16x4_t before = vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(block));
    uint8x16_t bytes = vqtbl4q_u8(before, at);
    if constexpr (Inserts) set_bits(block, first);
    block = blocks(1);
    before = vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(block));
    bytes = vqtbx4q_u8(bytes, before, veorq_u8(at, vdupq_n_u8(128)));
    if constexpr (Inserts) set_bits(block, second);

    const uint8x16_t up = vbicq_u8(vdupq_n_u8(7), vshrq_n_u8(fields, 2));
    return vshlq_u8(bytes, vreinterpretq_s8_u8(up));
  }
};

// clang's vld1q_u32 is a macro that may stand only within a function.
uint32x4_t salts_from(std::size_t lane) noexcept {
  return vld1q_u32(parquet_256::salts.data() + lane);
}

struct parquet_kernel {
  uint32x4_t low_salts = salts_from(0);
  uint32x4_t high_salts = salts_from(4);

  // The key's bit in four lanes. Lane `Hash` of `hashes` has the lower half of its hash.
  template <int Hash>
  [[gnu::always_inline]] static uint32x4_t mask(uint32x4_t salts, uint32x4_t hashes) noexcept {
    const uint32x4_t places = vshrq_n_u32(vmulq_laneq_u32(salts, hashes, Hash), 27);
    return vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(places));
  }

  // All ones in each of four lanes j if the block had the bits of lanes j and j + 4.
  template <bool Inserts, int Hash, class Byte>
  [[gnu::always_inline]] uint32x4_t one(Byte* block, uint32x4_t hashes) const noexcept {
    const uint32x4_t low_bits = mask<Hash>(low_salts, hashes);
    const uint32x4_t high_bits = mask<Hash>(high_salts, hashes);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(block);
    const uint32x4_t low = vld1q_u32(words);
    const uint32x4_t high = vld1q_u32(words + 4);
    if constexpr (Inserts) {
      auto* const to = reinterpret_cast<std::uint32_t*>(block);
      vst1q_u32(to, vorrq_u32(low, low_bits));
      vst1q_u32(to + 4, vorrq_u32(high, high_bits));
    }
    return vandq_u32(vtstq_u32(low, low_bits), vtstq_u32(high, high_bits));
  }

  template <bool Inserts, class Blocks>
  [[gnu::always_inline]] uint8x16_t two(const Blocks& blocks, const hash64* h) const noexcept {
    const uint32x4_t hashes = vreinterpretq_u32_u64(vld1q_u64(&h->value));
    const uint32x4_t first = one<Inserts, 0>(blocks(0), hashes);
    const uint32x4_t second = one<Inserts, 2>(blocks(1), hashes);
    return vreinterpretq_u8_u16(
        vuzp1q_u16(vreinterpretq_u16_u32(first), vreinterpretq_u16_u32(second)));
  }
};

// The places of up to 4 * Words bits are the upper 9 bits of as many products, of which only the
// upper halves are computed. Lanes without a bit of their own repeat the first.
template <unsigned Words>
class free_kernel {
 public:
  explicit free_kernel(unsigned hashes) noexcept {
    std::array<std::uint32_t, 4 * Words> low, high;
    std::uint64_t power = golden64;
    for (unsigned i = 0; i < 4 * Words; ++i, power *= golden64) {
      const std::uint64_t factor = i < hashes ? power : golden64;
      low[i] = static_cast<std::uint32_t>(factor);
      high[i] = static_cast<std::uint32_t>(factor >> 32);
    }
    for (unsigned w = 0; w < Words; ++w) {
      low_[w] = vld1q_u32(&low[4 * w]);
      high_[w] = vld1q_u32(&high[4 * w]);
    }
  }

  template <bool Inserts, class Blocks>
  [[gnu::always_inline]] uint8x16_t two(const Blocks& blocks, const hash64* h) const noexcept {
    static_assert(!Inserts);
    const uint32x4_t hashes = vreinterpretq_u32_u64(vld1q_u64(&h->value));
    const uint8x16x4_t first = block(blocks(0));
    const uint8x16x4_t second = block(blocks(1));
    // Words whose eight places share a vector with those of the other key.
    constexpr unsigned last = Words % 4;
    static_assert(last == 0 || last == 2);
    uint8x16_t all = vdupq_n_u8(0xff);
    if constexpr (Words >= 4) {
      const places_of_bits a(fields<0>(hashes, 0), fields<0>(hashes, 2));
      const places_of_bits b(fields<2>(hashes, 0), fields<2>(hashes, 2));
      all = vpminq_u8(a.to_top(vqtbl4q_u8(first, a.bytes)), b.to_top(vqtbl4q_u8(second, b.bytes)));
    }
    if constexpr (last != 0) {
      const places_of_bits of(fields<0>(hashes, Words - 2), fields<2>(hashes, Words - 2));
      // An index of 64 or more selects nothing.
      const uint8x16_t at = vorrq_u8(of.bytes, vcombine_u8(vdup_n_u8(0), vdup_n_u8(128)));
      const uint8x16_t bytes = vqtbl4q_u8(first, at);
      all = vminq_u8(all, of.to_top(vqtbx4q_u8(bytes, second, veorq_u8(at, vdupq_n_u8(128)))));
    }
    return all;
  }

 private:
  struct places_of_bits {
    uint8x16_t bytes;  // of the block
    uint8x16_t up;     // from the bit to the top of its byte

    places_of_bits(uint16x8_t low, uint16x8_t high) noexcept
        : bytes(vshrq_n_u8(vuzp2q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)), 2)),
          up(vbicq_u8(vdupq_n_u8(7), vshrn_high_n_u16(vshrn_n_u16(low, 7), high, 7))) {}

    [[gnu::always_inline]] uint8x16_t to_top(uint8x16_t from) const noexcept {
      return vshlq_u8(from, vreinterpretq_s8_u8(up));
    }
  };

  [[gnu::always_inline]] static uint8x16x4_t block(const std::byte* from) noexcept {
    return vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(from));
  }

  // The upper 16 bits of eight products. Lanes Lane and Lane + 1 of `hashes` have the hash.
  template <int Lane>
  [[gnu::always_inline]] uint16x8_t fields(uint32x4_t hashes, unsigned word) const noexcept {
    const auto four = [&](unsigned w) __attribute__((always_inline)) {
      const uint64x2_t low = vmull_laneq_u32(vget_low_u32(low_[w]), hashes, Lane);
      const uint64x2_t high = vmull_high_laneq_u32(low_[w], hashes, Lane);
      uint32x4_t upper = vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
      upper = vmlaq_laneq_u32(upper, high_[w], hashes, Lane);
      return vreinterpretq_u16_u32(vmlaq_laneq_u32(upper, low_[w], hashes, Lane + 1));
    };
    return vuzp2q_u16(four(word), four(word + 1));
  }

  std::array<uint32x4_t, Words> low_, high_;
};

constexpr std::size_t group_size = 16;

// Calls `use(i, present)` for every whole group of 16 keys, in order, and returns the number of
// keys in them. Prefetches as for_blocks does, also the blocks of the keys behind the last group.
template <class Layout, class Kernel, bool Inserts, int Level, class Byte, class Use>
[[gnu::always_inline]] inline std::size_t for_groups(const Kernel& kernel, Byte* data,
                                                     std::uint64_t blocks,
                                                     std::span<const hash64> hashes, unsigned ahead,
                                                     Use&& use) {
  const hash64* const h = hashes.data();
  const std::size_t n = hashes.size();
  const auto block = [=](std::size_t i) __attribute__((always_inline)) {
    return data + Layout::block_of(h[i], blocks) * Layout::block_bytes;
  };
  const auto fetch = [=](std::size_t i) __attribute__((always_inline)) {
    __builtin_prefetch(block(i), Inserts ? 1 : 0, Level);
  };
  const auto group = [&](std::size_t i, auto&& blocks_of) __attribute__((always_inline)) {
    use(i, combine([&](unsigned k) __attribute__((always_inline)) {
          return kernel.template two<Inserts>(
              [&](std::size_t of_two)
                  __attribute__((always_inline)) { return blocks_of(i + k + of_two); },
              h + i + k);
        }));
  };
  const std::size_t lead = ahead < n ? ahead : n;
  for (std::size_t i = 0; i < lead; ++i) fetch(i);
  std::size_t i = 0;
  if (lead != 0) {
    for (; i + lead + group_size <= n; i += group_size) {
      group(i, [&](std::size_t k) __attribute__((always_inline)) {
        fetch(k + lead);
        return block(k);
      });
    }
    for (std::size_t k = i + lead; k < n; ++k) fetch(k);
  }
  for (; i + group_size <= n; i += group_size) group(i, block);
  return i;
}

template <class Layout, class Kernel>
void may_contain_by(const Kernel& kernel, const block_array& array, std::span<const hash64> hashes,
                    bool* answers, unsigned ahead) noexcept {
  const std::size_t done = for_groups<Layout, Kernel, false, 2>(
      kernel, static_cast<const std::byte*>(array.data), array.blocks, hashes, ahead,
      [&](std::size_t i, uint8x16_t present) __attribute__((always_inline)) {
        vst1q_u8(reinterpret_cast<std::uint8_t*>(answers + i), present);
      });
  may_contain_loop<Layout>(array, hashes.subspan(done), answers + done, 0);
}

template <class Layout, class Kernel>
void may_contain_groups(const block_array& array, std::span<const hash64> hashes, bool* answers,
                        unsigned ahead) noexcept {
  may_contain_by<Layout>(Kernel(), array, hashes, answers, ahead);
}

void may_contain_free(const block_array& array, std::span<const hash64> hashes, bool* answers,
                      unsigned ahead) noexcept {
  const unsigned k = array.hashes;
  if (hashes.size() < group_size) {
    may_contain_loop<free_512>(array, hashes, answers, ahead);
  } else if (k <= 8) {
    may_contain_by<free_512>(free_kernel<2>(k), array, hashes, answers, ahead);
  } else if (k <= 16) {
    may_contain_by<free_512>(free_kernel<4>(k), array, hashes, answers, ahead);
  } else {
    may_contain_by<free_512>(free_kernel<6>(k), array, hashes, answers, ahead);
  }
}

template <class Layout, class Kernel>
std::uint64_t insert_groups(const block_array& array, std::span<const hash64> hashes,
                            unsigned ahead) noexcept {
  std::uint64_t repeated = 0;
  const std::size_t done = for_groups<Layout, Kernel, true, 3>(
      Kernel(), array.data, array.blocks, hashes, ahead,
      [&](std::size_t, uint8x16_t present)
          __attribute__((always_inline)) { repeated += vaddvq_u8(present); });
  return done - repeated + insert_loop<Layout, true>(array, hashes.subspan(done), 0);
}

template <class Layout, class Kernel>
constexpr block_kernels grouped{may_contain_one<Layout>, insert_one<Layout>,
                                may_contain_groups<Layout, Kernel>, insert_groups<Layout, Kernel>,
                                insert_groups<Layout, Kernel>};

constexpr layout_kernels all_groups{
    grouped<split_512, split_kernel>,
    {may_contain_one<free_512>, insert_one<free_512>, may_contain_free, all_loops.free_512.insert,
     all_loops.free_512.insert_distinct},
    grouped<parquet_256, parquet_kernel>};

}  // namespace
}  // namespace neon

const layout_kernels layout_kernels::vector128 = neon::all_groups;

}  // namespace bloomset::detail

#endif
