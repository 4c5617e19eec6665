// Queries of several keys at once (cuckoo_layout::place and contains). The including kernel includes
// cpu/lanes256.inl or cpu/lanes512.inl.

constexpr std::size_t group = 32;
static_assert(group % lanes == 0);

// The buckets and the pattern of each key of a group.
struct alignas(64) group_places {
  std::array<std::uint64_t, group> first, second;  // bits at which the buckets begin
  std::array<std::uint64_t, group> pattern;        // the fingerprint in each slot
};

// The lines of each vector of keys are fetched at once, while the next vector is found: all of a
// group together are more than a core has in flight.
[[gnu::always_inline]] inline void find_places(const cuckoo_layout& layout,
                                               const std::byte* payload, const hash64* hashes,
                                               bool ahead, group_places& to) noexcept {
  const lane_words buckets = lane_words{} + layout.buckets();
  const lane_words values = lane_words{} + layout.values();
  const lane_words bucket_bits =
      lane_words{} + std::uint64_t{layout.slots()} * layout.fingerprint_bits();
  for (std::size_t i = 0; i < group; i += lanes) {
    const lane_words h = load_lanes(hashes + i);
    const lane_words folded = h ^ h >> 32;
    const lane_words first = scaled(folded * 0x9e3779b97f4a7c15, buckets) >> 32;
    const lane_words fingerprint = (scaled(remixed(folded), values) >> 32) + 1;
    const lane_words g = scaled(remixed(fingerprint), buckets) >> 32;
    const lane_words second = g - first + (g < first ? buckets : lane_words{});
    store_lanes(&to.first[i], low_product(first, bucket_bits));
    store_lanes(&to.second[i], low_product(second, bucket_bits));
    store_lanes(&to.pattern[i], fingerprint * layout.slot_ones());
    for (std::size_t k = i; ahead && k < i + lanes; ++k) {
      prefetch_line(payload + (to.first[k] >> 3));
      prefetch_line(payload + (to.second[k] >> 3));
    }
  }
}

// The slots of buckets that begin at these bits, in one word each.
[[gnu::always_inline]] inline lane_words buckets_at(const std::byte* payload,
                                                    const std::uint64_t* bits) noexcept {
  lane_words words{};
  for (std::size_t i = 0; i < lanes; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, payload + (bits[i] >> 3), sizeof word);
    words[i] = word;
  }
  return words >> (load_lanes(bits) & 7);
}

// The bits of `high` are clear where a slot equals the pattern's.
[[gnu::always_inline]] inline lane_words differing(const lane_words& slots,
                                                   const lane_words& pattern,
                                                   std::uint64_t low) noexcept {
  const lane_words x = slots ^ pattern;
  return ((x & low) + low) | x;
}

void contains(const cuckoo_layout& layout, const std::byte* payload,
              std::span<const hash64> hashes, bool* answers, bool ahead) noexcept {
  std::size_t done = 0;
  if (layout.has_words_of_buckets() && layout.buckets() >> 32 == 0) {
    const std::uint64_t high = layout.slot_ones() << (layout.fingerprint_bits() - 1);
    const std::uint64_t low = high - layout.slot_ones();
    group_places at;
    for (; done + group <= hashes.size(); done += group) {
      find_places(layout, payload, hashes.data() + done, ahead, at);
      for (std::size_t i = 0; i < group; i += lanes) {
        const lane_words pattern = load_lanes(&at.pattern[i]);
        const lane_words missing = differing(buckets_at(payload, &at.first[i]), pattern, low) &
                                   differing(buckets_at(payload, &at.second[i]), pattern, low);
        const lane_words found = ~missing & high;
        for (std::size_t k = 0; k < lanes; ++k) answers[done + i + k] = found[k] != 0;
      }
    }
  }
  cuckoo_kernels::scalar.contains(layout, payload, hashes.subspan(done), answers + done, ahead);
}
