// The loops over a batch for AVX2 and AVX-512; those of the scalar kernels are in scalar.cpp.
// Included inside the namespace and target region of the instruction set, before `Ops`, which is
// made from a vq_layout and has:
//   void place(const hash64* hashes, std::size_t n, vq_group& group) const    (n <= vq_group_size)
//   vq_lookup look_up(const std::byte* block, unsigned bucket, std::uint64_t remainder) const
//   void insert(std::byte* block, unsigned bucket, unsigned end, std::uint64_t remainder) const
//   void erase(std::byte* block, unsigned bucket, unsigned slot) const
// Only functions that the compiler inlines may be called here: an inline function of another header
// that is emitted with these instructions could be linked into code for any CPU.

// vq_layout::run with PDEP in place of vq_select_bit. The word that has the bucket cannot be
// predicted, so there is no branch.
[[gnu::always_inline]] inline vq_run run_by_pdep(const vq_layout& layout, const vq_ends& ends,
                                                 unsigned bucket) {
  const std::uint64_t from6 = 0 - std::uint64_t{bucket >= ends.rank6};
  const std::uint64_t from7 = 0 - std::uint64_t{bucket >= ends.rank7};
  const std::uint64_t to6 = ends.word5 ^ ends.word6;
  const std::uint64_t to7 = ends.word6 ^ ends.word7;
  const std::uint64_t here = ends.word5 ^ (to6 & from6) ^ (to7 & from7);
  const std::uint64_t next = ends.word6 ^ (to7 & from6) ^ (ends.word7 & from7);
  const auto before =
      static_cast<unsigned>((ends.rank6 & from6) + ((ends.rank7 - ends.rank6) & from7));
  const unsigned word = 5 + static_cast<unsigned>((from6 & 1) + (from7 & 1));
  // PDEP deposits zeros on the k lowest set bits and ones on the others: the lowest one left is the
  // bit of rank k.
  const std::uint64_t from_rank = _pdep_u64(~std::uint64_t{0} << ((bucket - before) % 64), here);
  return layout.run_after(bucket, word, static_cast<unsigned>(_tzcnt_u64(from_rank)), here, next);
}

// Finds the places of up to a group of keys and prefetches their blocks; returns how many.
template <class Ops>
[[gnu::always_inline]] inline std::size_t vq_fetch(const Ops& ops, const std::byte* blocks,
                                                   const hash64* hashes, std::size_t n,
                                                   vq_group& group) {
  n = n > vq_group_size ? vq_group_size : n;
  ops.place(hashes, n, group);
  for (std::size_t i = 0; i < n; ++i) {
    prefetch_line(blocks + group.first[i] * vq_block_bytes);
    prefetch_line(blocks + group.second[i] * vq_block_bytes);
  }
  return n;
}

// Calls `use(i, place)` for every hash in order until it returns false.
template <class Ops, class Use>
[[gnu::always_inline]] inline void vq_for_places(const Ops& ops, const std::byte* blocks,
                                                 std::span<const hash64> hashes, Use&& use) {
  const hash64* const h = hashes.data();
  const std::size_t n = hashes.size();
  vq_group groups[2];  // NOLINT(modernize-avoid-c-arrays): std::array's operator could be emitted
  std::size_t size = vq_fetch(ops, blocks, h, n, groups[0]);
  std::size_t first = 0;
  for (unsigned turn = 0; size != 0; turn ^= 1) {
    const std::size_t next =
        vq_fetch(ops, blocks, h + first + size, n - first - size, groups[turn ^ 1]);
    for (std::size_t i = 0; i < size; ++i) {
      if (!use(first + i, groups[turn][i])) return;
    }
    first += size;
    size = next;
  }
}

template <class Ops>
void vq_count_loop(const vq_reader& filter, std::span<const hash64> hashes, std::uint64_t* counts) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  const std::byte* const blocks = filter.blocks;
  vq_for_places(ops, blocks, hashes,
                [&](std::size_t i, const vector_quotient_place& at) __attribute__((always_inline)) {
                  const unsigned bucket = layout.bucket_of(at.tag);
                  const std::uint64_t remainder = layout.remainder_of(at.tag);
                  std::uint64_t found =
                      ops.look_up(layout.block(blocks, at.first), bucket, remainder).copies;
                  if (at.second != at.first) {
                    found += ops.look_up(layout.block(blocks, at.second), bucket, remainder).copies;
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
  std::byte* const blocks = filter.blocks;
  const unsigned slots = layout.slots();
  insert_summary summary;
  std::uint64_t added = 0;
  vq_for_places(
      ops, blocks, hashes,
      [&](std::size_t, const vector_quotient_place& at) __attribute__((always_inline)) {
        const unsigned bucket = layout.bucket_of(at.tag);
        const std::uint64_t remainder = layout.remainder_of(at.tag);
        const vq_lookup a = ops.look_up(layout.block(blocks, at.first), bucket, remainder);
        const vq_lookup b = ops.look_up(layout.block(blocks, at.second), bucket, remainder);
        const unsigned present = a.copies + (at.first == at.second ? 0 : b.copies);
        const bool is_first = a.taken <= b.taken;
        bool newly_inserted = true;
        if (present != 0 || vq_choose(is_first, a.taken, b.taken) >= slots || *filter.stashed != 0)
            [[unlikely]] {
          const insert_outcome outcome = vq_insert_slow(filter, at, present);
          if (outcome != insert_outcome::inserted && outcome != insert_outcome::maybe_present) {
            summary.stopped_by = outcome;
            return false;
          }
          newly_inserted = outcome == insert_outcome::inserted;
        } else {
          ops.insert(layout.block(blocks, vq_choose(is_first, at.first, at.second)), bucket,
                     static_cast<unsigned>(vq_choose(is_first, a.end, b.end)), remainder);
          ++added;
        }
        ++summary.done;
        summary.inserted += newly_inserted;
        return true;
      });
  *filter.count += added;
  summary.maybe_present = summary.done - summary.inserted;
  return summary;
}

template <class Ops>
void vq_erase_loop(const vq_writer& filter, std::span<const hash64> hashes, bool* erased) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  std::byte* const blocks = filter.blocks;
  vq_for_places(
      ops, blocks, hashes,
      [&](std::size_t i, const vector_quotient_place& at) __attribute__((always_inline)) {
        if (*filter.stashed != 0 || filter.overflow->copies(layout.pair_number(at)) != 0)
            [[unlikely]] {
          erased[i] = vq_erase(filter, at);
          return true;
        }
        const unsigned bucket = layout.bucket_of(at.tag);
        const std::uint64_t remainder = layout.remainder_of(at.tag);
        const vq_lookup a = ops.look_up(layout.block(blocks, at.first), bucket, remainder);
        const vq_lookup b = ops.look_up(layout.block(blocks, at.second), bucket, remainder);
        erased[i] = a.copies + b.copies != 0;
        if (erased[i]) {
          const bool is_first = a.copies != 0;
          ops.erase(layout.block(blocks, vq_choose(is_first, at.first, at.second)), bucket,
                    static_cast<unsigned>(vq_choose(is_first, a.slot, b.slot)));
          *filter.count -= *filter.count != 0;
        }
        return true;
      });
}
