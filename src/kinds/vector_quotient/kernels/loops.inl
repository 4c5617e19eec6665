// The operations for AVX2 and AVX-512; those of the scalar kernels are in scalar.cpp.
// Included inside the namespace and target region of the instruction set, behind cpu/lanes256.inl
// or cpu/lanes512.inl and before `Ops`, which is made from a vq_layout and has:
//   static constexpr bool is_narrow
//       whether it is for layouts that are (vq_layout::is_narrow)
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
    const lane_words tag = scaled(h * golden64, halves_of(layout.tags()));
    const auto is_last = first >= last_region;
    const lane_words base = is_last ? last_region : first & ~(vq_region_blocks - 1);
    const lane_words size = is_last ? last_size : zero + vq_region_blocks;
    lane_words g = tag * first_mix64;
    g = ((g ^ (g >> 32)) * second_mix64) >> 32;
    g = low_product(g, size) >> 32;
    const lane_words local = first - base;
    store_lanes(group.first + i, first);
    store_lanes(group.second + i, base + g - local + (g < local ? size : zero));
    store_lanes(group.tag + i, tag);
  }
}

// vq_layout::place. Which region is the last cannot be predicted in filters of a few regions, and
// compilers make more of it than two CMOVs.
[[gnu::always_inline]] inline vector_quotient_place vq_place(const vq_layout& layout, hash64 h) {
  const std::uint64_t tag = mulhi64(h.value * golden64, layout.tags());
  const std::uint64_t first = mulhi64(h.value, layout.blocks());
  const std::uint64_t last = layout.last_region();
  std::uint64_t base = first & ~(vq_region_blocks - 1);  // NOLINT(misc-const-correctness): asm
  std::uint64_t size = vq_region_blocks;                 // NOLINT(misc-const-correctness): asm
  asm("cmp %[last], %[first]\n\tcmovae %[last], %[base]\n\tcmovae %[last_size], %[size]"
      : [base] "+&r"(base), [size] "+&r"(size)
      : [first] "r"(first), [last] "r"(last), [last_size] "r"(layout.blocks() - last)
      : "cc");
  return {first, layout.other_block(first, tag, base, size), tag};
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

// Where the ends of any block have a bucket. Slot s of bucket b has its one at bit s + b of the
// ends, so bit s of the 57 bits from bit b on tells whether slot s can be the bucket's.
struct vq_window {
  std::uint64_t byte;  // of the block: the eight bytes from there have bit b
  std::uint64_t shift;
  // Of the ends before bit b, those in the two words from rank_byte() on.
  unsigned low;
  unsigned high;
};
[[gnu::always_inline]] inline vq_window vq_window_of(const vq_layout& layout, unsigned bucket) {
  const unsigned bit = layout.ends_offset() + bucket;
  // Eight bytes from a later one would leave the block. One key in eight has such a bucket, so it
  // is no branch.
  std::uint64_t byte = bit / 8 < 56 ? bit / 8 : 56;  // NOLINT(misc-const-correctness): asm
  asm("" : "+r"(byte));
  const unsigned low = layout.rank_skip() + bucket;
  unsigned high = low < 64 ? 64 : low;  // NOLINT(misc-const-correctness): asm
  asm("" : "+r"(high));
  return {byte, bit - 8 * byte, low, high - 64};
}

// The slots of a bucket's run, and the bit of slot `end + 1`, or 0 for none.
struct vq_slots {
  std::uint64_t run;
  std::uint64_t behind;

  [[gnu::always_inline]] unsigned end() const {
    return static_cast<unsigned>(_tzcnt_u64(behind)) - 1;
  }
};

// A block with R remainders before the bucket has the bucket's run between zeros R - 1 and R of its
// window. PDEP finds both. Zeros behind the last slot may lie behind the window.
template <bool is_narrow>
[[gnu::always_inline]] inline vq_slots vq_find_slots(const vq_layout& layout,
                                                     const std::byte* block, unsigned bucket,
                                                     const vq_window& window) {
  if constexpr (!is_narrow) {
    const vq_run at = vq_locate(layout, block, bucket);
    return {vq_in_run(at, ~std::uint64_t{0}), std::uint64_t{2} << (at.end % 64)};
  }
  std::uint64_t words[3];
  __builtin_memcpy(&words[0], block + layout.rank_byte(), 16);
  __builtin_memcpy(&words[2], block + window.byte, 8);
  const auto before = __builtin_popcountll(_bzhi_u64(words[0] & layout.rank_mask(), window.low)) +
                      __builtin_popcountll(_bzhi_u64(words[1], window.high));
  const std::uint64_t ones = words[2] >> window.shift;
  const std::uint64_t zeros = ~(ones + ones);  // one place up, and a zero before them
  // 2^R, or 0 for more than 63 remainders, which only a damaged block has.
  const std::uint64_t nth = _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(before)) + 1;
  const std::uint64_t behind = _pdep_u64(nth + nth, zeros);
  return {(behind >> 1) - _pdep_u64(nth, zeros), behind};
}

// layout.taken(block) with POPCNT.
[[gnu::always_inline]] inline std::uint64_t vq_taken(const vq_layout& layout,
                                                     const std::byte* block) {
  const int taken = __builtin_popcountll(vq_word(block, 5) & layout.ends_of(5)) +
                    __builtin_popcountll(vq_word(block, 6) & layout.ends_of(6)) +
                    __builtin_popcountll(vq_word(block, 7));
  return static_cast<std::uint64_t>(taken);
}

// A key, and what its blocks have of it.
template <class Ops>
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): each is found with those before it
struct vq_key {
  const vq_layout& layout;
  const Ops& ops;
  unsigned bucket;
  std::uint64_t remainder;
  typename Ops::vector wanted;
  vq_window window;

  [[gnu::always_inline]] vq_key(const vq_layout& its_layout, const Ops& its_ops, std::uint64_t tag)
      : layout(its_layout),
        ops(its_ops),
        bucket(layout.bucket_of(tag)),
        remainder(layout.remainder_of(tag)),
        wanted(ops.broadcast(remainder)),
        window(vq_window_of(layout, bucket)) {}

  // The slots of its bucket.
  [[gnu::always_inline]] vq_slots slots_in(const std::byte* block) const {
    return vq_find_slots<Ops::is_narrow>(layout, block, bucket, window);
  }
  // Those with its remainder.
  [[gnu::always_inline]] std::uint64_t copies_in(const std::byte* block) const {
    return ops.equal(block, wanted) & slots_in(block).run;
  }
  // Whether it has copies, with branches. Finds the run only if a slot with the remainder can be
  // the bucket's: slot s of bucket b has its one at bit s + b of the ends.
  [[gnu::always_inline]] bool is_in(const std::byte* block) const {
    std::uint64_t ends = 0;
    __builtin_memcpy(&ends, block + window.byte, 8);
    const std::uint64_t unknown = Ops::is_narrow ? 0 : ~std::uint64_t{0} << 57;
    const std::uint64_t equal = ops.equal(block, wanted) & (ends >> window.shift | unknown);
    return equal != 0 && (equal & slots_in(block).run) != 0;
  }
};

// Single keys -------------------------------------------------------------------------------------

// A filter of this many blocks (8 MiB) is beyond the second-level cache. There a query branches on
// what a block has: while blocks are on their way, the queries behind it begin with theirs, and it
// leaves less work that waits. In smaller filters these branches would be mispredicted too often.
constexpr std::uint64_t vq_many_blocks = std::uint64_t{1} << 17;

template <class Ops>
bool vq_contains(const vq_layout& layout, const std::byte* blocks, hash64 h) {
  const vector_quotient_place at = vq_place(layout, h);
  const Ops ops(layout);
  const vq_key<Ops> key(layout, ops, at.tag);
  const std::byte* const a = layout.block(blocks, at.first);
  const std::byte* const b = layout.block(blocks, at.second);
  if (layout.blocks() < vq_many_blocks) return (key.copies_in(a) | key.copies_in(b)) != 0;
  prefetch_line<0, 1>(b);
  return key.is_in(a) || key.is_in(b);
}

template <class Ops>
[[gnu::always_inline]] inline insert_outcome vq_insert_at(const vq_layout& layout, const Ops& ops,
                                                          const vq_writer& filter,
                                                          vector_quotient_place at) {
  const vq_key<Ops> key(layout, ops, at.tag);
  std::byte* const first = layout.block(filter.blocks, at.first);
  std::byte* const second = layout.block(filter.blocks, at.second);
  const vq_slots a = key.slots_in(first);
  const vq_slots b = key.slots_in(second);
  const std::uint64_t in_a = ops.equal(first, key.wanted) & a.run;
  const std::uint64_t in_b = ops.equal(second, key.wanted) & b.run;
  const std::uint64_t a_taken = vq_taken(layout, first);
  const std::uint64_t b_taken = vq_taken(layout, second);
  // The emptier block. It cannot be predicted, so the compiler may not make it a branch.
  std::byte* block = first;
  std::uint64_t behind = a.behind;  // NOLINT(misc-const-correctness): asm
  std::uint64_t taken = a_taken;    // NOLINT(misc-const-correctness): asm
  asm("cmp %[a_taken], %[b_taken]\n\tcmovb %[second], %[block]\n\tcmovb %[b_behind], %[behind]\n\t"
      "cmovb %[b_taken], %[taken]"
      : [block] "+&r"(block), [behind] "+&r"(behind), [taken] "+&r"(taken)
      :
      [a_taken] "r"(a_taken), [b_taken] "r"(b_taken), [second] "r"(second), [b_behind] "r"(b.behind)
      : "cc");
  if ((in_a | in_b) != 0 || taken >= layout.slots() || *filter.stashed != 0) [[unlikely]] {
    const auto present =
        __builtin_popcountll(in_a) + (first == second ? 0 : __builtin_popcountll(in_b));
    return vq_insert_slow(filter, vector_quotient_place(at), static_cast<unsigned>(present));
  }
  ops.insert(block, key.bucket, vq_slots{0, behind}.end(), key.remainder);
  ++*filter.count;
  return insert_outcome::inserted;
}
template <class Ops>
insert_outcome vq_insert_one(const vq_writer& filter, hash64 h) {
  const vq_layout& layout = *filter.layout;
  const vector_quotient_place at = vq_place(layout, h);
  return vq_insert_at(layout, Ops(layout), filter, at);
}

template <class Ops>
[[gnu::always_inline]] inline bool vq_erase_at(const vq_layout& layout, const Ops& ops,
                                               const vq_writer& filter, vector_quotient_place at) {
  if (*filter.stashed != 0 || filter.overflow->copies(layout.pair_number(at)) != 0) [[unlikely]] {
    return vq_erase(filter, vector_quotient_place(at));
  }
  const vq_key<Ops> key(layout, ops, at.tag);
  const std::uint64_t in_a = key.copies_in(layout.block(filter.blocks, at.first));
  const std::uint64_t in_b = key.copies_in(layout.block(filter.blocks, at.second));
  if ((in_a | in_b) == 0) return false;
  const bool is_first = in_a != 0;
  ops.erase(layout.block(filter.blocks, vq_choose(is_first, at.first, at.second)), key.bucket,
            static_cast<unsigned>(_tzcnt_u64(vq_choose(is_first, in_a, in_b))));
  *filter.count -= *filter.count != 0;
  return true;
}
template <class Ops>
bool vq_erase_one(const vq_writer& filter, hash64 h) {
  const vq_layout& layout = *filter.layout;
  const vector_quotient_place at = vq_place(layout, h);
  return vq_erase_at(layout, Ops(layout), filter, at);
}

// Batches -----------------------------------------------------------------------------------------

// Into the second-level cache: a core has at most 16 lines under way to the first level, and 48 to
// the second (Intel Golden Cove).
[[gnu::always_inline]] inline void vq_prefetch(const std::byte* blocks, const vq_group& group,
                                               std::size_t i) {
  prefetch_line(blocks + group.first[i] * vq_block_bytes);
  prefetch_line(blocks + group.second[i] * vq_block_bytes);
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
                [&](std::size_t first, std::size_t size, const vq_group& group, auto prefetch)
                    __attribute__((always_inline)) {
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
                        const vq_slots at =
                            vq_find_slots<Ops::is_narrow>(layout, layout.block(blocks, c.block),
                                                          bucket, vq_window_of(layout, bucket));
                        answers[first + c.key] |= (at.run & c.equal) != 0;
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
                  const auto copies_in = [&](std::uint64_t block) __attribute__((always_inline)) {
                    const std::uint64_t slots = key.copies_in(layout.block(blocks, block));
                    return static_cast<std::uint64_t>(__builtin_popcountll(slots));
                  };
                  std::uint64_t found = copies_in(at.first);
                  if (at.second != at.first) found += copies_in(at.second);
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
