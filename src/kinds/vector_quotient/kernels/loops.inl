// The operations for AVX2 and AVX-512; those of the scalar kernels are in scalar.cpp.
// Included inside the namespace and target region of the instruction set, behind cpu/lanes256.inl
// or cpu/lanes512.inl and before `Ops`, which is made from a vq_layout and has:
//   vector broadcast(std::uint64_t remainder) const
//   std::uint64_t equal(const std::byte* block, vector wanted) const
//       a bit for each slot: whether it has the remainder, in any bucket
//   void insert(std::byte* block, unsigned bucket, unsigned end, std::uint64_t remainder) const
//   void erase(std::byte* block, unsigned bucket, unsigned slot) const
// Only functions that the compiler inlines may be called here: an inline function of another header
// that is emitted with these instructions could be linked into code for any CPU.

// NOLINTBEGIN(modernize-avoid-c-arrays): an operator of std::array could be emitted

// Keys that are worked on while the blocks of as many later keys are fetched.
constexpr std::size_t vq_group_keys = 24;
static_assert(vq_group_keys % lanes == 0);
struct vq_group {
  alignas(64) std::uint64_t first[vq_group_keys];
  alignas(64) std::uint64_t second[vq_group_keys];
  alignas(64) std::uint64_t tag[vq_group_keys];

  [[gnu::always_inline]] vector_quotient_place operator[](std::size_t i) const noexcept {
    return {first[i], second[i], tag[i]};
  }
};

// vq_layout::place for a group of keys. Several keys at once if there are less than 2^32 blocks.
// Tags are always less.
[[gnu::always_inline]] inline void vq_find_places(const vq_layout& layout, const hash64* hashes,
                                                  std::size_t n, vq_group& group) {
  if (layout.blocks() >> 32 != 0) [[unlikely]] {
    for (std::size_t i = 0; i < n; ++i) {
      const vector_quotient_place at = layout.place(hashes[i]);
      group.first[i] = at.first;
      group.second[i] = at.second;
      group.tag[i] = at.tag;
    }
    return;
  }
  const lane_words zero{};
  const lane_words last_region = zero + layout.last_region();
  const lane_words last_size = halves_of(layout.blocks() - layout.last_region());
  for (std::size_t i = 0; i < n; i += lanes) {
    lane_words h{};
    if (n - i < lanes) [[unlikely]] {
      for (std::size_t j = 0; j < n - i; ++j) h[j] = hashes[i + j].value;
    } else {
      h = load_lanes(hashes + i);
    }
    const lane_words first = scaled(h, halves_of(layout.blocks()));
    const lane_words tag = scaled(h * 0x9e3779b97f4a7c15, halves_of(layout.tags()));
    const auto is_last = first >= last_region;
    const lane_words base = is_last ? last_region : first & ~(vq_region_blocks - 1);
    const lane_words size = is_last ? last_size : zero + vq_region_blocks;
    lane_words g = tag * 0xbf58476d1ce4e5b9;
    g = ((g ^ (g >> 32)) * 0x94d049bb133111eb) >> 32;
    g = low_product(g, size) >> 32;
    const lane_words local = first - base;
    store_lanes(group.first + i, first);
    store_lanes(group.second + i, base + g - local + (g < local ? size : zero));
    store_lanes(group.tag + i, tag);
  }
}

// Those of the slots that are in the run.
[[gnu::always_inline]] inline std::uint64_t vq_in_run(const vq_run& run, std::uint64_t slots) {
  return _bzhi_u64(slots, run.end) ^ _bzhi_u64(slots, run.begin);
}

// vq_layout::run with PDEP. The word that has the bucket cannot be predicted, so there is no branch
// for it. In a damaged block the run may end behind the last slot, but before slot 256.
[[gnu::always_inline]] inline vq_run vq_locate(const vq_layout& layout, const std::byte* block,
                                               unsigned bucket) {
  const vq_ends ends = layout.ends(block);
  // -1 if the bucket begins before word 6, and before word 7.
  const int below6 = static_cast<int>(bucket - ends.rank6) >> 31;
  const int below7 = static_cast<int>(bucket - ends.rank7) >> 31;
  const unsigned rank = bucket - (ends.rank6 & ~static_cast<unsigned>(below6)) -
                        ((ends.rank7 - ends.rank6) & ~static_cast<unsigned>(below7));
  const auto word = static_cast<unsigned>(2 + below6 + below7);
  // PDEP finds the lowest set bits, one for each bucket before. The lowest two of the others are
  // the ends before and behind the run.
  const std::uint64_t here = layout.ends_in(block, word);
  const std::uint64_t left = here ^ _pdep_u64(_bzhi_u64(~std::uint64_t{0}, rank), here);
  const std::uint64_t behind = _blsr_u64(left);
  auto after = static_cast<unsigned>(_tzcnt_u64(behind));
  if (behind == 0) [[unlikely]] {
    after += static_cast<unsigned>(_tzcnt_u64(layout.ends_in(block, word + 1)));
  }
  const unsigned slot = 64 * word + (64 * 5 - layout.ends_offset()) - bucket;  // of bit 0
  return {slot + static_cast<unsigned>(_tzcnt_u64(left)) + 1, slot + after, layout.taken(ends)};
}

// A key, and what its blocks have of it.
template <class Ops>
struct vq_key {
  const vq_layout& layout;
  const Ops& ops;
  unsigned bucket;
  std::uint64_t remainder;
  typename Ops::vector wanted;

  [[gnu::always_inline]] vq_key(const vq_layout& its_layout, const Ops& its_ops, std::uint64_t tag)
      : layout(its_layout),
        ops(its_ops),
        bucket(layout.bucket_of(tag)),
        remainder(layout.remainder_of(tag)),
        wanted(ops.broadcast(remainder)) {}

  [[gnu::always_inline]] vq_lookup in(const std::byte* block) const {
    const std::uint64_t equal = ops.equal(block, wanted);
    const vq_run at = vq_locate(layout, block, bucket);
    const std::uint64_t found = vq_in_run(at, equal);
    return {static_cast<unsigned>(__builtin_popcountll(found)),
            static_cast<unsigned>(_tzcnt_u64(found)), at.end, at.taken};
  }
};

// Single keys -------------------------------------------------------------------------------------

// The slots that a bucket may have: slot s of bucket b has its one at bit s + b of the ends. The
// run is needed only if such a slot has the remainder, which is rare for an absent key.
[[gnu::always_inline]] inline std::uint64_t vq_possible_slots(const vq_layout& layout,
                                                              const std::byte* block,
                                                              unsigned bucket) {
  const unsigned bit = layout.ends_offset() + bucket;
  const int behind = static_cast<int>(56 - bit / 8);  // less than 0: 8 bytes would leave the block
  const unsigned byte = bit / 8 + static_cast<unsigned>(behind & (behind >> 31));
  std::uint64_t ends = 0;
  __builtin_memcpy(&ends, block + byte, sizeof ends);
  return ends >> (bit - 8 * byte) | ~std::uint64_t{0} << 57;
}

template <class Ops>
bool vq_contains(const vq_layout& layout, const std::byte* blocks, hash64 h) {
  const vector_quotient_place at = vq_fetch_place(layout, blocks, h);
  const Ops ops(layout);
  const vq_key<Ops> key(layout, ops, at.tag);
  const std::byte* const a = layout.block(blocks, at.first);
  const std::byte* const b = layout.block(blocks, at.second);
  std::uint64_t in_a = ops.equal(a, key.wanted);
  std::uint64_t in_b = ops.equal(b, key.wanted);
  // An equal remainder in another bucket: one in 12 absent keys at r = 10, half of them at r = 7.
  if (layout.remainder_bits() >= 10 && (in_a | in_b) == 0) return false;
  in_a &= vq_possible_slots(layout, a, key.bucket);
  in_b &= vq_possible_slots(layout, b, key.bucket);
  if ((in_a | in_b) == 0) return false;
  // Usually one of the two. It cannot be predicted which, so the compiler may not make it a branch.
  std::uint64_t in_first = 0 - std::uint64_t{in_a != 0};  // NOLINT(misc-const-correctness): asm
  asm("" : "+r"(in_first));
  const std::uint64_t block = at.second ^ ((at.first ^ at.second) & in_first);
  const vq_run found = vq_locate(layout, layout.block(blocks, block), key.bucket);
  if (vq_in_run(found, in_a | (in_b & ~in_first)) != 0) return true;
  return (in_b & in_first) != 0 && vq_in_run(vq_locate(layout, b, key.bucket), in_b) != 0;
}

#include "kinds/vector_quotient/kernels/insert.inl"

template <class Ops>
[[gnu::always_inline]] inline insert_outcome vq_insert_at(const vq_layout& layout, const Ops& ops,
                                                          const vq_writer& filter,
                                                          vector_quotient_place at) {
  const vq_key<Ops> key(layout, ops, at.tag);
  return vq_insert_with(
      layout, filter, at,
      [&](const std::byte* block) __attribute__((always_inline)) { return key.in(block); },
      [&](std::byte* block, unsigned end) __attribute__((always_inline)) {
        ops.insert(block, key.bucket, end, key.remainder);
      });
}
template <class Ops>
insert_outcome vq_insert_one(const vq_writer& filter, hash64 h) {
  const vq_layout& layout = *filter.layout;
  const vector_quotient_place at = vq_fetch_place(layout, filter.blocks, h);
  return vq_insert_at(layout, Ops(layout), filter, at);
}

template <class Ops>
[[gnu::always_inline]] inline bool vq_erase_at(const vq_layout& layout, const Ops& ops,
                                               const vq_writer& filter, vector_quotient_place at) {
  if (*filter.stashed != 0 || filter.overflow->copies(layout.pair_number(at)) != 0) [[unlikely]] {
    return vq_erase(filter, vector_quotient_place(at));
  }
  const vq_key<Ops> key(layout, ops, at.tag);
  const vq_lookup a = key.in(layout.block(filter.blocks, at.first));
  const vq_lookup b = key.in(layout.block(filter.blocks, at.second));
  if (a.copies + b.copies == 0) return false;
  const bool is_first = a.copies != 0;
  ops.erase(layout.block(filter.blocks, vq_choose(is_first, at.first, at.second)), key.bucket,
            static_cast<unsigned>(vq_choose(is_first, a.slot, b.slot)));
  *filter.count -= *filter.count != 0;
  return true;
}
template <class Ops>
bool vq_erase_one(const vq_writer& filter, hash64 h) {
  const vq_layout& layout = *filter.layout;
  const vector_quotient_place at = vq_fetch_place(layout, filter.blocks, h);
  return vq_erase_at(layout, Ops(layout), filter, at);
}

// Batches -----------------------------------------------------------------------------------------

// Into the second-level cache: a core has at most 16 lines under way to the first level, and 48 to
// the second (Intel Golden Cove).
[[gnu::always_inline]] inline void vq_prefetch(const std::byte* blocks, const vq_group& group,
                                               std::size_t i) {
  constexpr int second_level = 2;
  prefetch_line<0, second_level>(blocks + group.first[i] * vq_block_bytes);
  prefetch_line<0, second_level>(blocks + group.second[i] * vq_block_bytes);
}

// Calls `use(first, size, group, prefetch)` for groups of keys, whose first is hashes[first], until
// it returns false. `use` calls prefetch(i) before it works on key i. So the blocks of the next
// group are prefetched one key at a time: prefetched all at once they wait for each other, and the
// work for them.
template <class Use>
[[gnu::always_inline]] inline void vq_for_groups(const vq_layout& layout, const std::byte* blocks,
                                                 std::span<const hash64> hashes, Use&& use) {
  const hash64* const h = hashes.data();
  const std::size_t n = hashes.size();
  vq_group groups[2];
  std::size_t size = n > vq_group_keys ? vq_group_keys : n;
  vq_find_places(layout, h, size, groups[0]);
  for (std::size_t i = 0; i < size; ++i) vq_prefetch(blocks, groups[0], i);
  std::size_t first = 0;
  for (unsigned turn = 0; size != 0; turn ^= 1) {
    const std::size_t left = n - first - size;
    const std::size_t next_size = left > vq_group_keys ? vq_group_keys : left;
    vq_group& next = groups[turn ^ 1];
    vq_find_places(layout, h + first + size, next_size, next);
    const auto prefetch = [&](std::size_t i) __attribute__((always_inline)) {
      if (i < next_size) vq_prefetch(blocks, next, i);
    };
    if (!use(first, size, groups[turn], prefetch)) return;
    first += size;
    size = next_size;
  }
}

// Calls `use(i, place)` for every hash in order until it returns false.
template <class Use>
[[gnu::always_inline]] inline void vq_for_places(const vq_layout& layout, const std::byte* blocks,
                                                 std::span<const hash64> hashes, Use&& use) {
  vq_for_groups(layout, blocks, hashes,
                [&](std::size_t first, std::size_t size, const vq_group& group, auto prefetch)
                    __attribute__((always_inline)) {
                      for (std::size_t i = 0; i < size; ++i) {
                        prefetch(i);
                        if (!use(first + i, group[i])) return false;
                      }
                      return true;
                    });
}

// A block that has an equal remainder somewhere, so that its bucket's run has to be found.
struct vq_candidate {
  std::uint64_t equal;
  std::uint64_t block;
  std::uint64_t key;
  std::uint64_t unused;  // 32 bytes are faster to index than 24
};

// Two steps without unpredictable branches. The first compares all blocks of a group and lists
// those with an equal remainder: one in 3 at r = 7, one in 25 at r = 10. The second finds the runs
// of the listed blocks.
template <class Ops>
void vq_may_contain_loop(const vq_reader& filter, std::span<const hash64> hashes, bool* answers) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  const std::byte* const blocks = filter.blocks;
  vq_candidate candidates[2 * vq_group_keys + 1];
  vq_for_groups(layout, blocks, hashes,
                [&](std::size_t first, std::size_t size, const vq_group& group,
                    auto prefetch) __attribute__((always_inline)) {
                  std::size_t listed = 0;
                  for (std::size_t i = 0; i < size; ++i) {
                    prefetch(i);
                    const auto wanted = ops.broadcast(layout.remainder_of(group.tag[i]));
                    for (const std::uint64_t at : {group.first[i], group.second[i]}) {
                      const std::uint64_t equal = ops.equal(layout.block(blocks, at), wanted);
                      candidates[listed].equal = equal;
                      candidates[listed].block = at;
                      candidates[listed].key = i;
                      listed += equal != 0;
                    }
                    answers[first + i] = false;
                  }
                  for (std::size_t i = 0; i < listed; ++i) {
                    const vq_candidate& c = candidates[i];
                    const unsigned bucket = layout.bucket_of(group.tag[c.key]);
                    const vq_run at = vq_locate(layout, layout.block(blocks, c.block), bucket);
                    answers[first + c.key] |= vq_in_run(at, c.equal) != 0;
                  }
                  if (filter.stashed != 0) [[unlikely]] {
                    for (std::size_t i = 0; i < size; ++i) {
                      answers[first + i] |= vq_stashed_copies(filter, group[i]) != 0;
                    }
                  }
                  return true;
                });
}

// NOLINTEND(modernize-avoid-c-arrays)

template <class Ops>
void vq_count_loop(const vq_reader& filter, std::span<const hash64> hashes, std::uint64_t* counts) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  const std::byte* const blocks = filter.blocks;
  vq_for_places(layout, blocks, hashes,
                [&](std::size_t i, const vector_quotient_place& at) __attribute__((always_inline)) {
                  const vq_key<Ops> key(layout, ops, at.tag);
                  std::uint64_t found = key.in(layout.block(blocks, at.first)).copies;
                  if (at.second != at.first) {
                    found += key.in(layout.block(blocks, at.second)).copies;
                  }
                  if (found == 0) {
                    if (filter.stashed != 0) found = vq_stashed_copies(filter, at);
                  } else if (filter.overflow.entries() != 0) {
                    found += filter.overflow.copies(layout.pair_number(at));
                  }
                  counts[i] = found;
                  return true;
                });
}

template <class Ops>
insert_summary vq_insert_loop(const vq_writer& filter, std::span<const hash64> hashes) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  insert_summary summary;
  vq_for_places(layout, filter.blocks, hashes,
                [&](std::size_t, const vector_quotient_place& at) __attribute__((always_inline)) {
                  return summary.add(vq_insert_at(layout, ops, filter, at));
                });
  return summary;
}

template <class Ops>
void vq_erase_loop(const vq_writer& filter, std::span<const hash64> hashes, bool* erased) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  vq_for_places(layout, filter.blocks, hashes,
                [&](std::size_t i, const vector_quotient_place& at) __attribute__((always_inline)) {
                  erased[i] = vq_erase_at(layout, ops, filter, at);
                  return true;
                });
}

template <class Ops>
constexpr vq_kernels vq_kernels_of = {
    vq_contains<Ops>,   vq_insert_one<Ops>,  vq_erase_one<Ops>, vq_may_contain_loop<Ops>,
    vq_count_loop<Ops>, vq_insert_loop<Ops>, vq_erase_loop<Ops>};
