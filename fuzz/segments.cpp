// Segments of an expandable filter (segment_layout.hpp), by the kernels of this CPU. A segment
// comes from bytes that are checked as a file's are, or from runs of entries, up to what its block
// offsets can address. A segment that passes the check is changed step by step: after every step it
// is well formed, and has the entries that it should have.
//
// Byte 0: the kernel set, and whether bytes (odd) or runs follow. Byte 1: the cells. Byte 2: the
// slots. Bytes: two of length, and the segment. Runs: their number, and four bytes each: block,
// cell and entries. Then three bytes per step.

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/expandable/segment_kernels.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "cpu/dispatch.hpp"

namespace {

namespace d = bloomset::detail;
using bytes = std::vector<std::byte>;

void require(bool is_true, const char* what) {
  if (is_true) return;
  (void)std::fprintf(stderr, "segments: %s\n", what);
  std::abort();
}

class input {
 public:
  explicit input(std::span<const std::uint8_t> all) : left_(all) {}
  bool empty() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  std::size_t two_bytes() {
    const std::size_t low = byte();
    return low | std::size_t{byte()} << 8;
  }
  bytes some(std::size_t size) {
    const auto taken = std::as_bytes(left_.first(std::min(size, left_.size())));
    left_ = left_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }

 private:
  std::span<const std::uint8_t> left_;
};

struct segment {
  d::segment_shape shape;
  bytes at;
  std::size_t entries = 0;
};

class player {
 public:
  player(const d::segment_kernels& kernel, segment first)
      : kernel_(kernel), now_(std::move(first)) {}

  void step(unsigned what, unsigned cell, unsigned remainder) {
    const std::size_t cells = now_.shape.blocks() * d::block_cells;
    switch (what % 8) {
      case 0:
      case 1:
      case 2:
      case 3:
        return insert(cell * 0x9e3779b1 % cells, remainder * 0x9e3779b97f4a7c15, what % 2 == 0);
      case 4:
      case 5:
        return erase(cell * 0x9e3779b1 % cells, remainder * 0x9e3779b97f4a7c15);
      case 6:
        return split(cell % 2 == 0, now_.shape.slot_bits - (remainder % 2));
      default:
        return widen(now_.shape.slot_bits - (remainder % 2));
    }
  }

  void expect_rate() const {
    const double rate = kernel_.census(now_.shape, now_.at).rate(now_.shape.cell_bits);
    require(rate >= 0 && rate <= 1, "a rate outside of 0 to 1");
  }

 private:
  void expect_well_formed() const {
    require(kernel_.check(now_.shape, now_.at) == now_.entries, "no segment any more");
  }

  void insert(std::size_t cell, std::uint64_t remainder, bool is_unlimited) {
    const std::size_t max_copies = is_unlimited ? ~std::size_t{0} : 3;
    const std::size_t block = cell / d::block_cells;
    auto done = kernel_.insert(now_.shape, now_.at, cell, remainder, max_copies);
    d::segment_layout plan;
    if (done.needed != 0 && kernel_.plan_layout(now_.shape, now_.at, done.needed, plan)) {
      bytes anew(plan.bytes);
      kernel_.lay_out(now_.shape, plan, block, now_.at, anew);
      now_.at = std::move(anew);
      expect_well_formed();
      done = kernel_.insert(now_.shape, now_.at, cell, remainder, max_copies);
      require(done.placed, "a layout made no room");
    }
    now_.entries += done.placed;
    expect_well_formed();
    require(!done.placed || d::segment_view(now_.shape, now_.at).contains(cell, remainder),
            "a false negative");
  }

  void erase(std::size_t cell, std::uint64_t remainder) {
    const bool is_there = d::segment_view(now_.shape, now_.at).contains(cell, remainder);
    const bool erased = kernel_.erase(now_.shape, now_.at, cell, remainder);
    require(erased == is_there, "an erase against the answer");
    now_.entries -= erased;
    expect_well_formed();
  }

  static std::optional<segment> written(const d::segment_shape& shape,
                                        const d::built_segment& built) {
    const auto size = built.stored_bytes(shape);
    if (!size) return std::nullopt;
    segment made{shape, bytes(*size), built.entries()};
    built.write(shape, made.at);
    return made;
  }

  void split(bool is_first, unsigned slot_bits) {
    if (now_.shape.blocks() < 2 || slot_bits < 2) return;
    const auto both = kernel_.split(now_.shape, now_.at, slot_bits);
    require(both.has_value(), "no memory to split");
    require(both->first.entries() + both->second.entries() == now_.entries + both->gained,
            "entries were lost in a split");
    const d::segment_shape shape{now_.shape.cell_bits, slot_bits};
    auto child = written(shape, is_first ? both->first : both->second);
    if (!child) return;
    now_ = std::move(*child);
    expect_well_formed();
  }

  void widen(unsigned slot_bits) {
    if (now_.shape.cell_bits >= 14 || slot_bits < 2) return;
    const auto wide = kernel_.widen(now_.shape, now_.at, slot_bits);
    require(wide.has_value(), "no memory to widen");
    require(wide->first.entries() == now_.entries + wide->gained,
            "entries were lost in a wider segment");
    auto made = written({now_.shape.cell_bits + 1, slot_bits}, wide->first);
    if (!made) return;
    now_ = std::move(*made);
    expect_well_formed();
  }

  const d::segment_kernels& kernel_;
  segment now_;
};

/// A segment from bytes. Nothing if the check of every kernel set refuses them.
std::optional<segment> segment_of_bytes(input& from, const d::segment_shape& shape) {
  const bytes at = from.some(from.two_bytes());
  const auto scalar = d::segment_kernels::scalar.check(shape, at);
  for (const d::instruction_set set : d::usable_instruction_sets()) {
    require(d::kernels_for<d::segment_kernels>(set).check(shape, at) == scalar,
            "kernel sets disagree about bytes");
  }
  if (!scalar) return std::nullopt;
  return segment{shape, at, *scalar};
}

// More have no room in a segment of any slots.
constexpr std::size_t max_entries = std::size_t{1} << 18;

/// A segment from runs of entries. Nothing if it has no room for them.
std::optional<segment> segment_of_runs(input& from, const d::segment_shape& shape,
                                       const d::segment_kernels& kernel) {
  struct run {
    std::uint32_t cell;
    std::size_t entries;
  };
  std::vector<run> runs(from.byte() % 16);
  for (run& each : runs) {
    const std::size_t block = from.byte() % shape.blocks();
    each.cell = static_cast<std::uint32_t>(block * d::block_cells + from.byte() % d::block_cells);
    each.entries = from.byte();
    each.entries <<= from.byte() % 9;
  }
  std::ranges::sort(runs, {}, &run::cell);
  std::vector<d::cell_entry> all;
  for (const run& each : runs) {
    for (std::size_t k = 0; k < each.entries && all.size() < max_entries; ++k) {
      const std::uint64_t entry = (k + 1) * 0x9e3779b97f4a7c15 >> (64 - shape.slot_bits);
      all.push_back({each.cell, entry == 0 ? 1 : entry});
    }
  }
  const auto built = kernel.build(shape, all, 5 * shape.blocks());
  require(built.has_value(), "no memory to build");
  const auto size = built->stored_bytes(shape);
  if (!size) return std::nullopt;
  segment made{shape, bytes(*size), all.size()};
  built->write(shape, made.at);
  require(kernel.check(shape, made.at) == made.entries, "what was built is refused");
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr unsigned max_steps = 50;
  input from({data, size});
  const unsigned first = from.byte();
  const auto sets = d::usable_instruction_sets();
  const auto& kernel = d::kernels_for<d::segment_kernels>(sets[first / 2 % sets.size()]);
  const d::segment_shape shape{5 + from.byte() % 10U, 2 + from.byte() % (d::max_slot_bits - 1)};
  auto start =
      first % 2 == 1 ? segment_of_bytes(from, shape) : segment_of_runs(from, shape, kernel);
  if (!start) return 0;
  player steps(kernel, std::move(*start));
  for (unsigned i = 0; i < max_steps && !from.empty(); ++i) {
    const unsigned what = from.byte();
    const unsigned cell = from.byte();
    steps.step(what, cell, from.byte());
  }
  steps.expect_rate();
  return 0;
}
