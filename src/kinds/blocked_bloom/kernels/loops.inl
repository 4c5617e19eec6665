// Single keys and the loops over a batch, once for every instruction set. Each kernels/*.cpp
// includes this file inside its own namespace and target region, after it has defined for every
// layout L
//   bool test(L, const std::byte* block, hash64, unsigned hashes)
//   bool set(L, std::byte* block, hash64, unsigned hashes)         (true if a bit was clear)
// and for the free layout first_hashes, has_first (any number of positions, up to that many are
// tested) and has_rest, a query in two parts.
//
// docs/maintain/decisions/cpu/handwritten-simd.md has the reason why no class of vectors is used.
//
// No inline function of another header may be emitted here under its own name. So this file calls
// only functions that the compiler inlines.

template <class Layout>
bool may_contain_one(const std::byte* data, std::uint64_t blocks, hash64 h,
                     unsigned hashes) noexcept {
  return test(Layout(), data + Layout::block_of(h, blocks) * Layout::block_bytes, h, hashes);
}

template <class Layout>
bool insert_one(std::byte* data, std::uint64_t blocks, hash64 h, unsigned hashes) noexcept {
  return set(Layout(), data + Layout::block_of(h, blocks) * Layout::block_bytes, h, hashes);
}

// Calls `use(i, block)` for every hash in order; the block is a pointer, or a prefetched_block.
// `Write` and `Level` are the arguments of the prefetch. No prefetch_line: the loop uses the lines,
// so no compiler deletes their prefetches (docs/maintain/decisions/cpu/prefetch.md).
template <class Layout, int Write, int Level, class Byte, class Use>
[[gnu::always_inline]] inline void for_blocks(Byte* data, std::uint64_t blocks,
                                              std::span<const hash64> hashes, unsigned ahead,
                                              Use&& use) {
  const hash64* const h = hashes.data();
  const std::size_t n = hashes.size();
  const auto block = [=](std::size_t i) __attribute__((always_inline)) {
    return data + Layout::block_of(h[i], blocks) * Layout::block_bytes;
  };
  if (ahead == 0) {
    for (std::size_t i = 0; i < n; ++i) use(i, block(i));
    return;
  }
  const std::size_t lead = ahead < n ? ahead : n;
  for (std::size_t i = 0; i < lead; ++i) __builtin_prefetch(block(i), Write, Level);
  std::size_t i = 0;
  for (; i + lead < n; ++i) {
    __builtin_prefetch(block(i + lead), Write, Level);
    use(i, prefetched_block<Byte>{block(i)});
  }
  for (; i < n; ++i) use(i, prefetched_block<Byte>{block(i)});
}

// Prefetches into the second-level cache. A core can have more such fetches in flight than fetches
// into the first, and loading a line from there costs less than the difference.
template <class Layout>
void may_contain_loop(const block_array& array, std::span<const hash64> hashes, bool* answers,
                      unsigned ahead) noexcept {
  const hash64* const h = hashes.data();
  for_blocks<Layout, 0, 2>(
      static_cast<const std::byte*>(array.data), array.blocks, hashes, ahead,
      [=, k = array.hashes](std::size_t i, auto block)
          __attribute__((always_inline)) { answers[i] = test(Layout(), block, h[i], k); });
}

// The free layout with many bits per key. Most non-members lack one of the first, so the others are
// tested in a second pass over the keys that have those: a branch for each key could not be
// predicted (docs/maintain/decisions/kinds/blocked-bloom-lanes.md).
inline void may_contain_free_loop(const block_array& array, std::span<const hash64> hashes,
                                  bool* answers, unsigned ahead) noexcept {
  struct candidate {
    const std::byte* block;
    std::size_t i;
  };
  std::array<candidate, 64> candidates;
  std::size_t n = 0;
  const hash64* const h = hashes.data();
  const unsigned k = array.hashes;
  if (k <= first_hashes) {
    return for_blocks<free_512, 0, 2>(
        static_cast<const std::byte*>(array.data), array.blocks, hashes, ahead,
        [=](std::size_t i, auto block)
            __attribute__((always_inline)) { answers[i] = has_first(block, h[i], k); });
  }
  const auto test_rest = [&]() __attribute__((always_inline)) {
    for (std::size_t c = 0; c < n; ++c) {
      const auto [block, i] = candidates[c];
      answers[i] = has_rest(block, h[i], k);
    }
    n = 0;
  };
  for_blocks<free_512, 0, 2>(static_cast<const std::byte*>(array.data), array.blocks, hashes, ahead,
                             [&](std::size_t i, auto block) __attribute__((always_inline)) {
                               const bool has = has_first(block, h[i], k);
                               answers[i] = has;
                               candidates[n] = {block, i};
                               n += has;
                               if (n == candidates.size()) test_rest();
                             });
  test_rest();
}

// The result means nothing unless Counts.
template <class Layout, bool Counts>
std::uint64_t insert_loop(const block_array& array, std::span<const hash64> hashes,
                          unsigned ahead) noexcept {
  const hash64* const h = hashes.data();
  std::uint64_t newly_inserted = 0;  // NOLINT(misc-const-correctness): unless Counts
  for_blocks<Layout, 1, 2>(array.data, array.blocks, hashes, ahead,
                           [&, h, k = array.hashes](std::size_t i, auto block)
                               __attribute__((always_inline)) {
                                 const bool is_new = set(Layout(), block, h[i], k);
                                 if constexpr (Counts) newly_inserted += is_new;
                               });
  return newly_inserted;
}

template <class Layout>
constexpr block_kernels loops{may_contain_one<Layout>, insert_one<Layout>, may_contain_loop<Layout>,
                              insert_loop<Layout, true>, insert_loop<Layout, false>};

constexpr block_kernels free_loops{may_contain_one<free_512>, insert_one<free_512>,
                                   may_contain_free_loop, insert_loop<free_512, true>,
                                   insert_loop<free_512, false>};

constexpr layout_kernels all_loops{loops<split_512>, free_loops, loops<parquet_256>};
