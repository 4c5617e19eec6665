// Queries of several keys at once (cuckoo_layout::place and contains). The including kernel
// includes cpu/lanes128.inl, lanes256.inl or lanes512.inl.

constexpr std::size_t group = 32;
static_assert(group % lanes == 0);

// The buckets and the pattern of each key of a group.
struct alignas(64) group_places {
  struct buckets {
    std::array<std::uint64_t, group> bytes;  // in which they begin
    std::array<std::uint64_t, group> bits;   // of them
  };
  buckets first, second;
  std::array<std::uint64_t, group> pattern;  // the fingerprint in each slot
};

[[gnu::always_inline]] inline void store_words(std::uint64_t* to,
                                               const word_vector& words) noexcept {
  std::memcpy(to, &words, sizeof words);
}
[[gnu::always_inline]] inline word_vector load_words(const std::uint64_t* from) noexcept {
  word_vector words;
  std::memcpy(&words, from, sizeof words);
  return words;
}

[[gnu::always_inline]] inline void put(const lane_products& first, std::size_t i,
                                       group_places::buckets& to) noexcept {
  for (const word_vector& part : first.parts) {
    store_words(&to.bytes[i], part >> 3);
    store_words(&to.bits[i], part & 7);
    i += vector_words;
  }
}

// The lines of each vector of keys are fetched at once, while the next vector is found: all of a
// group together are more than a core has in flight.
// With `whole`, all of each bucket is fetched.
template <bool whole>
[[gnu::always_inline]] inline void find_places(const cuckoo_layout& layout,
                                               const std::byte* payload, const hash64* hashes,
                                               bucket_prefetch prefetch,
                                               group_places& to) noexcept {
  const lane_halves buckets = halves_of(layout.buckets());
  const lane_halves values = halves_of(layout.values());
  const lane_halves bucket_bits =
      halves_of(std::uint64_t{layout.slots()} * layout.fingerprint_bits());
  for (std::size_t i = 0; i < group; i += lanes) {
    const lane_words h = load_lanes(hashes + i);
    const lane_halves first = scaled(h, buckets);
    const lane_halves fingerprint = scaled(h * golden64, values) + 1;
    const lane_words mixed = folded(widened(fingerprint) * first_mix64);
    const lane_halves g = scaled(mixed * second_mix64, buckets);
    const lane_halves second = g - first + (g < first ? buckets : lane_halves{});
    put(products(first, bucket_bits), i, to.first);
    put(products(second, bucket_bits), i, to.second);
    store_lanes(&to.pattern[i], widened(fingerprint) * layout.slot_ones());
    for (std::size_t k = i; prefetch != bucket_prefetch::none && k < i + lanes; ++k) {
      prefetch_line<0, whole ? 2 : 1>(payload + to.first.bytes[k]);
      prefetch_line<0, whole ? 2 : 1>(payload + to.second.bytes[k]);
      if constexpr (whole) {
        // A bucket may begin in one line and end in the next.
        constexpr std::size_t last = sizeof(std::uint64_t) - 1;
        prefetch_line(payload + to.first.bytes[k] + last);
        prefetch_line(payload + to.second.bytes[k] + last);
      }
    }
  }
}

// The bits of `high` are clear where a slot of the buckets equals the pattern's.
[[gnu::always_inline]] inline word_vector differing(const std::byte* payload,
                                                    const group_places::buckets& of, std::size_t i,
                                                    const word_vector& pattern,
                                                    std::uint64_t low) noexcept {
  word_vector words{};
  for (std::size_t k = 0; k < vector_words; ++k) {
    std::uint64_t word = 0;
    std::memcpy(&word, payload + of.bytes[i + k], sizeof word);
    words[k] = word;
  }
  const word_vector x = words >> load_words(&of.bits[i]) ^ pattern;
  return ((x & low) + low) | x;
}

// Answers whole groups; returns how many keys.
template <bool whole>
std::size_t contains_groups(const cuckoo_layout& layout, const std::byte* payload,
                            std::span<const hash64> hashes, bool* answers,
                            bucket_prefetch prefetch) noexcept {
  const std::uint64_t high = layout.slot_ones() << (layout.fingerprint_bits() - 1);
  const std::uint64_t low = high - layout.slot_ones();
  std::array<group_places, whole ? 2 : 1> places;
  const auto find = [&](std::size_t from) __attribute__((always_inline)) {
    if (from + group > hashes.size()) return;
    find_places<whole>(layout, payload, hashes.data() + from, prefetch,
                       places[from / group % places.size()]);
  };
  if constexpr (whole) find(0);
  std::size_t done = 0;
  for (; done + group <= hashes.size(); done += group) {
    find(whole ? done + group : done);
    const group_places& at = places[done / group % places.size()];
    for (std::size_t i = 0; i < group; i += lanes) {
      lane_products equal;
      std::size_t k = i;
      for (word_vector& part : equal.parts) {
        const word_vector pattern = load_words(&at.pattern[k]);
        part = ~(differing(payload, at.first, k, pattern, low) &
                 differing(payload, at.second, k, pattern, low)) &
               high;
        k += vector_words;
      }
      store_answers<false>(answers + done + i, halves_of(equal));
    }
  }
  return done;
}

void contains(const cuckoo_layout& layout, const std::byte* payload, std::span<const hash64> hashes,
              bool* answers, bucket_prefetch prefetch) noexcept {
  std::size_t done = 0;
  if (layout.has_words_of_buckets() && layout.buckets() >> 32 == 0) {
    const auto groups =
        prefetch == bucket_prefetch::whole ? contains_groups<true> : contains_groups<false>;
    done = groups(layout, payload, hashes, answers, prefetch);
  }
  cuckoo_kernels::scalar.contains(layout, payload, hashes.subspan(done), answers + done, prefetch);
}
