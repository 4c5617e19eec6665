// Queries of several keys at once to a filter of one shard (fuse_table::may_contain). The including
// kernel includes cpu/lanes128.inl, lanes256.inl or lanes512.inl, and defines
//   max_bits       the longest fingerprints that it reads
//   max_cached     bytes of the largest filter that is queried without prefetching
//   word_places    the words in which a group's fingerprints begin; words.inl, or its own

template <unsigned Arity>
void query(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  const unsigned log2 = table.segment_log2;
  const unsigned w = table.fingerprint_bits;
  const std::uint64_t seed = table.front.seed;
  const std::byte* const fingerprints = table.fingerprints;
  const bool ahead = table.size > max_cached;
  const lane_halves length = halves_of(table.front.length);
  const lane_halves segment = halves_of(std::uint64_t{1} << log2);
  const lane_halves width = halves_of(w);
  const lane_halves low_bits = halves_of((std::uint64_t{1} << w) - 1);
  std::array<word_places, Arity> at;
  alignas(64) std::array<lane_half, group> own;  // fingerprints of the keys
  const std::size_t whole = w <= max_bits ? hashes.size() / lanes * lanes : 0;
  for (std::size_t done = 0; done < whole; done += group) {
    const std::size_t n = whole - done < group ? whole - done : group;
    for (std::size_t i = 0; i < n; i += lanes) {
      const lane_words x = remixed(folded(load_lanes(hashes.data() + done + i) ^ seed));
      lane_halves slot = scaled(x, length);
      at[0].put(i, half_product(slot, width));
      for (unsigned j = 1; j < Arity; ++j) {
        slot += segment;
        const lane_halves offset = bits_from(x, (Arity - 1 - j) * log2) & (segment - 1);
        at[j].put(i, half_product(slot ^ offset, width));
      }
      store_lanes(&own[i], top_bits(x * golden64, w));
      if (!ahead) continue;
      for (const word_places& places : at) places.prefetch(i, fingerprints);
    }
    for (std::size_t i = 0; i < n; i += lanes) {
      lane_halves sum = load_halves(&own[i]);
      for (const word_places& places : at) sum ^= places.words(i, fingerprints);
      store_answers<true>(answers + done + i, sum & low_bits);
    }
  }
  fuse_kernels::scalar.may_contain(table, hashes.subspan(whole), answers + whole);
}

void may_contain(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  table.arity == 3 ? query<3>(table, hashes, answers) : query<4>(table, hashes, answers);
}
