// What is done with a segment (segment.hpp), once for each instruction set. Included into a
// namespace that has select_one and count_ones.

#include <bloomery/detail/segment_view.inl>

constexpr std::size_t code_bits(std::size_t entries) {
  return block_cells + 1 + entries;
}
constexpr std::size_t most_blocks = std::size_t{1} << (14 - block_cell_bits);

// How far an insert looks for a gap before the whole segment is laid out anew, and how much of one
// it takes beyond what it needs, so that its block need not look again at once. Gaps are 1/16 of
// the bytes when a segment is laid out, and nearly all of them are used up before the next time.
constexpr std::size_t gap_search = 32;
constexpr std::size_t gap_taken_ahead = 3;
constexpr std::size_t gap_share = 12;

void put_bits(std::byte* to, std::size_t at, std::uint64_t value, unsigned n) noexcept {
  std::byte* const word = to + (at >> 3);
  const auto shift = static_cast<unsigned>(at & 7);
  const std::uint64_t mask = ((std::uint64_t{1} << n) - 1) << shift;
  store(word, (load<std::uint64_t>(word) & ~mask) | (value << shift & mask));
}

// 64 bits from bit `at` on. Reads 9 bytes.
std::uint64_t get_word(const std::byte* from, std::size_t at) noexcept {
  const std::byte* const byte = from + (at >> 3);
  const auto shift = static_cast<unsigned>(at & 7);
  return load<std::uint64_t>(byte) >> shift | std::uint64_t{load<std::uint8_t>(byte + 8)}
                                                  << (63 - shift) << 1;
}

// Moves n bits from bit `from` to bit `to`. By whole words of the target, each written once, since
// a load that overlaps a store of another width waits for it to leave the core's buffer.
void move_bits(std::byte* in, std::size_t from, std::size_t n, std::size_t to) noexcept {
  if (n == 0) return;
  std::byte* const first = in + (to >> 3);
  const std::size_t before = to & 7;
  const std::size_t words = (before + n + 63) / 64;
  const auto move_word = [&](std::size_t k) noexcept {
    const std::uint64_t moved =
        k == 0 ? get_word(in, from) << before : get_word(in, from + 64 * k - before);
    std::uint64_t mask = k == 0 ? ~std::uint64_t{0} << before : ~std::uint64_t{0};
    if (k + 1 == words) mask &= ~std::uint64_t{0} >> (64 * words - before - n);
    std::byte* const word = first + 8 * k;
    store(word, (load<std::uint64_t>(word) & ~mask) | (moved & mask));
  };
  if (to < from) {
    for (std::size_t k = 0; k < words; ++k) move_word(k);
  } else {
    for (std::size_t k = words; k-- > 0;) move_word(k);
  }
}

// With a shift of up to 7 it fits into a word.
constexpr unsigned piece = 56;

// The first 128 bits of a block's code, as a rule all of it.
class block_code {
 public:
  explicit block_code(const std::byte* block) noexcept
      : low_(load<std::uint64_t>(block)),
        high_(load<std::uint64_t>(block + 8)),
        below_(count_ones(~low_)) {}

  bool has(unsigned zero) const noexcept {
    return zero < below_ || zero - below_ < count_ones(~high_);
  }
  /// Precondition: has(k).
  unsigned zero(unsigned k) const noexcept {
    return k < below_ ? select_one(~low_, k) : 64 + select_one(~high_, k - below_);
  }

  /// Writes it back with a one more at `place`, before which it has ones or zeros up to `end`.
  /// Precondition: end < 128.
  void store_with_one(std::byte* block, unsigned place, unsigned end) const noexcept {
    __extension__ using wide = unsigned __int128;
    const wide all = static_cast<wide>(high_) << 64 | low_;
    const wide one = static_cast<wide>(1) << place;
    const wide beyond = ~((static_cast<wide>(2) << end) - 1);
    const wide moved = (all & ~(one - 1)) << 1 & ~beyond;
    const wide made = (all & (one - 1)) | one | moved | (all & beyond);
    store(block, static_cast<std::uint64_t>(made));
    store(block + 8, static_cast<std::uint64_t>(made >> 64));
  }

 private:
  std::uint64_t low_;
  std::uint64_t high_;
  unsigned below_;  // zeros in low_
};

// A segment that is well formed, to be written.
class editor {
 public:
  editor(const segment_shape& shape, owned_storage& segment) noexcept
      : shape_(shape),
        starts_(segment.writable_bytes().data()),
        area_(starts_ + shape.table_bytes()) {}

  std::byte* area() const noexcept { return area_; }
  std::size_t start(std::size_t block) const noexcept {
    return load<std::uint16_t>(starts_ + 2 * block);
  }
  void set_start(std::size_t block, std::size_t at) noexcept {
    store(starts_ + 2 * block, static_cast<std::uint16_t>(at));
  }
  std::size_t size(std::size_t block) const noexcept { return start(block + 1) - start(block); }
  std::byte* block(std::size_t block) const noexcept { return area_ + start(block); }

  std::size_t entries(std::size_t b) const noexcept {
    const block_code code(block(b));
    if (code.has(block_cells)) [[likely]]
      return code.zero(block_cells) - block_cells;
    return find_zero(block(b), size(b), block_cells) - block_cells;
  }
  std::size_t slot_bytes(std::size_t entries) const noexcept {
    return bytes_for_bits(entries * shape_.slot_bits);
  }
  std::size_t used(std::size_t entries) const noexcept {
    return bytes_for_bits(code_bits(entries)) + slot_bytes(entries);
  }

  // Makes the gap of block `b`, which has n entries, larger by the gap of one behind it, if there
  // is one near.
  bool take_gap(std::size_t b, std::size_t n, std::size_t needed, std::uint64_t& moved) noexcept {
    const std::size_t last = std::min(shape_.blocks(), b + 1 + gap_search);
    for (std::size_t from = b + 1; from < last; ++from) {
      const std::size_t there = entries(from);
      const std::size_t found = size(from) - used(there);
      if (found < needed) continue;
      const std::size_t taken = std::min(found, needed + gap_taken_ahead);
      const std::size_t slots = start(b + 1) - slot_bytes(n);
      const std::size_t end = start(from) + bytes_for_bits(code_bits(there));
      std::memmove(area_ + slots + taken, area_ + slots, end - slots);
      std::memset(area_ + slots, 0, taken);
      for (std::size_t i = b + 1; i <= from; ++i) set_start(i, start(i) + taken);
      moved += end - slots;
      return true;
    }
    return false;
  }

 private:
  segment_shape shape_;
  std::byte* starts_;
  std::byte* area_;
};

// Copies n bytes by words, which for a few is faster than a call; up to 7 bytes behind them become
// zero.
void copy_words(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) store(to + i, load<std::uint64_t>(from + i));
  if (i != n)
    store(to + i, low_bits(load<std::uint64_t>(from + i), static_cast<unsigned>(8 * (n - i))));
}

// Lays the blocks out anew, with a share of the bytes as gaps and `needed` more in block `b`.
bool lay_out(const segment_shape& shape, owned_storage& segment, std::size_t b, std::size_t needed,
             std::uint64_t& moved) noexcept {
  const std::size_t blocks = shape.blocks();
  const editor old(shape, segment);
  std::array<std::uint16_t, most_blocks> counts;  // only the first `blocks` are used
  std::size_t used = needed;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t n = old.entries(i);
    counts[i] = static_cast<std::uint16_t>(n);
    used += old.used(n);
  }
  if (used > most_segment_area) return false;
  // What was planned with is not given back.
  const std::size_t area = old.start(blocks);
  const std::size_t gaps = std::min(std::max(used / gap_share + 2, area - std::min(area, used)),
                                    most_segment_area - used);
  auto fresh = owned_storage::make(shape.stored_bytes(used + gaps));
  if (!fresh) return false;
  editor laid(shape, *fresh);
  std::size_t at = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t n = counts[i];
    laid.set_start(i, at);
    copy_words(laid.area() + at, old.block(i), bytes_for_bits(code_bits(n)));
    at += old.used(n) + gaps * (i + 1) / blocks - gaps * i / blocks + (i == b ? needed : 0);
    const std::size_t slots = old.slot_bytes(n);
    copy_words(laid.area() + at - slots, old.area() + old.start(i + 1) - slots, slots);
  }
  laid.set_start(blocks, at);
  moved += fresh->bytes().size();
  segment = std::move(*fresh);
  return true;
}

// Calls use(cell in the block, entry) for each entry of a block, in order.
template <class Use>
void for_block(const segment_shape& shape, const std::byte* area, std::size_t begin,
               std::size_t end, Use&& use) {
  const std::byte* const code = area + begin;
  const std::size_t bits = find_zero(code, end - begin, block_cells);
  std::size_t i = 0;
  std::size_t at = 8 * end;
  for (std::size_t from = 0; from < bits; from += piece) {
    std::uint64_t ones =
        get_bits(code, from, static_cast<unsigned>(std::min<std::size_t>(piece, bits - from)));
    for (; ones != 0; ones &= ones - 1) {
      const std::size_t place = from + static_cast<unsigned>(std::countr_zero(ones));
      if (at < shape.slot_bits) return;  // no segment that is well formed
      at -= shape.slot_bits;
      use(static_cast<unsigned>(place - 1 - i), get_bits(area, at, shape.slot_bits));
      ++i;
    }
  }
}

// Blocks one after the other: a half of a segment to be.
class builder {
 public:
  explicit builder(unsigned slot_bits) : slot_bits_(slot_bits) {}

  /// Cells of a block's entries must come in order.
  void add(unsigned cell, std::uint64_t entry) {
    if (waiting_ == block_.size()) block_.resize(2 * waiting_ + 64);
    block_[waiting_++] = {cell, entry};
  }

  void end_block() {
    const std::size_t n = waiting_;
    const std::size_t used = bytes_for_bits(code_bits(n)) + bytes_for_bits(n * slot_bits_);
    owed_ += used;
    const std::size_t begin = size_;
    size_ += used + owed_ / gap_share;
    owed_ %= gap_share;
    if (area_.size() < size_ + spare) area_.resize(2 * size_ + 4096);
    write_code(area_.data() + begin);
    write_slots(area_.data(), 8 * size_ - n * slot_bits_);
    ends_.push_back(size_);
    entries_ += n;
    waiting_ = 0;
  }

  std::size_t size() const noexcept { return size_; }
  std::size_t entries() const noexcept { return entries_; }

  /// Writes the blocks to a segment, from block `first` on.
  void copy_to(editor& segment, std::size_t first) const noexcept {
    const std::size_t begin = segment.start(first);
    for (std::size_t i = 0; i < ends_.size(); ++i)
      segment.set_start(first + i + 1, begin + ends_[i]);
    std::memcpy(segment.area() + begin, area_.data(), size_);
  }

 private:
  struct placed {
    std::uint64_t cell;
    std::uint64_t entry;
  };
  static constexpr std::size_t spare = 16;  // what a write may touch behind the last block

  void write_code(std::byte* block) const noexcept {
    std::size_t i = 0;
    if (code_bits(waiting_) <= 128) [[likely]] {
      std::uint64_t words[2] = {0, 0};
      for (; i < waiting_; ++i) {
        const std::size_t place = 1 + block_[i].cell + i;
        words[place / 64] |= std::uint64_t{1} << place % 64;
      }
      std::memcpy(block, words, sizeof words);
      return;
    }
    for (; i < waiting_; ++i) {
      const std::size_t place = 1 + block_[i].cell + i;
      block[place / 8] |= std::byte{1} << place % 8;
    }
  }

  // The last entry first: upwards from bit `at`, a word at a time. The bits below `at` in its byte
  // are zero, as all behind it are.
  void write_slots(std::byte* area, std::size_t at) const noexcept {
    std::byte* to = area + at / 8;
    auto filled = static_cast<unsigned>(at % 8);
    std::uint64_t word = 0;
    for (std::size_t i = waiting_; i-- > 0;) {
      const std::uint64_t entry = block_[i].entry;
      word |= entry << filled;
      filled += slot_bits_;
      if (filled < 64) continue;
      store(to, word);
      to += 8;
      filled -= 64;
      word = filled == 0 ? 0 : entry >> (slot_bits_ - filled);
    }
    store(to, word);
  }

  unsigned slot_bits_;
  std::vector<placed> block_;  // the first waiting_ are of this block
  std::size_t waiting_ = 0;
  std::vector<std::byte> area_;  // zeros behind size_
  std::size_t size_ = 0;
  std::size_t owed_ = 0;
  std::vector<std::size_t> ends_;
  std::size_t entries_ = 0;
};

// The segment of two halves, if it is one.
std::optional<owned_storage> join(const segment_shape& shape, const builder& low,
                                  const builder& high) {
  const std::size_t area = low.size() + high.size();
  if (area > most_segment_area) return std::nullopt;
  auto made = owned_storage::make(shape.stored_bytes(area));
  if (!made) return std::nullopt;
  editor laid(shape, *made);
  low.copy_to(laid, 0);
  high.copy_to(laid, shape.blocks() / 2);
  return std::move(*made);
}

// Gives an entry without the first bit of its remainder to the half that this bit names; one
// without a remainder to both.
void add_to_half(std::array<builder, 2>& halves, unsigned cell, std::uint64_t entry) {
  if (entry == 1) [[unlikely]] {
    for (builder& half : halves) half.add(cell, 1);
  } else {
    halves[entry & 1].add(cell, entry >> 1);
  }
}

// The entries of a cell, and the share of its hashes that match one of them.
class cell_entries {
 public:
  void add(std::uint64_t entry) noexcept {
    if (entry == 0) return;
    if (size_ < compared) {
      entries_[size_++] = entry;
    } else {
      beyond_ += share_of(entry);
    }
  }
  double take_rate() noexcept {
    double rate = beyond_;
    for (std::size_t i = 0; i < size_; ++i) {
      if (!is_covered(i)) rate += share_of(entries_[i]);
    }
    size_ = 0;
    beyond_ = 0;
    return std::min(1.0, rate);
  }

 private:
  // Beyond this many, which only chosen keys make, they are taken as disjoint.
  static constexpr std::size_t compared = 64;

  static double share_of(std::uint64_t entry) noexcept {
    return 1 / static_cast<double>(std::bit_floor(entry));
  }
  // Whether another that is a prefix of this one, or its equal before it, matches all that it does.
  bool is_covered(std::size_t i) const noexcept {
    const std::uint64_t marker = std::bit_floor(entries_[i]);
    for (std::size_t k = 0; k < size_; ++k) {
      const std::uint64_t other = std::bit_floor(entries_[k]);
      if (k != i && ((entries_[i] ^ entries_[k]) & (other - 1)) == 0 &&
          (other < marker || (other == marker && k < i))) {
        return true;
      }
    }
    return false;
  }

  std::array<std::uint64_t, compared> entries_;  // only the first size_ are read
  std::size_t size_ = 0;
  double beyond_ = 0;
};

std::optional<owned_storage> empty(const segment_shape& shape, std::size_t area) noexcept {
  auto made = owned_storage::make(shape.stored_bytes(area));
  if (!made) return std::nullopt;
  editor laid(shape, *made);
  for (std::size_t b = 0; b <= shape.blocks(); ++b) laid.set_start(b, area * b / shape.blocks());
  return std::move(*made);
}

// Adds a one to the code of block `b`, which has n entries, for the cell; returns the number of its
// first entry.
std::size_t add_to_code(const editor& in, std::size_t b, std::size_t n, unsigned cell) noexcept {
  std::byte* const block = in.block(b);
  const block_code code(block);
  if (code_bits(n) < 128) [[likely]] {
    const unsigned zero = code.zero(cell);
    code.store_with_one(block, zero + 1, static_cast<unsigned>(code_bits(n)));
    return zero - cell;
  }
  const std::size_t zero = find_zero(block, in.size(b), cell);
  move_bits(block, zero + 1, code_bits(n) - zero - 1, zero + 2);
  put_bits(block, zero + 1, 1, 1);
  return zero - cell;
}

insert_result insert(const segment_shape& shape, owned_storage& segment, std::size_t cell,
                     std::uint64_t rest, std::size_t most, std::uint64_t& moved) noexcept {
  const std::size_t matching = segment_view(shape, segment.bytes()).copies(cell, rest);
  if (matching >= most) return {matching, false};
  const std::size_t b = cell / block_cells;
  editor in(shape, segment);
  const std::size_t n = in.entries(b);
  const std::size_t needed = in.used(n + 1);
  if (needed > in.size(b)) {
    const std::size_t more = needed - in.size(b);
    if (!in.take_gap(b, n, more, moved)) {
      if (!lay_out(shape, segment, b, more, moved)) return {matching, false};
      in = editor(shape, segment);
    }
  }
  const std::size_t w = shape.slot_bits;
  const std::size_t first = add_to_code(in, b, n, static_cast<unsigned>(cell % block_cells));
  const std::size_t end = 8 * in.start(b + 1);
  move_bits(in.area(), end - n * w, (n - first) * w, end - (n + 1) * w);
  const std::uint64_t marker = std::uint64_t{1} << (w - 1);
  put_bits(in.area(), end - (first + 1) * w, marker | (rest & (marker - 1)), shape.slot_bits);
  moved += in.size(b);
  return {matching, true};
}

bool erase(const segment_shape& shape, owned_storage& segment, std::size_t cell,
           std::uint64_t rest) noexcept {
  std::uint64_t longest = 0;
  std::size_t found = 0;
  segment_view(shape, segment.bytes())
      .for_cell(cell, [&](std::uint64_t entry, std::size_t i) noexcept {
        // Of two that match, the longer has the higher marker.
        if (is_match(entry, rest) && std::bit_width(entry) > std::bit_width(longest)) {
          longest = entry;
          found = i;
        }
        return true;
      });
  if (longest == 0) return false;
  const std::size_t b = cell / block_cells;
  const editor in(shape, segment);
  const std::size_t n = in.entries(b);
  const std::size_t w = shape.slot_bits;
  // A one of the cell, whichever.
  const std::size_t place = 1 + cell % block_cells + found;
  move_bits(in.block(b), place + 1, code_bits(n) - place - 1, place);
  put_bits(in.block(b), code_bits(n) - 1, 0, 1);
  const std::size_t end = 8 * in.start(b + 1);
  move_bits(in.area(), end - n * w, (n - found - 1) * w, end - (n - 1) * w);
  put_bits(in.area(), end - n * w, 0, shape.slot_bits);
  return true;
}

std::optional<segment_pair> split(const segment_shape& shape, std::span<const std::byte> segment,
                                  unsigned slot_bits) noexcept {
  try {
    using halves = std::array<builder, 2>;
    const auto empty_halves = [&] { return halves{builder(slot_bits), builder(slot_bits)}; };
    std::array<halves, 2> made{empty_halves(), empty_halves()};
    const segment_view parent(shape, segment);
    std::size_t entries = 0;
    for (std::size_t block = 0; block < shape.blocks(); ++block) {
      // Two blocks make one of each half of each child.
      const unsigned first_cell = block % 2 == 0 ? 0 : block_cells / 2;
      for_block(shape, parent.area(), parent.start(block), parent.start(block + 1),
                [&](unsigned cell, std::uint64_t entry) {
                  ++entries;
                  add_to_half(made[cell & 1], first_cell + cell / 2, entry);
                });
      if (block % 2 == 0) continue;
      for (halves& child : made) {
        for (builder& half : child) half.end_block();
      }
    }
    const segment_shape child{shape.cell_bits, slot_bits};
    auto first = join(child, made[0][0], made[0][1]);
    auto second = join(child, made[1][0], made[1][1]);
    if (!first || !second) return std::nullopt;
    std::size_t now = 0;
    for (const halves& each : made) now += each[0].entries() + each[1].entries();
    return segment_pair{std::move(*first), std::move(*second), now - entries};
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

std::optional<wider_segment> widen(const segment_shape& shape, std::span<const std::byte> segment,
                                   unsigned slot_bits) noexcept {
  try {
    std::array<builder, 2> halves{builder(slot_bits), builder(slot_bits)};
    const segment_view parent(shape, segment);
    for (std::size_t block = 0; block < shape.blocks(); ++block) {
      for_block(shape, parent.area(), parent.start(block), parent.start(block + 1),
                [&](unsigned cell, std::uint64_t entry) { add_to_half(halves, cell, entry); });
      for (builder& half : halves) half.end_block();
    }
    auto bytes = join({shape.cell_bits + 1, slot_bits}, halves[0], halves[1]);
    if (!bytes) return std::nullopt;
    return wider_segment{std::move(*bytes), halves[0].entries() + halves[1].entries()};
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

std::optional<std::size_t> check(const segment_shape& shape,
                                 std::span<const std::byte> segment) noexcept {
  const auto is_zero = [&](std::size_t from, std::size_t end) {
    return std::all_of(segment.begin() + static_cast<std::ptrdiff_t>(from),
                       segment.begin() + static_cast<std::ptrdiff_t>(end),
                       [](std::byte b) { return b == std::byte{0}; });
  };
  if (segment.size() < shape.least_bytes()) return std::nullopt;
  const segment_view view(shape, segment);
  const std::size_t limit = segment.size() - shape.table_bytes() - segment_padding;
  std::size_t entries = 0;
  if (view.start(0) != 0) return std::nullopt;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t begin = view.start(b);
    const std::size_t end = view.start(b + 1);
    if (begin > end || end > limit) return std::nullopt;
    const std::byte* const block = view.area() + begin;
    const std::size_t last = find_zero(block, end - begin, block_cells);
    if (last == 8 * (end - begin) || (load<std::uint8_t>(block) & 1) != 0) return std::nullopt;
    const std::size_t n = last - block_cells;
    const std::size_t code = bytes_for_bits(code_bits(n));
    const std::size_t slots = n * shape.slot_bits;
    if (code + bytes_for_bits(slots) > end - begin) return std::nullopt;
    for (std::size_t at = code_bits(n); at < 8 * code; ++at) {
      if (get_bits(block, at, 1) != 0) return std::nullopt;
    }
    const std::size_t gap_end = end - bytes_for_bits(slots);
    if (!is_zero(shape.table_bytes() + begin + code, shape.table_bytes() + gap_end)) {
      return std::nullopt;
    }
    for (std::size_t at = 8 * gap_end; at < 8 * end - slots; ++at) {
      if (get_bits(view.area(), at, 1) != 0) return std::nullopt;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = 8 * end - (i + 1) * shape.slot_bits;
      if (get_bits(view.area(), at, shape.slot_bits) == 0) return std::nullopt;
    }
    entries += n;
  }
  const std::size_t area = view.start(shape.blocks());
  if (segment.size() != shape.stored_bytes(area)) return std::nullopt;
  if (!is_zero(shape.table_bytes() + area, segment.size())) return std::nullopt;
  return entries;
}

double rate(const segment_shape& shape, std::span<const std::byte> segment) noexcept {
  const segment_view view(shape, segment);
  const std::size_t limit = segment.size() - shape.table_bytes() - segment_padding;
  cell_entries here;
  std::size_t last_end = 0;
  double matching = 0;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t begin = view.start(b);
    const std::size_t end = view.start(b + 1);
    // Blocks that overlap, as only damage makes them, would be read many times.
    if (begin < last_end || begin > end || end > limit) continue;
    last_end = end;
    unsigned current = 0;
    for_block(shape, view.area(), begin, end, [&](unsigned cell, std::uint64_t entry) noexcept {
      if (cell != current) matching += here.take_rate();
      current = cell;
      here.add(entry);
    });
    matching += here.take_rate();
  }
  return std::min(1.0, matching / static_cast<double>(shape.blocks() * block_cells));
}

void fetch(unsigned cell_bits, std::span<const segment_query> queries) noexcept {
  for (const segment_query& q : queries) {
    segment_view({cell_bits, q.slot_bits}, q.segment).prefetch_block(q.cell);
  }
}

bool holds(unsigned cell_bits, const segment_query& q) noexcept {
  return segment_view({cell_bits, q.slot_bits}, q.segment).holds(q.cell, q.rest);
}

void ask(unsigned cell_bits, std::span<const segment_query> queries, bool* answers) noexcept {
  fetch(cell_bits, queries);
  for (std::size_t i = 0; i < queries.size(); ++i) answers[i] = holds(cell_bits, queries[i]);
}

constexpr segment_kernels loops = {empty, insert, erase, split, widen,
                                   check, rate,   fetch, ask,   holds};
