// Queries of several keys at once to a filter of one shard (fuse_table::may_contain), without
// prefetching: such a filter fits into the third-level cache, and the loads of several vectors
// overlap. The including kernel includes cpu/lanes256.inl or cpu/lanes512.inl, and defines
// `words_at`: the words of 8 bytes that contain these bits, shifted so that the bit comes first.

constexpr std::size_t group = 32;
static_assert(group % lanes == 0);

template <unsigned Arity>
void query(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  const unsigned log2 = table.segment_log2;
  const unsigned w = table.fingerprint_bits;
  const std::uint64_t seed = table.front.seed;
  const std::byte* const fingerprints = table.fingerprints;
  const lane_words starts = lane_words{} + (table.front.length >> log2);
  const lane_words bits = lane_words{} + w;
  const std::uint64_t mask = (std::uint64_t{1} << log2) - 1;
  const std::uint64_t low_bits = (std::uint64_t{1} << w) - 1;
  struct alignas(64) {
    std::array<std::array<std::uint64_t, group>, Arity> first;  // bits of the fingerprints
    std::array<std::uint64_t, group> own;                       // the keys' own
  } at;
  const std::size_t whole = hashes.size() / lanes * lanes;
  for (std::size_t done = 0; done < whole; done += group) {
    const std::size_t n = whole - done < group ? whole - done : group;
    for (std::size_t i = 0; i < n; i += lanes) {
      const lane_words seeded = load_lanes(hashes.data() + done + i) ^ seed;
      const lane_words x = remixed(seeded ^ seeded >> 32);
      lane_words slot = scaled(x, starts) >> (32 - log2);  // mulhi64(x, starts << log2)
      store_lanes(&at.first[0][i], low_product(slot, bits));
      for (unsigned j = 1; j < Arity; ++j) {
        slot += mask + 1;
        const lane_words offset = x >> ((Arity - 1 - j) * log2) & mask;
        store_lanes(&at.first[j][i], low_product(slot ^ offset, bits));
      }
      store_lanes(&at.own[i], x * 0x9e3779b97f4a7c15 >> (64 - w));
    }
    for (std::size_t i = 0; i < n; i += lanes) {
      lane_words sum = load_lanes(&at.own[i]);
      for (unsigned j = 0; j < Arity; ++j) sum ^= words_at(fingerprints, &at.first[j][i]);
      sum &= low_bits;
      for (std::size_t k = 0; k < lanes; ++k) answers[done + i + k] = sum[k] == 0;
    }
  }
  fuse_kernels::scalar.may_contain(table, hashes.subspan(whole), answers + whole);
}

void may_contain(const fuse_table& table, std::span<const hash64> hashes,
                 bool* answers) noexcept {
  table.arity == 3 ? query<3>(table, hashes, answers) : query<4>(table, hashes, answers);
}
