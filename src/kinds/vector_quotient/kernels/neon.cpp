#if defined(__aarch64__)

#include <arm_neon.h>

#include <bloomset/detail/vector_quotient/kernels.hpp>

#include "kinds/vector_quotient/kernels/group.hpp"

// Every ARM64 CPU has these instructions, so there is no target region. ARM64 has no PDEP: finding
// a bucket's run is most of the work of the scalar code. Here all remainders of a block are
// compared at once. The bucket of an equal one follows from the number of remainders before it.

namespace bloomset::detail {
namespace vq_neon {
namespace {

// NOLINTBEGIN(modernize-avoid-c-arrays): an operator of std::array could be emitted.

// Remainders of 8 bits are lanes as they are. For others TBL brings to each lane of 16 bits the two
// bytes that have the first bits of its remainder, which begins at bit 0 to 7 of the lane. Instead
// of shifting all remainders into place, the wanted one is shifted once, and the bits beside the
// others are masked.
constexpr unsigned min_lane_bits = 5;
constexpr unsigned max_lane_bits = 24;
struct lane_tables {
  std::uint8_t bytes[16];  // for eight remainders, which are r bytes
  std::int16_t shifts[8];
  std::uint16_t masks[8];
};
struct all_lanes {
  alignas(16) lane_tables by_bits[max_lane_bits - min_lane_bits + 1];
};
constexpr all_lanes make_lane_tables() {
  all_lanes all{};
  for (unsigned r = min_lane_bits; r <= max_lane_bits; ++r) {
    lane_tables& tables = all.by_bits[r - min_lane_bits];
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned shift = i * r % 8;
      tables.bytes[2 * i] = static_cast<std::uint8_t>(i * r / 8);
      tables.bytes[2 * i + 1] = static_cast<std::uint8_t>(i * r / 8 + 1);
      tables.shifts[i] = static_cast<std::int16_t>(shift);
      tables.masks[i] = static_cast<std::uint16_t>(((1U << r) - 1) << shift);
    }
  }
  return all;
}
constexpr all_lanes lanes = make_lane_tables();

// How remainders of r bits are compared.
enum class form : std::uint8_t {
  bytes,   // r = 8
  shorts,  // r <= 9
  prefix,  // r <= 17: up to 7 of their bits are not in the lane, and compared afterwards
  spread   // r <= 24: likewise, and eight of them are more than 16 bytes
};

inline const std::uint8_t* bytes_of(const std::byte* at) noexcept {
  return reinterpret_cast<const std::uint8_t*>(at);
}

// The operations on blocks. `Eights` of eight remainders hold all slots. Reads up to 47 bytes
// behind a block, where another block or the stash is.
template <form Form, unsigned Eights>
class ops {
 public:
  [[gnu::always_inline]] explicit ops(const vq_layout& layout) noexcept
      : layout_(layout), slots_((std::uint64_t{1} << layout.slots()) - 1) {
    const lane_tables& tables = lanes.by_bits[layout.remainder_bits() - min_lane_bits];
    bytes_ = vld1q_u8(tables.bytes);
    shifts_ = vld1q_s16(tables.shifts);
    masks_ = vld1q_u16(tables.masks);
    // The ends may begin in each of words 5 to 7.
    const auto ends_in = [&](unsigned word) {
      const unsigned end = 64 * (word + 1);
      const unsigned begin = layout.ends_offset();
      const std::uint64_t all = ~std::uint64_t{0};
      return vcreate_u64(begin >= end ? 0 : begin <= end - 64 ? all : all << (begin % 64));
    };
    ends_low_ = vcombine_u64(ends_in(5), ends_in(6));
    ends_high_ = vcombine_u64(ends_in(7), vcreate_u64(0));
  }

  [[gnu::always_inline]] uint8x16_t broadcast(std::uint64_t remainder) const noexcept {
    if constexpr (Form == form::bytes) return vdupq_n_u8(static_cast<std::uint8_t>(remainder));
    return vreinterpretq_u8_u16(
        vshlq_u16(vdupq_n_u16(static_cast<std::uint16_t>(remainder)), shifts_));
  }

  // A bit for each slot: whether it has the wanted remainder, in any bucket.
  [[gnu::always_inline]] std::uint64_t equal(const std::byte* block,
                                             uint8x16_t wanted) const noexcept {
    const uint8x16_t places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    uint8x16_t found[4] = {};
#pragma GCC unroll 4
    for (unsigned i = 0; i < (Eights + 1) / 2; ++i) {
      const std::byte* const at = block + std::size_t{2} * i * layout_.remainder_bits();
      if constexpr (Form == form::bytes) {
        found[i] = vceqq_u8(vld1q_u8(bytes_of(at)), wanted);
      } else {
        const uint8x16_t low = equal_8(at, wanted);
        found[i] = vuzp1q_u8(
            low, 2 * i + 1 < Eights ? equal_8(at + layout_.remainder_bits(), wanted) : low);
      }
      found[i] = vandq_u8(found[i], places);
    }
    uint8x16_t sums = vpaddq_u8(vpaddq_u8(found[0], found[1]), vpaddq_u8(found[2], found[3]));
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u64(vreinterpretq_u64_u8(sums), 0) & slots_;
  }

  // Whether the tag's bucket has the tag's remainder in one of these slots of equal().
  [[gnu::always_inline]] bool has(const std::byte* block, std::uint64_t slots,
                                  std::uint64_t tag) const noexcept {
    for (; slots != 0; slots &= slots - 1) {
      if (is_at(block, static_cast<unsigned>(__builtin_ctzll(slots)), tag)) return true;
    }
    return false;
  }

  // The slots of a block in use.
  [[gnu::always_inline]] unsigned taken(const std::byte* block) const noexcept {
    return ones(vandq_u64(words_5_6(block), ends_low_), vandq_u64(word_7(block), ends_high_));
  }

 private:
  // 0xffff in each lane that has it, for the eight remainders from there on.
  [[gnu::always_inline]] uint8x16_t equal_8(const std::byte* at, uint8x16_t wanted) const noexcept {
    uint8x16_t these;
    if constexpr (Form == form::spread) {
      these = vqtbl2q_u8(vld1q_u8_x2(bytes_of(at)), bytes_);
    } else {
      these = vqtbl1q_u8(vld1q_u8(bytes_of(at)), bytes_);
    }
    return vreinterpretq_u8_u16(
        vceqq_u16(vandq_u16(vreinterpretq_u16_u8(these), masks_), vreinterpretq_u16_u8(wanted)));
  }

  // Slot s of bucket b has its one at bit s + b of the ends, behind s others.
  [[gnu::always_inline]] bool is_at(const std::byte* block, unsigned slot,
                                    std::uint64_t tag) const noexcept {
    const unsigned bit = layout_.ends_offset() + layout_.bucket_of(tag) + slot;
    if (bit >= vq_block_bits) return false;
    if ((static_cast<unsigned>(block[bit / 8]) >> (bit % 8) & 1U) == 0) return false;
    if constexpr (Form == form::prefix || Form == form::spread) {
      if (layout_.get(block, slot) != layout_.remainder_of(tag)) return false;
    }
    // The bits of a word before that one: all ones, shifted to the right by the number of the
    // others, at most 64. A shift has the lowest byte of a lane.
    const int16x8_t at = vdupq_n_s16(static_cast<std::int16_t>(bit));
    const auto before = [at](std::int16_t end, std::int16_t second_end) {
      const int16x8_t ends = {end, 0, 0, 0, second_end, 0, 0, 0};
      const int16x8_t by =
          vmaxq_s16(vminq_s16(vsubq_s16(at, ends), vdupq_n_s16(0)), vdupq_n_s16(-64));
      return vshlq_u64(vdupq_n_u64(~std::uint64_t{0}), vreinterpretq_s64_s16(by));
    };
    return ones(vandq_u64(words_5_6(block), vandq_u64(before(384, 448), ends_low_)),
                vandq_u64(word_7(block), vandq_u64(before(512, 512), ends_high_))) == slot;
  }

  [[gnu::always_inline]] static uint64x2_t words_5_6(const std::byte* block) noexcept {
    return vreinterpretq_u64_u8(vld1q_u8(bytes_of(block) + 40));
  }
  [[gnu::always_inline]] static uint64x2_t word_7(const std::byte* block) noexcept {
    return vcombine_u64(vreinterpret_u64_u8(vld1_u8(bytes_of(block) + 56)), vcreate_u64(0));
  }
  [[gnu::always_inline]] static unsigned ones(uint64x2_t a, uint64x2_t b) noexcept {
    return vaddvq_u8(
        vaddq_u8(vcntq_u8(vreinterpretq_u8_u64(a)), vcntq_u8(vreinterpretq_u8_u64(b))));
  }

  const vq_layout& layout_;
  std::uint64_t slots_;
  uint64x2_t ends_low_, ends_high_;
  uint8x16_t bytes_;
  int16x8_t shifts_;
  uint16x8_t masks_;
};

// Single keys -------------------------------------------------------------------------------------

template <class Ops>
[[gnu::always_inline]] inline bool is_in_blocks(const vq_layout& layout, const Ops& ops,
                                                const std::byte* blocks,
                                                const vector_quotient_place& at) noexcept {
  const uint8x16_t wanted = ops.broadcast(layout.remainder_of(at.tag));
  const std::byte* const first = layout.block(blocks, at.first);
  const std::byte* const second = layout.block(blocks, at.second);
  const std::uint64_t in_first = ops.equal(first, wanted);
  const std::uint64_t in_second = ops.equal(second, wanted);
  return ops.has(first, in_first, at.tag) || ops.has(second, in_second, at.tag);
}

template <class Ops>
bool contains(const vq_layout& layout, const std::byte* blocks, hash64 h) {
  return is_in_blocks(layout, Ops(layout), blocks, vq_fetch_place(layout, blocks, h));
}

template <class Ops>
[[gnu::always_inline]] inline insert_outcome insert_at(const vq_layout& layout, const Ops& ops,
                                                       const vq_writer& filter,
                                                       const vector_quotient_place& at) noexcept {
  const unsigned in_first = ops.taken(layout.block(filter.blocks, at.first));
  const unsigned in_second = ops.taken(layout.block(filter.blocks, at.second));
  const bool is_first = in_first <= in_second;
  if ((is_first ? in_first : in_second) >= layout.slots() || *filter.stashed != 0 ||
      is_in_blocks(layout, ops, filter.blocks, at)) [[unlikely]] {
    return vq_insert(filter, at);
  }
  std::byte* const block = layout.block(filter.blocks, vq_choose(is_first, at.first, at.second));
  const unsigned bucket = layout.bucket_of(at.tag);
  layout.insert(block, bucket, layout.run(block, bucket).end, layout.remainder_of(at.tag));
  ++*filter.count;
  return insert_outcome::inserted;
}

template <class Ops>
insert_outcome insert_one(const vq_writer& filter, hash64 h) {
  const vq_layout& layout = *filter.layout;
  return insert_at(layout, Ops(layout), filter, vq_fetch_place(layout, filter.blocks, h));
}

// Erasing has to find the run in any case.
bool erase_one(const vq_writer& filter, hash64 h) {
  return vq_erase(filter, vq_fetch_place(*filter.layout, filter.blocks, h));
}

// Batches -----------------------------------------------------------------------------------------

template <class Ops>
void may_contain(const vq_reader& filter, std::span<const hash64> hashes, bool* answers) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  vq_for_each_place(layout, filter.blocks, hashes,
                    [&](std::size_t i, const vector_quotient_place& at)
                        __attribute__((always_inline)) {
                          answers[i] = is_in_blocks(layout, ops, filter.blocks, at) ||
                                       (filter.stashed != 0 && vq_stashed_copies(filter, at) != 0);
                          return true;
                        });
}

template <class Ops>
void count(const vq_reader& filter, std::span<const hash64> hashes, std::uint64_t* counts) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  vq_for_each_place(
      layout, filter.blocks, hashes,
      [&](std::size_t i, const vector_quotient_place& at) __attribute__((always_inline)) {
        counts[i] = filter.stashed != 0 || is_in_blocks(layout, ops, filter.blocks, at)
                        ? vq_copies(filter, at)
                        : 0;
        return true;
      });
}

template <class Ops>
insert_summary insert(const vq_writer& filter, std::span<const hash64> hashes) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  insert_summary summary;
  vq_for_each_place(layout, filter.blocks, hashes,
                    [&](std::size_t, const vector_quotient_place& at)
                        __attribute__((always_inline)) {
                          return summary.add(insert_at(layout, ops, filter, at));
                        });
  return summary;
}

void erase(const vq_writer& filter, std::span<const hash64> hashes, bool* erased) {
  vq_kernels::scalar.erase(filter, hashes, erased);
}

// NOLINTEND(modernize-avoid-c-arrays)

template <class Ops>
constexpr vq_kernels kernels = {contains<Ops>, insert_one<Ops>, erase_one, may_contain<Ops>,
                                count<Ops>,    insert<Ops>,     erase};

}  // namespace
}  // namespace vq_neon

// Longer remainders are left to the scalar kernels. They are for rates below 10^-7. A block has at
// most 448 / r slots.
const vq_kernels& vq_kernels::vector128(const vq_layout& layout) noexcept {
  using namespace vq_neon;
  const unsigned bits = layout.remainder_bits();
  const unsigned slots = layout.slots();
  if (bits > max_lane_bits) return scalar;
  if (bits > 17) return kernels<ops<form::spread, 4>>;
  if (bits > 9) return slots <= 40 ? kernels<ops<form::prefix, 5>> : kernels<ops<form::prefix, 6>>;
  if (bits != 8) return slots <= 56 ? kernels<ops<form::shorts, 7>> : kernels<ops<form::shorts, 8>>;
  return slots <= 48 ? kernels<ops<form::bytes, 6>> : kernels<ops<form::bytes, 8>>;
}

}  // namespace bloomset::detail

#endif
