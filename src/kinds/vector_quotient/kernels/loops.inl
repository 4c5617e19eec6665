// The loops over a batch of a vector quotient filter, once for every instruction set: included
// inside its own namespace and target region, after it defined a class Ops, made from a vq_layout:
//   static bool holds(const vq_layout&, const std::byte* a, const std::byte* b, unsigned bucket,
//                     std::uint64_t remainder)
//   vq_seen look(const std::byte* block, unsigned bucket, std::uint64_t remainder)
//   void put(std::byte* block, unsigned bucket, unsigned end, std::uint64_t remainder)
//   void take(std::byte* block, unsigned bucket, unsigned slot)
//   void place(const hash64* hashes, std::size_t n, vq_places& places)      (n up to vq_group)
// No inline function of another header may be emitted here under its own name: only what the
// compiler inlines away is called.

// The places of a group of keys, on their way into the cache.
template <class Ops>
[[gnu::always_inline]] inline std::size_t vq_fetch(const Ops& ops, const std::byte* blocks,
                                                   const hash64* hashes, std::size_t n,
                                                   vq_places& places) {
  n = n > vq_group ? vq_group : n;
  ops.place(hashes, n, places);
  for (std::size_t i = 0; i < n; ++i) {
    __builtin_prefetch(blocks + places.first[i] * vq_block_bytes, 0, Ops::locality);
    __builtin_prefetch(blocks + places.second[i] * vq_block_bytes, 0, Ops::locality);
  }
  return n;
}

// Calls `use(i, place)` for every hash in order until it returns false.
template <class Ops, class Use>
[[gnu::always_inline]] inline void vq_for_places(const Ops& ops, const std::byte* blocks,
                                                 const hash64* hashes, std::size_t n, Use&& use) {
  vq_places places[2];  // NOLINT(modernize-avoid-c-arrays): std::array's operator could be emitted
  std::size_t now = vq_fetch(ops, blocks, hashes, n, places[0]);
  std::size_t at = 0;
  for (unsigned turn = 0; now != 0; turn ^= 1) {
    const std::size_t next =
        vq_fetch(ops, blocks, hashes + at + now, n - at - now, places[turn ^ 1]);
    const vq_places& here = places[turn];
    for (std::size_t i = 0; i < now; ++i) {
      if (!use(at + i, vector_quotient_place{here.first[i], here.second[i], here.tag[i]})) return;
    }
    at += now;
    now = next;
  }
}

template <class Ops>
bool vq_holds(const vq_reader& filter, const vector_quotient_place& at) {
  const vq_layout& layout = *filter.layout;
  if (Ops::holds(layout, filter.blocks + at.first * vq_block_bytes,
                 filter.blocks + at.second * vq_block_bytes, layout.bucket_of(at.tag),
                 layout.remainder_of(at.tag))) {
    return true;
  }
  return filter.stashed != 0 && vq_stashed_copies(filter, at) != 0;
}

template <class Ops>
void vq_may_contain_loop(const vq_reader& filter, std::span<const hash64> hashes, bool* answers) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  const std::byte* const blocks = filter.blocks;
  const bool stashed = filter.stashed != 0;
  vq_for_places(ops, blocks, hashes.data(), hashes.size(),
                [&](std::size_t i, const vector_quotient_place& at) __attribute__((always_inline)) {
                  bool found = Ops::holds(layout, blocks + at.first * vq_block_bytes,
                                          blocks + at.second * vq_block_bytes,
                                          layout.bucket_of(at.tag), layout.remainder_of(at.tag));
                  if (stashed && !found) found = vq_stashed_copies(filter, at) != 0;
                  answers[i] = found;
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
  std::uint64_t put = 0;
  vq_for_places(
      ops, blocks, hashes.data(), hashes.size(),
      [&](std::size_t, const vector_quotient_place& at) __attribute__((always_inline)) {
        std::byte* const first = blocks + at.first * vq_block_bytes;
        std::byte* const second = blocks + at.second * vq_block_bytes;
        const unsigned bucket = layout.bucket_of(at.tag);
        const std::uint64_t remainder = layout.remainder_of(at.tag);
        const vq_seen a = ops.look(first, bucket, remainder);
        const vq_seen b = ops.look(second, bucket, remainder);
        const unsigned present = a.copies + (first == second ? 0 : b.copies);
        const bool is_first = a.taken <= b.taken;
        bool fresh = true;
        if (present != 0 || vq_pick(is_first, a.taken, b.taken) >= slots || *filter.stashed != 0)
            [[unlikely]] {
          const insert_outcome outcome = vq_insert_else(filter, at, present);
          if (outcome != insert_outcome::inserted && outcome != insert_outcome::maybe_present) {
            summary.stopped_by = outcome;
            return false;
          }
          fresh = outcome == insert_outcome::inserted;
        } else {
          const std::uint64_t into = vq_pick(is_first, at.first, at.second);
          ops.put(blocks + into * vq_block_bytes, bucket,
                  static_cast<unsigned>(vq_pick(is_first, a.end, b.end)), remainder);
          ++put;
        }
        ++summary.done;
        summary.inserted += fresh;
        return true;
      });
  *filter.count += put;
  summary.maybe_present = summary.done - summary.inserted;
  return summary;
}

template <class Ops>
void vq_erase_loop(const vq_writer& filter, std::span<const hash64> hashes, bool* erased) {
  const vq_layout layout = *filter.layout;
  const Ops ops(layout);
  std::byte* const blocks = filter.blocks;
  vq_for_places(ops, blocks, hashes.data(), hashes.size(),
                [&](std::size_t i, const vector_quotient_place& at) __attribute__((always_inline)) {
                  if (*filter.stashed != 0 || filter.side->holds(layout.pair_of(at))) [[unlikely]] {
                    erased[i] = vq_erase(filter, at);
                    return true;
                  }
                  const unsigned bucket = layout.bucket_of(at.tag);
                  const std::uint64_t remainder = layout.remainder_of(at.tag);
                  std::byte* const first = blocks + at.first * vq_block_bytes;
                  std::byte* const second = blocks + at.second * vq_block_bytes;
                  const vq_seen a = ops.look(first, bucket, remainder);
                  const vq_seen b = ops.look(second, bucket, remainder);
                  const bool found = a.copies + b.copies != 0;
                  if (found) {
                    const bool is_first = a.copies != 0;
                    const std::uint64_t from = vq_pick(is_first, at.first, at.second);
                    ops.take(blocks + from * vq_block_bytes, bucket,
                             static_cast<unsigned>(vq_pick(is_first, a.slot, b.slot)));
                    *filter.count -= *filter.count != 0;
                  }
                  erased[i] = found;
                  return true;
                });
}
