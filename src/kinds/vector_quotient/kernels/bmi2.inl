// Runs and remainders of a block by BMI2: included inside a namespace and target region that has
// it.

class vq_bmi2 {
 public:
  static constexpr int locality = 3;

  explicit vq_bmi2(const vq_layout& layout) : layout_(layout) {}

  [[gnu::always_inline]] void place(const hash64* hashes, std::size_t n, vq_places& places) const {
    vq_place_each(layout_, hashes, n, places);
  }

  // vq_layout::run, with PDEP to select. Where the ends and the bit before them lie in the last two
  // words the first of the three has no zero that counts.
  [[gnu::always_inline]] vq_run run(const std::byte* block, unsigned bucket) const {
    const std::uint64_t z5 = layout_.ends(block, 5);
    const std::uint64_t z6 = layout_.ends(block, 6);
    const std::uint64_t z7 = layout_.ends(block, 7);
    const auto c5 = static_cast<unsigned>(__builtin_popcountll(z5));
    const auto c6 = c5 + static_cast<unsigned>(__builtin_popcountll(z6));
    return between(bucket, z5, z6, z7, c5, c6);
  }

  [[gnu::always_inline]] vq_run between(unsigned bucket, std::uint64_t z5, std::uint64_t z6,
                                        std::uint64_t z7, unsigned c5, unsigned c6) const {
    // Which of the three words it is cannot be foretold.
    const std::uint64_t beyond5 = 0 - std::uint64_t{bucket >= c5};
    const std::uint64_t beyond6 = 0 - std::uint64_t{bucket >= c6};
    const std::uint64_t here = z5 ^ ((z5 ^ z6) & beyond5) ^ ((z6 ^ z7) & beyond6);
    const std::uint64_t next = z6 ^ ((z6 ^ z7) & beyond5) ^ (z7 & beyond6);
    const auto before = static_cast<unsigned>((c5 & beyond5) + ((c6 - c5) & beyond6));
    const unsigned word = 5 + static_cast<unsigned>((beyond5 & 1) + (beyond6 & 1));
    // The least bit of those from the k-th on, if k is below 64: PDEP passes over the k lowest.
    const std::uint64_t from_k = _pdep_u64(~std::uint64_t{0} << ((bucket - before) % 64), here);
    const auto bit = static_cast<unsigned>(_tzcnt_u64(from_k));
    return layout_.run_between(bucket, word, bit, here, next);
  }

  [[gnu::always_inline]] std::uint64_t window(const std::byte* block, vq_run run, unsigned at,
                                              std::uint64_t wanted) const {
    const unsigned bit = at * layout_.remainder_bits();
    std::uint64_t x = 0;
    __builtin_memcpy(&x, block + bit / 8, sizeof x);
    x = (x >> (bit % 8)) ^ wanted;
    const std::uint64_t low = layout_.lane_low();
    const std::uint64_t equal = ~(((x & low) + low) | x) & layout_.lane_high();
    const unsigned left = run.end - at;
    const unsigned lanes = layout_.lanes();
    return _bzhi_u64(equal, std::uint64_t{left < lanes ? left : lanes} * layout_.remainder_bits());
  }

  // How often the run holds the remainder. Most runs are shorter than a window.
  [[gnu::always_inline]] unsigned copies(const std::byte* block, vq_run run,
                                         std::uint64_t remainder) const {
    const std::uint64_t wanted = remainder * layout_.lane_ones();
    int found = 0;
    unsigned at = run.begin;
    do {
      found += __builtin_popcountll(window(block, run, at, wanted));
      at += layout_.lanes();
    } while (at < run.end);
    return static_cast<unsigned>(found);
  }

  [[gnu::always_inline]] static bool holds(const vq_layout& layout, const std::byte* a,
                                           const std::byte* b, unsigned bucket,
                                           std::uint64_t remainder) {
    const vq_bmi2 with(layout);
    const unsigned in_a = with.copies(a, with.run(a, bucket), remainder);
    const unsigned in_b = with.copies(b, with.run(b, bucket), remainder);
    return (in_a | in_b) != 0;
  }

  [[gnu::always_inline]] vq_seen look(const std::byte* block, unsigned bucket,
                                      std::uint64_t remainder) const {
    const std::uint64_t z5 = layout_.ends(block, 5);
    const std::uint64_t z6 = layout_.ends(block, 6);
    const std::uint64_t z7 = layout_.ends(block, 7);
    const auto c5 = static_cast<unsigned>(__builtin_popcountll(z5));
    const auto c6 = c5 + static_cast<unsigned>(__builtin_popcountll(z6));
    const vq_run found = between(bucket, z5, z6, z7, c5, c6);
    const unsigned taken = vq_block_bits - layout_.ends_at() + 1 - c6 -
                           static_cast<unsigned>(__builtin_popcountll(z7));
    const std::uint64_t wanted = remainder * layout_.lane_ones();
    unsigned copies = 0;
    unsigned slot = 0;
    unsigned at = found.begin;
    do {
      const std::uint64_t equal = window(block, found, at, wanted);
      if (equal != 0 && copies == 0) {
        slot = at + static_cast<unsigned>(_tzcnt_u64(equal)) / layout_.remainder_bits();
      }
      copies += static_cast<unsigned>(__builtin_popcountll(equal));
      at += layout_.lanes();
    } while (at < found.end);
    return {copies, slot, found.end, taken};
  }

 protected:
  const vq_layout& layout_;
};
