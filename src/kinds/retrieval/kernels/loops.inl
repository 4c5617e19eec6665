// The loops of retrieval, once for each instruction set. Included inside its namespace and target
// region, after this was defined:
//   std::uint32_t value(const std::byte* slots, std::uint32_t columns, std::uint64_t row)
//   std::size_t bytes_read(std::uint32_t columns)    by `value`, from `slots` on
// Only functions that the compiler inlines may be called here: an inline function of another header
// that is emitted with these instructions could be linked into code for any CPU. That includes the
// operators of std::array.

// NOLINTBEGIN(modernize-avoid-c-arrays,readability-simplify-subscript-expr)

// Queries -----------------------------------------------------------------------------------------

// Keys whose windows, of two cache lines each, are prefetched while as many earlier keys are
// answered.
constexpr std::size_t lookup_group = 64;
// Keys that go through all levels together.
constexpr std::size_t lookup_chunk = 1024;

struct lookup {
  retrieval_place place;
  std::uint64_t hash;
};

// Apart, so that the path of nearly all keys stays short. Not gnu::cold, by which GCC splits the
// loops too.
[[gnu::noinline]] std::uint32_t value_across_cut(const retrieval_place& place, std::uint64_t hash) {
  const divided_row row = row_across_cut(place, retrieval_row(hash));
  return value(place.window, place.columns, row.lower) ^
         (value(row.upper_at, place.columns + 1U, row.upper) & column_mask(place.columns));
}

template <class Window>
inline std::uint32_t value_in_window(const retrieval_place& place, std::uint64_t hash) {
  if constexpr (Window::groups == 8) {
    if (place.lower_groups != 0) [[unlikely]]
      return value_across_cut(place, hash);
  }
  // NOLINTNEXTLINE(misc-const-correctness): wider windows change it
  std::uint32_t found = value(place.window, place.columns, retrieval_row(hash));
  if constexpr (Window::groups == 16) {
    found ^= value(place.window + std::size_t{8} * place.columns, place.columns,
                   retrieval_upper_row(hash));
  }
  return found;
}

// Finds and prefetches the windows of up to a group of n keys; returns how many.
template <class Window>
inline std::size_t look_up(const retrieval_levels& all, const retrieval_level_view& level,
                           const std::uint64_t* hashes_before, std::size_t n, lookup* group) {
  n = n < lookup_group ? n : lookup_group;
  for (std::size_t i = 0; i < n; ++i) {
    lookup& at = group[i];
    at.hash = retrieval_hash(hashes_before[i], level.seed);
    at.place = retrieval_place_of<Window>(all.payload, level, at.hash);
    // Into the second-level cache, to which a core can have more fetches under way. All that is
    // read, as a vector may reach into a line that the window does not.
    constexpr std::size_t earlier_groups = Window::groups - 8;
    const std::size_t size = earlier_groups * at.place.columns + bytes_read(at.place.columns);
    prefetch_line(at.place.window);
    prefetch_line(at.place.window + size - 1);
    if (at.place.columns <= 64 / Window::groups) continue;  // at most two lines
    for (std::size_t from = 64; from < size; from += 64) {
      prefetch_line(at.place.window + from);
    }
  }
  return n;
}

// What a loop stores for each key, if it is not bumped. A bumped key's answer is replaced at its
// next level.
struct fingerprint_matches {
  using type = bool;
  static std::uint32_t wanted(const lookup& key) {
    return fingerprint_of(key.hash) & column_mask(key.place.columns);
  }
  static bool answer(std::uint32_t found, std::uint32_t wanted) { return found == wanted; }
};
struct retrieved_value {
  using type = std::uint32_t;
  static std::uint32_t wanted(const lookup&) { return 0; }
  static std::uint32_t answer(std::uint32_t found, std::uint32_t) { return found; }
};

// Answers the keys of one level. `indices` are those of the keys in `answers`; none: 0 .. n - 1.
// Returns the number of bumped keys; their hashes and indices are stored to `bumped` and
// `bumped_indices`, which may be `hashes` and `indices`.
template <class Window, class Answer>
inline std::size_t query_level(const retrieval_levels& all, const retrieval_level_view& level,
                               const std::uint64_t* hashes, const std::uint16_t* indices,
                               std::size_t n, typename Answer::type* answers, std::uint64_t* bumped,
                               std::uint16_t* bumped_indices) {
  lookup lookups[2][lookup_group];
  std::size_t size = look_up<Window>(all, level, hashes, n, lookups[0]);
  std::size_t bumped_keys = 0;
  std::size_t done = 0;
  for (unsigned turn = 0; size != 0; turn ^= 1) {
    const std::size_t next =
        look_up<Window>(all, level, hashes + done + size, n - done - size, lookups[turn ^ 1]);
    for (std::size_t i = 0; i < size; ++i, ++done) {
      const lookup& key = lookups[turn][i];
      const std::uint16_t index =
          indices == nullptr ? static_cast<std::uint16_t>(done) : indices[done];
      const std::uint32_t wanted = Answer::wanted(key);
      const std::uint32_t found = value_in_window<Window>(key.place, key.hash);
      const bool is_bumped_here = is_bumped<Window>(key.place);
      answers[index] = Answer::answer(found, wanted);
      bumped[bumped_keys] = key.hash;
      bumped_indices[bumped_keys] = index;
      bumped_keys += is_bumped_here;
    }
    size = next;
  }
  return bumped_keys;
}

template <class Window, class Answer>
inline void query(const retrieval_levels& all, std::span<const hash64> hashes,
                  typename Answer::type* answers) {
  std::uint64_t bumped[lookup_chunk];
  std::uint16_t bumped_indices[lookup_chunk];
  for (std::size_t first = 0; first < hashes.size(); first += lookup_chunk) {
    const std::size_t left = hashes.size() - first;
    std::size_t n = left < lookup_chunk ? left : lookup_chunk;
    if (all.levels.empty()) {
      for (std::size_t i = 0; i < n; ++i) answers[first + i] = 0;
      continue;
    }
    const std::uint64_t* level_hashes = &hashes.data()[first].value;
    const std::uint16_t* indices = nullptr;
    for (std::size_t level = 0; level < all.levels.size() && n != 0; ++level) {
      n = query_level<Window, Answer>(all, all.levels[level], level_hashes, indices, n,
                                      answers + first, bumped, bumped_indices);
      level_hashes = bumped;
      indices = bumped_indices;
    }
  }
}

inline void matches_fingerprints(const retrieval_levels& all, std::span<const hash64> hashes,
                                 bool* answers) {
  query<window_64, fingerprint_matches>(all, hashes, answers);
}
inline void retrieve_64(const retrieval_levels& all, std::span<const hash64> hashes,
                        std::uint32_t* values) {
  query<window_64, retrieved_value>(all, hashes, values);
}
inline void retrieve_128(const retrieval_levels& all, std::span<const hash64> hashes,
                         std::uint32_t* values) {
  query<window_128, retrieved_value>(all, hashes, values);
}

// Building ----------------------------------------------------------------------------------------

inline std::uint64_t rotl(std::uint64_t x, unsigned bits) {
  return (x << bits) | (x >> (-bits & 63));
}
inline std::uint64_t rotr(std::uint64_t x, unsigned bits) {
  return (x >> bits) | (x << (-bits & 63));
}

// A row of 128 slots.
struct wide_row {
  std::uint64_t low;
  std::uint64_t high;
};
inline wide_row rotl(wide_row x, unsigned bits) {
  if (bits >= 64) x = {x.high, x.low};
  const unsigned shift = bits % 64;
  // Two shifts, as no shift may be by 64.
  return {(x.low << shift) | (x.high >> 1 >> (63 - shift)),
          (x.high << shift) | (x.low >> 1 >> (63 - shift))};
}
inline wide_row rotr(wide_row x, unsigned bits) {
  return rotl(x, (128 - bits) % 128);
}

// The equations whose windows reach the current group, in reduced row echelon form. Slot s of the
// shard is bit s mod W of a row. The pivot of a row is its first slot in the order of the shard,
// and no other row has that slot. So a new equation is reduced by all rows at once; in Gaussian
// elimination each step waits for the one before. Pivots and solution are the same.
template <class Window>
struct band;

template <>
struct band<window_64> {
  alignas(64) std::uint64_t rows[64] = {};  // by pivot
  alignas(64) std::uint32_t results[64] = {};
  std::uint64_t pivots = 0;

  static std::uint64_t row_of(std::uint64_t hash) { return retrieval_row(hash); }

  // Adds an equation. Returns false if it contradicts the others. `rotation` is the bit of the
  // first slot of its window. The loop over all rows is vectorised by the compiler.
  bool add(std::uint64_t row, std::uint32_t result, unsigned rotation) {
    for (std::uint64_t left = row & pivots; left != 0; left &= left - 1) {
      const int pivot = __builtin_ctzll(left);
      row ^= rows[pivot];
      result ^= results[pivot];
    }
    if (row == 0) return result == 0;  // it follows from the others
    const unsigned pivot =
        (static_cast<unsigned>(__builtin_ctzll(rotr(row, rotation))) + rotation) % 64;
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint64_t has_pivot = -((rows[i] >> pivot) & 1);
      rows[i] ^= has_pivot & row;
      results[i] ^= static_cast<std::uint32_t>(has_pivot) & result;
    }
    rows[pivot] = row;
    results[pivot] = result;
    pivots |= std::uint64_t{1} << pivot;
    return true;
  }

  // Moves the rows of 8 pivots, from bit `first` on, to the job's.
  void retire(const retrieval_job& job, std::size_t group, unsigned first) {
    __builtin_memcpy(job.rows + group * 8, rows + first, sizeof(std::uint64_t) * 8);
    __builtin_memset(rows + first, 0, sizeof(std::uint64_t) * 8);
    pivots &= ~(std::uint64_t{0xff} << first);
  }
  // The value of a slot without its result, from the later slots.
  static std::uint32_t sum(const retrieval_job& job, std::size_t slot, const std::byte* window,
                           unsigned rotation) {
    return value(window, job.columns, rotr(job.rows[slot], rotation));
  }
  static bool is_free(const retrieval_job& job, std::size_t slot) { return job.rows[slot] == 0; }
};

template <>
struct band<window_128> {
  alignas(64) std::uint64_t lows[128] = {};  // of rows, by pivot
  alignas(64) std::uint64_t highs[128] = {};
  alignas(64) std::uint32_t results[128] = {};
  wide_row pivots = {0, 0};

  static wide_row row_of(std::uint64_t hash) {
    return {retrieval_row(hash), retrieval_upper_row(hash)};
  }

  bool add(wide_row row, std::uint32_t result, unsigned rotation) {
    const wide_row known = {row.low & pivots.low, row.high & pivots.high};
    for (std::uint64_t left = known.low; left != 0; left &= left - 1) {
      reduce(row, result, static_cast<unsigned>(__builtin_ctzll(left)));
    }
    for (std::uint64_t left = known.high; left != 0; left &= left - 1) {
      reduce(row, result, static_cast<unsigned>(__builtin_ctzll(left)) + 64);
    }
    if ((row.low | row.high) == 0) return result == 0;
    const wide_row in_order = rotr(row, rotation);
    const auto first = static_cast<unsigned>(
        in_order.low != 0 ? __builtin_ctzll(in_order.low) : 64 + __builtin_ctzll(in_order.high));
    const unsigned pivot = (first + rotation) % 128;
    pivot < 64 ? clear(lows, row, result, pivot) : clear(highs, row, result, pivot % 64);
    lows[pivot] = row.low;
    highs[pivot] = row.high;
    results[pivot] = result;
    (pivot < 64 ? pivots.low : pivots.high) |= std::uint64_t{1} << (pivot % 64);
    return true;
  }

  void retire(const retrieval_job& job, std::size_t group, unsigned first) {
    for (unsigned i = 0; i < 8; ++i) {
      job.rows[2 * (group * 8 + i)] = lows[first + i];
      job.rows[2 * (group * 8 + i) + 1] = highs[first + i];
    }
    __builtin_memset(lows + first, 0, sizeof(std::uint64_t) * 8);
    __builtin_memset(highs + first, 0, sizeof(std::uint64_t) * 8);
    (first < 64 ? pivots.low : pivots.high) &= ~(std::uint64_t{0xff} << (first % 64));
  }
  static std::uint32_t sum(const retrieval_job& job, std::size_t slot, const std::byte* window,
                           unsigned rotation) {
    const wide_row row = rotr({job.rows[2 * slot], job.rows[2 * slot + 1]}, rotation);
    return value(window, job.columns, row.low) ^
           value(window + std::size_t{8} * job.columns, job.columns, row.high);
  }
  static bool is_free(const retrieval_job& job, std::size_t slot) {
    return (job.rows[2 * slot] | job.rows[2 * slot + 1]) == 0;
  }

 private:
  // Adds an equation to those that have its pivot. `half` is lows or highs: with one loop for both,
  // compilers would not vectorise it.
  [[gnu::always_inline]] void clear(const std::uint64_t (&half)[128], wide_row row,
                                    std::uint32_t result, unsigned bit) {
    for (unsigned i = 0; i < 128; ++i) {
      const std::uint64_t has_pivot = -((half[i] >> bit) & 1);
      lows[i] ^= has_pivot & row.low;
      highs[i] ^= has_pivot & row.high;
      results[i] ^= static_cast<std::uint32_t>(has_pivot) & result;
    }
  }
  void reduce(wide_row& row, std::uint32_t& result, unsigned pivot) const {
    row.low ^= lows[pivot];
    row.high ^= highs[pivot];
    result ^= results[pivot];
  }
};

// Fingerprints are computed, so that a build of a filter does not store them.
template <class Window, bool HasValues>
inline bool add_start(const retrieval_job& job, band<Window>& solved, std::size_t start) {
  const unsigned rotation = start % Window::groups * 8;
  const std::uint32_t mask = column_mask(job.columns - (start < job.cut));
  for (std::size_t i = job.begins[start]; i < job.begins[start + 1]; ++i) {
    const std::uint64_t hash = job.keys[i];
    const std::uint32_t result = HasValues ? job.values[i] : fingerprint_of(hash) & mask;
    if (!solved.add(rotl(band<Window>::row_of(hash), rotation), result, rotation)) return false;
  }
  return true;
}

// The rows of a group are final once no later equation can begin there.
template <class Window>
inline void retire_group(const retrieval_job& job, band<Window>& solved, std::size_t group) {
  const unsigned first = group % Window::groups * 8;
  solved.retire(job, group, first);
  __builtin_memcpy(job.results + group * 8, solved.results + first, sizeof(std::uint32_t) * 8);
  __builtin_memset(solved.results + first, 0, sizeof(std::uint32_t) * 8);
}

template <class Window, bool HasValues>
inline bool add_bucket(const retrieval_job& job, band<Window>& solved, std::size_t first,
                       std::size_t last, unsigned bumped) {
  for (std::size_t start = first; start < last; ++start) {
    if (start >= first + bumped && !add_start<Window, HasValues>(job, solved, start)) return false;
    retire_group(job, solved, start);
  }
  return true;
}

// Bumps as few starts of each bucket as its equations allow.
template <class Window, bool HasValues>
inline bool eliminate(const retrieval_job& job) {
  band<Window> solved;
  for (std::size_t first = 0; first < job.starts; first += Window::bucket_starts) {
    const std::size_t last =
        first + Window::bucket_starts < job.starts ? first + Window::bucket_starts : job.starts;
    if (!job.bumps) {
      if (!add_bucket<Window, HasValues>(job, solved, first, last, 0)) return false;
      continue;
    }
    const band<Window> before = solved;
    unsigned code = 0;
    while (!add_bucket<Window, HasValues>(job, solved, first, last, Window::bumped_starts(code))) {
      ++code;
      solved = before;
    }
    const std::size_t bucket = job.first_bucket + first / Window::bucket_starts;
    job.codes[bucket / 4] |= static_cast<std::byte>(code << (2 * (bucket % 4)));
  }
  for (std::size_t group = job.starts; group < job.groups; ++group) {
    retire_group(job, solved, group);
  }
  return true;
}

// Writes the slots of a group, each column as a byte.
inline void store_group(std::byte* bytes, std::uint32_t columns, const std::uint32_t (&slots)[8]) {
  for (std::uint32_t column = 0; column < columns; ++column) {
    unsigned bits = 0;
    for (unsigned i = 0; i < 8; ++i) bits |= ((slots[i] >> column) & 1) << i;
    bytes[column] = static_cast<std::byte>(bits);
  }
}

// Back substitution, from the last group to the first. A slot without an equation has its result,
// which is 0 unless the build chose another. The equations of a group do not have each other's
// pivots, so that they need only later groups and such slots of their own.
template <class Window>
inline void substitute(const retrieval_job& job) {
  const std::uint32_t columns = job.columns;
  for (std::size_t group = job.groups; group-- > 0;) {
    const unsigned rotation = group % Window::groups * 8;
    std::byte* const bytes = job.data + group * columns;
    std::uint32_t slots[8];
    for (unsigned i = 0; i < 8; ++i) {
      const std::size_t slot = group * 8 + i;
      slots[i] = band<Window>::is_free(job, slot) ? job.results[slot] : 0;
    }
    store_group(bytes, columns, slots);
    for (unsigned i = 0; i < 8; ++i) {
      const std::size_t slot = group * 8 + i;
      if (band<Window>::is_free(job, slot)) continue;
      slots[i] = band<Window>::sum(job, slot, bytes, rotation) ^ job.results[slot];
    }
    store_group(bytes, columns, slots);
  }
}

template <class Window>
inline bool eliminate_values(const retrieval_job& job) {
  return job.values == nullptr ? eliminate<Window, false>(job) : eliminate<Window, true>(job);
}
inline bool eliminate_64(const retrieval_job& job) {
  return eliminate_values<window_64>(job);
}
inline bool eliminate_128(const retrieval_job& job) {
  return eliminate_values<window_128>(job);
}
inline void substitute_64(const retrieval_job& job) {
  substitute<window_64>(job);
}
inline void substitute_128(const retrieval_job& job) {
  substitute<window_128>(job);
}

constexpr retrieval_kernels kernels = {matches_fingerprints, retrieve_64,   retrieve_128,
                                       eliminate_64,         eliminate_128, substitute_64,
                                       substitute_128};
// NOLINTEND(modernize-avoid-c-arrays,readability-simplify-subscript-expr)
