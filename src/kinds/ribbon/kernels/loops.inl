// The ribbon's loops, once for every instruction set: included by src/kernels/ribbon_*.cpp inside
// their own namespace and target region, after these were defined:
//   std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row)
//   bool admit(band&, std::uint64_t row, std::uint32_t result, unsigned turn)
// No inline function of another header may be emitted here under its own name: only what the
// compiler inlines away is called.

// std::array would do, but one of its operators could be emitted with this target.
// NOLINTBEGIN(modernize-avoid-c-arrays,readability-simplify-subscript-expr)
// Asking ----------------------------------------------------------------------------------------

// Keys fetched ahead: two lines of each.
constexpr std::size_t ribbon_ahead = 64;
// Keys of a batch that go through all levels together.
constexpr std::size_t ribbon_chunk = 1024;

struct asked {
  ribbon_place place;
  std::uint64_t y;
};

template <bool Mixed>
inline asked look_up(const ribbon_view& filter, const ribbon_level_view& level,
                     std::uint64_t before) {
  const std::uint64_t y = Mixed ? remix64(before ^ level.seed) : before;
  const ribbon_place place = ribbon_place_of(filter.payload, level, y);
  // Into the second-level cache, as the blocked filters' loops do and for their reason.
  __builtin_prefetch(place.window, 0, 2);
  __builtin_prefetch(place.window + 8 * std::size_t{place.columns} - 1, 0, 2);
  return {place, y};
}

// Answers the keys of one level. The hashes of those that were bumped, and whose keys they are,
// come to the front of `bumped` and `of`; they may be the arrays that were given.
template <bool Mixed>
inline std::size_t ask_level(const ribbon_view& filter, const ribbon_level_view& level,
                             const std::uint64_t* hashes, const std::uint16_t* keys, std::size_t n,
                             bool* answers, std::uint64_t* bumped, std::uint16_t* of) {
  asked ring[ribbon_ahead];
  const std::size_t lead = n < ribbon_ahead ? n : ribbon_ahead;
  for (std::size_t i = 0; i < lead; ++i) ring[i] = look_up<Mixed>(filter, level, hashes[i]);
  std::size_t passed_on = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const asked now = ring[i % ribbon_ahead];
    if (i + lead < n) ring[i % ribbon_ahead] = look_up<Mixed>(filter, level, hashes[i + lead]);
    const std::uint16_t key = keys == nullptr ? static_cast<std::uint16_t>(i) : keys[i];
    const std::uint32_t wanted = ribbon_result(now.y) & ribbon_mask(now.place.columns);
    const bool gone = ribbon_bumped(now.place);
    answers[key] =
        !gone & (value(now.place.window, now.place.columns, ribbon_row(now.y)) == wanted);
    bumped[passed_on] = now.y;
    of[passed_on] = key;
    passed_on += gone;
  }
  return passed_on;
}

inline void may_contain(const ribbon_view& filter, std::span<const hash64> hashes, bool* answers) {
  std::uint64_t bumped[ribbon_chunk];
  std::uint16_t of[ribbon_chunk];
  for (std::size_t at = 0; at < hashes.size(); at += ribbon_chunk) {
    const std::size_t rest = hashes.size() - at;
    std::size_t n = rest < ribbon_chunk ? rest : ribbon_chunk;
    if (filter.levels.empty()) {
      for (std::size_t i = 0; i < n; ++i) answers[at + i] = false;
      continue;
    }
    const std::uint64_t* now = &hashes.data()[at].value;
    const std::uint16_t* keys = nullptr;
    for (std::size_t level = 0; level < filter.levels.size() && n != 0; ++level) {
      const auto ask = filter.levels[level].seed == 0 ? ask_level<false> : ask_level<true>;
      n = ask(filter, filter.levels[level], now, keys, n, answers + at, bumped, of);
      now = bumped;
      keys = of;
    }
  }
}

// Building --------------------------------------------------------------------------------------

inline bool admit_start(const ribbon_job& job, band& now, std::size_t start) {
  const unsigned turn = start % 8 * 8;
  const std::uint32_t mask = ribbon_mask(job.columns);
  for (std::size_t i = job.begins[start]; i < job.begins[start + 1]; ++i) {
    const std::uint64_t y = job.keys[i];
    if (!admit(now, turn_left(ribbon_row(y), turn), ribbon_result(y) & mask, turn)) return false;
  }
  return true;
}

// The rows of a group are final once no later equation can begin there.
inline void retire_group(const ribbon_job& job, band& now, std::size_t group) {
  const unsigned turn = group % 8 * 8;
  __builtin_memcpy(job.rows + group * 8, now.rows + turn, sizeof(std::uint64_t) * 8);
  __builtin_memcpy(job.results + group * 8, now.results + turn, sizeof(std::uint32_t) * 8);
  __builtin_memset(now.rows + turn, 0, sizeof(std::uint64_t) * 8);
  __builtin_memset(now.results + turn, 0, sizeof(std::uint32_t) * 8);
  now.pivots &= ~(std::uint64_t{0xff} << turn);
}

inline bool admit_starts(const ribbon_job& job, band& now, std::size_t first, std::size_t last,
                         unsigned bumped) {
  for (std::size_t start = first; start < last; ++start) {
    if (start >= first + bumped && !admit_start(job, now, start)) return false;
    retire_group(job, now, start);
  }
  return true;
}

// Bumps as little of each bucket as its keys find room with; returns how many keys.
inline std::size_t eliminate(const ribbon_job& job) {
  band now;
  std::size_t bumped = 0;
  for (std::size_t first = 0; first < job.starts; first += bucket_starts) {
    const std::size_t last =
        first + bucket_starts < job.starts ? first + bucket_starts : job.starts;
    if (!job.bumps) {
      if (!admit_starts(job, now, first, last, 0)) return ribbon_kernels::no_solution;
      continue;
    }
    const band before = now;
    unsigned code = 0;
    while (!admit_starts(job, now, first, last, bumped_starts(code))) {
      ++code;
      now = before;
    }
    const std::size_t bucket = job.first_bucket + first / bucket_starts;
    job.codes[bucket / 4] |= static_cast<std::byte>(code << (2 * (bucket % 4)));
    const std::size_t to = first + bumped_starts(code) < last ? first + bumped_starts(code) : last;
    for (std::size_t i = job.begins[first]; i < job.begins[to]; ++i) {
      job.bumped[bumped++] = job.keys[i];
    }
  }
  for (std::size_t group = job.starts; group < job.groups(); ++group) {
    retire_group(job, now, group);
  }
  return bumped;
}

// From the last slot to the first; slots without an equation are 0. The equations of a group do not
// have each other's pivots, so that they wait only for the groups behind it.
inline void substitute(const ribbon_job& job) {
  const std::uint32_t columns = job.columns;
  for (std::size_t group = job.groups(); group-- > 0;) {
    const unsigned turn = group % 8 * 8;
    std::byte* const at = job.data + group * columns;
    for (std::uint32_t column = 0; column < columns; ++column) at[column] = std::byte{0};
    std::uint32_t slots[8];
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint64_t row = job.rows[group * 8 + i];
      slots[i] =
          row == 0 ? 0 : value(at, columns, turn_right(row, turn)) ^ job.results[group * 8 + i];
    }
    for (std::uint32_t column = 0; column < columns; ++column) {
      unsigned bits = 0;
      for (unsigned i = 0; i < 8; ++i) bits |= ((slots[i] >> column) & 1) << i;
      at[column] = static_cast<std::byte>(bits);
    }
  }
}

inline std::size_t build(const ribbon_job& job) {
  const std::size_t bumped = eliminate(job);
  if (bumped != ribbon_kernels::no_solution) substitute(job);
  return bumped;
}
// NOLINTEND(modernize-avoid-c-arrays,readability-simplify-subscript-expr)
