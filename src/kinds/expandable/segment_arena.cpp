#include <bloomset/detail/expandable/segment_arena.hpp>

#include <algorithm>
#include <bit>
#include <exception>

#include <bloomset/detail/core/bits.hpp>

namespace bloomset::detail {
namespace {

// A huge page. An arena smaller than this has one chunk per segment: shared chunks would leave a
// fourth to a half of it in holes.
constexpr std::size_t max_chunk_bytes = std::size_t{1} << 21;
// A new chunk has at most this fraction of the arena, so that little of it is unused at first.
constexpr std::size_t chunk_fraction = 8;
constexpr std::size_t cache_line = 64;
constexpr auto none = static_cast<std::size_t>(-1);

}  // namespace

segment_arena::extent segment_arena::chunk::hole(std::size_t i) const noexcept {
  const std::uint32_t begin = i == 0 ? 0 : places[i - 1].begin + places[i - 1].size;
  const auto size = static_cast<std::uint32_t>(memory.bytes().size());
  return {begin, (i == places.size() ? size : places[i].begin) - begin};
}

void segment_arena::chunk::find_largest_hole() noexcept {
  largest_hole = 0;
  for (std::size_t i = 0; i <= places.size(); ++i) {
    largest_hole = std::max(largest_hole, hole(i).size);
  }
}

std::optional<std::size_t> segment_arena::chunk_for(std::size_t size, paging pages) {
  std::size_t best = none;
  std::size_t unused = none;
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    const std::size_t hole = chunks_[c].largest_hole;
    if (hole >= size && (best == none || hole < chunks_[best].largest_hole)) best = c;
    if (chunks_[c].memory.bytes().empty()) unused = c;
  }
  if (best != none) return best;
  if (unused == none) {
    unused = chunks_.size();
    chunks_.emplace_back();
  }
  const std::size_t shared = std::min(max_chunk_bytes, std::bit_floor(total_ / chunk_fraction));
  const std::size_t wanted = total_ < max_chunk_bytes ? size : std::max(size, shared);
  auto memory = owned_storage::make(wanted, pages);
  if (!memory) return std::nullopt;
  chunk& made = chunks_[unused];
  made.memory = std::move(*memory);
  made.largest_hole = static_cast<std::uint32_t>(wanted);
  total_ += wanted;
  return unused;
}

std::optional<arena_bytes> segment_arena::make(std::size_t size, paging pages) noexcept try {
  const std::size_t rounded = round_up(size, cache_line);
  const auto c = chunk_for(rounded, pages);
  if (!c) return std::nullopt;
  chunk& in = chunks_[*c];
  std::size_t best = none;
  std::size_t index = 0;
  for (std::size_t i = 0; i <= in.places.size(); ++i) {
    const std::size_t hole = in.hole(i).size;
    if (hole >= rounded && hole < best) {
      best = hole;
      index = i;
    }
  }
  const std::uint32_t begin = in.hole(index).begin;
  in.places.insert(in.places.begin() + static_cast<std::ptrdiff_t>(index),
                   {begin, static_cast<std::uint32_t>(rounded)});
  in.find_largest_hole();
  return arena_bytes(in.memory.writable_bytes().data() + begin, static_cast<std::uint32_t>(size),
                     static_cast<std::uint32_t>(*c), begin);
} catch (const std::exception&) {
  return std::nullopt;
}

void segment_arena::give_back(const arena_bytes& place) noexcept {
  if (place.data_ == nullptr) return;
  chunk& in = chunks_[place.chunk_];
  in.places.erase(std::ranges::lower_bound(in.places, place.offset_, {}, &extent::begin));
  if (in.places.empty()) {
    total_ -= in.memory.bytes().size();
    in = {};
  } else {
    in.find_largest_hole();
  }
}

void segment_arena::relocate(const memory_mover& mover) noexcept {
  for (chunk& each : chunks_) each.memory.relocate(mover);
}

}  // namespace bloomset::detail
