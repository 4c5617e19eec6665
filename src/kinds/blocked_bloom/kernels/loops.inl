// The loops over a batch, once for every instruction set. Each kernels/*.cpp includes this file
// inside its own namespace and target region, after it has defined for every layout L
//   bool test(L, const std::byte* block, hash64, unsigned hashes)
//   bool set(L, std::byte* block, hash64, unsigned hashes)         (true if a bit was clear)
//
// docs/maintain/decisions/base/handwritten-simd.md has the reason why no class of vectors is used.
//
// No inline function of another header may be emitted here under its own name. So this file calls
// only functions that the compiler inlines.

// Calls `use(i, block)` for every hash in order. `Write` and `Level` are the arguments of the
// prefetch. No prefetch_line: the loop uses the lines, so no compiler deletes their prefetches
// (docs/maintain/decisions/base/prefetch.md).
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
    use(i, block(i));
  }
  for (; i < n; ++i) use(i, block(i));
}

// Prefetches into the second-level cache. A core can have more such fetches in flight than fetches
// into the first, and loading a line from there costs less than the difference.
template <class Layout>
void may_contain_loop(const block_array& array, std::span<const hash64> hashes, bool* answers,
                      unsigned ahead) noexcept {
  const hash64* const h = hashes.data();
  for_blocks<Layout, 0, 2>(
      static_cast<const std::byte*>(array.data), array.blocks, hashes, ahead,
      [=, k = array.hashes](std::size_t i, const std::byte* block)
          __attribute__((always_inline)) { answers[i] = test(Layout(), block, h[i], k); });
}

// The result means nothing unless Counts.
template <class Layout, bool Counts>
std::uint64_t insert_loop(const block_array& array, std::span<const hash64> hashes,
                          unsigned ahead) noexcept {
  const hash64* const h = hashes.data();
  std::uint64_t newly_inserted = 0;  // NOLINT(misc-const-correctness): unless Counts
  for_blocks<Layout, 1, 2>(
      array.data, array.blocks, hashes, ahead,
      [&, h, k = array.hashes](std::size_t i, std::byte* block) __attribute__((always_inline)) {
        const bool is_new = set(Layout(), block, h[i], k);
        if constexpr (Counts) newly_inserted += is_new;
      });
  return newly_inserted;
}

template <class Layout>
constexpr block_kernels loops{may_contain_loop<Layout>, insert_loop<Layout, true>,
                              insert_loop<Layout, false>};

constexpr layout_kernels all_loops{loops<split_512>, loops<free_512>, loops<parquet_256>};
