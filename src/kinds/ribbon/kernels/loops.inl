// The loops of a ribbon filter, once for each instruction set. Included inside its namespace and
// target region, after this was defined:
//   std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row)
//   std::size_t bytes_read(std::uint32_t columns)    by `value`, from `window` on
// Only functions that the compiler inlines may be called here: an inline function of another header
// that is emitted with these instructions could be linked into code for any CPU. That includes the
// operators of std::array.

// NOLINTBEGIN(modernize-avoid-c-arrays,readability-simplify-subscript-expr)

// Queries -----------------------------------------------------------------------------------------

// Keys whose windows, of two cache lines each, are prefetched while as many earlier keys are
// answered.
constexpr std::size_t ribbon_group = 64;
// Keys that go through all levels together.
constexpr std::size_t ribbon_chunk = 1024;

struct lookup {
  ribbon_place place;
  std::uint64_t hash;
};

// Finds and prefetches the windows of up to a group of n keys; returns how many.
inline std::size_t look_up(const ribbon_view& filter, const ribbon_level_view& level,
                           const std::uint64_t* hashes_before, std::size_t n, lookup* group) {
  n = n < ribbon_group ? n : ribbon_group;
  for (std::size_t i = 0; i < n; ++i) {
    lookup& at = group[i];
    at.hash = ribbon_hash(hashes_before[i], level.seed);
    at.place = ribbon_place_of(filter.payload, level, at.hash);
    // Into the second-level cache, to which a core can have more fetches under way. All that is
    // read, as a vector may reach into a line that the window does not.
    const std::size_t size = bytes_read(at.place.columns);
    prefetch_line<0, 2>(at.place.window);
    prefetch_line<0, 2>(at.place.window + size - 1);
    if (at.place.columns <= 8) continue;
    for (std::size_t from = 64; from < size; from += 64) {
      prefetch_line<0, 2>(at.place.window + from);
    }
  }
  return n;
}

// Answers the keys of one level. `indices` are those of the keys in `answers`; none: 0 .. n - 1.
// Returns the number of bumped keys; their hashes and indices are stored to `bumped` and
// `bumped_indices`, which may be `hashes` and `indices`.
inline std::size_t query_level(const ribbon_view& filter, const ribbon_level_view& level,
                               const std::uint64_t* hashes, const std::uint16_t* indices,
                               std::size_t n, bool* answers, std::uint64_t* bumped,
                               std::uint16_t* bumped_indices) {
  lookup lookups[2][ribbon_group];
  std::size_t size = look_up(filter, level, hashes, n, lookups[0]);
  std::size_t bumped_keys = 0;
  std::size_t done = 0;
  for (unsigned turn = 0; size != 0; turn ^= 1) {
    const std::size_t next =
        look_up(filter, level, hashes + done + size, n - done - size, lookups[turn ^ 1]);
    for (std::size_t i = 0; i < size; ++i, ++done) {
      const lookup& key = lookups[turn][i];
      const std::uint16_t index =
          indices == nullptr ? static_cast<std::uint16_t>(done) : indices[done];
      const std::uint32_t wanted = ribbon_result(key.hash) & ribbon_mask(key.place.columns);
      const std::uint32_t found = value(key.place.window, key.place.columns, ribbon_row(key.hash));
      const bool is_bumped = ribbon_bumped(key.place);
      answers[index] = !is_bumped & (found == wanted);
      bumped[bumped_keys] = key.hash;
      bumped_indices[bumped_keys] = index;
      bumped_keys += is_bumped;
    }
    size = next;
  }
  return bumped_keys;
}

inline void may_contain(const ribbon_view& filter, std::span<const hash64> hashes, bool* answers) {
  std::uint64_t bumped[ribbon_chunk];
  std::uint16_t bumped_indices[ribbon_chunk];
  for (std::size_t first = 0; first < hashes.size(); first += ribbon_chunk) {
    const std::size_t left = hashes.size() - first;
    std::size_t n = left < ribbon_chunk ? left : ribbon_chunk;
    if (filter.levels.empty()) {
      for (std::size_t i = 0; i < n; ++i) answers[first + i] = false;
      continue;
    }
    const std::uint64_t* level_hashes = &hashes.data()[first].value;
    const std::uint16_t* indices = nullptr;
    for (std::size_t level = 0; level < filter.levels.size() && n != 0; ++level) {
      n = query_level(filter, filter.levels[level], level_hashes, indices, n, answers + first,
                      bumped, bumped_indices);
      level_hashes = bumped;
      indices = bumped_indices;
    }
  }
}

// Building ----------------------------------------------------------------------------------------

// The equations whose windows reach the current group, in reduced row echelon form. Slot s of the
// shard is bit s mod 64 of a row. The pivot of a row is its first slot in the order of the shard,
// and no other row has that slot. So a new equation is reduced by all rows at once; in Gaussian
// elimination each step waits for the one before. Pivots and solution are the same.
struct band {
  alignas(64) std::uint64_t rows[64] = {};  // by pivot
  alignas(64) std::uint32_t results[64] = {};
  std::uint64_t pivots = 0;
};

inline std::uint64_t rotl(std::uint64_t x, unsigned bits) {
  return (x << bits) | (x >> (-bits & 63));
}
inline std::uint64_t rotr(std::uint64_t x, unsigned bits) {
  return (x >> bits) | (x << (-bits & 63));
}

// Adds an equation to a band. Returns false if it contradicts the others. `rotation` is the bit of
// the first slot of its window. The loop over all rows is vectorised by the compiler.
inline bool add_equation(band& solved, std::uint64_t row, std::uint32_t result, unsigned rotation) {
  for (std::uint64_t left = row & solved.pivots; left != 0; left &= left - 1) {
    const int pivot = __builtin_ctzll(left);
    row ^= solved.rows[pivot];
    result ^= solved.results[pivot];
  }
  if (row == 0) return result == 0;  // it follows from the others
  const unsigned pivot =
      (static_cast<unsigned>(__builtin_ctzll(rotr(row, rotation))) + rotation) % 64;
  for (unsigned i = 0; i < 64; ++i) {
    const std::uint64_t has_pivot = -((solved.rows[i] >> pivot) & 1);
    solved.rows[i] ^= has_pivot & row;
    solved.results[i] ^= static_cast<std::uint32_t>(has_pivot) & result;
  }
  solved.rows[pivot] = row;
  solved.results[pivot] = result;
  solved.pivots |= std::uint64_t{1} << pivot;
  return true;
}

inline bool add_start(const ribbon_job& job, band& solved, std::size_t start) {
  const unsigned rotation = start % 8 * 8;
  const std::uint32_t mask = ribbon_mask(job.columns);
  for (std::size_t i = job.begins[start]; i < job.begins[start + 1]; ++i) {
    const std::uint64_t hash = job.keys[i];
    if (!add_equation(solved, rotl(ribbon_row(hash), rotation), ribbon_result(hash) & mask,
                      rotation)) {
      return false;
    }
  }
  return true;
}

// The rows of a group are final once no later equation can begin there.
inline void retire_group(const ribbon_job& job, band& solved, std::size_t group) {
  const unsigned first = group % 8 * 8;
  __builtin_memcpy(job.rows + group * 8, solved.rows + first, sizeof(std::uint64_t) * 8);
  __builtin_memcpy(job.results + group * 8, solved.results + first, sizeof(std::uint32_t) * 8);
  __builtin_memset(solved.rows + first, 0, sizeof(std::uint64_t) * 8);
  __builtin_memset(solved.results + first, 0, sizeof(std::uint32_t) * 8);
  solved.pivots &= ~(std::uint64_t{0xff} << first);
}

inline bool add_bucket(const ribbon_job& job, band& solved, std::size_t first, std::size_t last,
                       unsigned bumped) {
  for (std::size_t start = first; start < last; ++start) {
    if (start >= first + bumped && !add_start(job, solved, start)) return false;
    retire_group(job, solved, start);
  }
  return true;
}

// Bumps as few starts of each bucket as its equations allow; returns the number of bumped keys.
inline std::size_t eliminate(const ribbon_job& job) {
  band solved;
  std::size_t bumped_keys = 0;
  for (std::size_t first = 0; first < job.starts; first += bucket_starts) {
    const std::size_t last =
        first + bucket_starts < job.starts ? first + bucket_starts : job.starts;
    if (!job.bumps) {
      if (!add_bucket(job, solved, first, last, 0)) return ribbon_kernels::no_solution;
      continue;
    }
    const band before = solved;
    unsigned code = 0;
    while (!add_bucket(job, solved, first, last, bumped_starts(code))) {
      ++code;
      solved = before;
    }
    const std::size_t bucket = job.first_bucket + first / bucket_starts;
    job.codes[bucket / 4] |= static_cast<std::byte>(code << (2 * (bucket % 4)));
    const std::size_t kept =
        first + bumped_starts(code) < last ? first + bumped_starts(code) : last;
    for (std::size_t i = job.begins[first]; i < job.begins[kept]; ++i) {
      job.bumped[bumped_keys++] = job.keys[i];
    }
  }
  for (std::size_t group = job.starts; group < job.groups(); ++group) {
    retire_group(job, solved, group);
  }
  return bumped_keys;
}

// Back substitution, from the last group to the first; slots without an equation are 0. The
// equations of a group do not have each other's pivots, so that they need only later groups.
inline void substitute(const ribbon_job& job) {
  const std::uint32_t columns = job.columns;
  for (std::size_t group = job.groups(); group-- > 0;) {
    const unsigned rotation = group % 8 * 8;
    std::byte* const bytes = job.data + group * columns;
    for (std::uint32_t column = 0; column < columns; ++column) bytes[column] = std::byte{0};
    std::uint32_t slots[8];
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint64_t row = job.rows[group * 8 + i];
      slots[i] =
          row == 0 ? 0 : value(bytes, columns, rotr(row, rotation)) ^ job.results[group * 8 + i];
    }
    for (std::uint32_t column = 0; column < columns; ++column) {
      unsigned bits = 0;
      for (unsigned i = 0; i < 8; ++i) bits |= ((slots[i] >> column) & 1) << i;
      bytes[column] = static_cast<std::byte>(bits);
    }
  }
}

inline std::size_t build(const ribbon_job& job) {
  const std::size_t bumped_keys = eliminate(job);
  if (bumped_keys != ribbon_kernels::no_solution) substitute(job);
  return bumped_keys;
}
// NOLINTEND(modernize-avoid-c-arrays,readability-simplify-subscript-expr)
