// The loops over a batch, once for every instruction set. Each kernels/*.cpp includes this file
// inside its own namespace and target region, after it has defined for every layout L
//   bool test(L, const std::byte* block, hash64, unsigned hashes)
//   bool set(L, std::byte* block, hash64, unsigned hashes)         (true if a bit was clear)
//
// No inline function of another header may be emitted here under its own name. So this file calls
// only functions that the compiler inlines.

template <class Layout>
void may_contain_loop(const block_array& array, std::span<const hash64> hashes, bool* answers,
                      unsigned ahead) {
  const std::byte* const data = array.data;
  const std::uint64_t blocks = array.blocks;
  const unsigned k = array.hashes;
  const hash64* const h = hashes.data();
  const std::size_t n = hashes.size();
  const std::size_t lead = ahead < n ? ahead : n;
  // Prefetches into the second-level cache. A core can have more such fetches in flight than
  // fetches into the first, and loading a line from there costs less than the difference.
  for (std::size_t i = 0; i < lead; ++i) {
    __builtin_prefetch(data + Layout::block_of(h[i], blocks) * Layout::block_bytes, 0, 2);
  }
  std::size_t i = 0;
  if (lead != 0) {
    for (; i + lead < n; ++i) {
      __builtin_prefetch(data + Layout::block_of(h[i + lead], blocks) * Layout::block_bytes, 0, 2);
      answers[i] =
          test(Layout(), data + Layout::block_of(h[i], blocks) * Layout::block_bytes, h[i], k);
    }
  }
  for (; i < n; ++i) {
    answers[i] =
        test(Layout(), data + Layout::block_of(h[i], blocks) * Layout::block_bytes, h[i], k);
  }
}

template <class Layout>
std::uint64_t insert_loop(const block_array& array, std::span<const hash64> hashes,
                          unsigned ahead) {
  std::byte* const data = array.data;
  const std::uint64_t blocks = array.blocks;
  const unsigned k = array.hashes;
  const hash64* const h = hashes.data();
  const std::size_t n = hashes.size();
  const std::size_t lead = ahead < n ? ahead : n;
  for (std::size_t i = 0; i < lead; ++i) {
    __builtin_prefetch(data + Layout::block_of(h[i], blocks) * Layout::block_bytes, 1, 3);
  }
  std::uint64_t newly_inserted = 0;
  std::size_t i = 0;
  if (lead != 0) {
    for (; i + lead < n; ++i) {
      __builtin_prefetch(data + Layout::block_of(h[i + lead], blocks) * Layout::block_bytes, 1, 3);
      newly_inserted +=
          set(Layout(), data + Layout::block_of(h[i], blocks) * Layout::block_bytes, h[i], k);
    }
  }
  for (; i < n; ++i) {
    newly_inserted +=
        set(Layout(), data + Layout::block_of(h[i], blocks) * Layout::block_bytes, h[i], k);
  }
  return newly_inserted;
}

template <class Layout>
constexpr block_kernels loops{may_contain_loop<Layout>, insert_loop<Layout>};
