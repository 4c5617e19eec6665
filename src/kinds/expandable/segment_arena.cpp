#include <bloomery/detail/expandable/segment_arena.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>

#include <bloomery/detail/core/bits.hpp>

namespace bloomery::detail {
namespace {

// A huge page; smaller ones while the filter is small, so that what is not used yet is at most
// an eighth of it. Up to as much memory, some hundred segments, each has a chunk of just its size:
// among so few, holes were a fourth to a half.
constexpr std::size_t max_chunk = std::size_t{1} << 21;
constexpr std::size_t chunk_share = 8;
// Of the memory, that may lie in holes before segments are moved. With 1/16 holes were 8% of a
// filter of 10^8 keys instead of 10%, and with 1/32 4%, for 2 and 5 times the moving.
constexpr std::size_t hole_share = 12;
// Chunks that one search for a window looks at; each has some fifty segments.
constexpr std::size_t chunks_searched = 8;
constexpr std::size_t cache_line = 64;

}  // namespace

std::size_t segment_arena::end_before(const chunk& in, std::size_t i) noexcept {
  return i == 0 ? 0 : in.places[i - 1].at + in.places[i - 1].size;
}
std::size_t segment_arena::begin_of(const chunk& in, std::size_t i) noexcept {
  return i == in.places.size() ? in.size : in.places[i].at;
}

void segment_arena::measure(std::size_t c) noexcept {
  std::size_t largest = 0;
  for (std::size_t i = 0; i <= chunks_[c].places.size(); ++i) {
    largest = std::max(largest, begin_of(chunks_[c], i) - end_before(chunks_[c], i));
  }
  largest_[c] = static_cast<std::uint32_t>(largest);
}

void segment_arena::look_for_room() noexcept {
  const bool is_tight = free_ > total_ / hole_share + wanted_ &&
                        std::none_of(largest_.begin(), largest_.end(),
                                     [&](std::uint32_t hole) { return hole >= wanted_; });
  unsearched_ = is_tight ? chunks_.size() : 0;
}

// The chunk whose largest hole is the smallest that suffices, or a new one.
std::optional<std::size_t> segment_arena::chunk_for(std::size_t size, paging pages) {
  constexpr auto none = static_cast<std::size_t>(-1);
  std::size_t best = none;
  std::size_t unused = none;
  for (std::size_t c = 0; c < largest_.size(); ++c) {
    if (largest_[c] >= size && (best == none || largest_[c] < largest_[best])) best = c;
    if (chunks_[c].size == 0) unused = c;
  }
  if (best != none) return best;
  if (unused == none) {
    unused = chunks_.size();
    largest_.reserve(unused + 1);
    chunks_.emplace_back();
    largest_.push_back(0);
  }
  const std::size_t shared = std::min(max_chunk, std::bit_floor(total_ / chunk_share));
  const std::size_t wanted = total_ < max_chunk ? size : std::max(size, shared);
  auto memory = owned_storage::make(wanted, pages);
  if (!memory) return std::nullopt;
  chunks_[unused].memory = std::move(*memory);
  chunks_[unused].size = wanted;
  chunks_[unused].free = wanted;
  largest_[unused] = static_cast<std::uint32_t>(wanted);
  total_ += wanted;
  free_ += wanted;
  return unused;
}

std::optional<arena_bytes> segment_arena::make(std::size_t size, std::uint64_t owner,
                                               paging pages) noexcept {
  const std::size_t taken = round_up(size, cache_line);
  try {
    const auto c = chunk_for(taken, pages);
    if (!c) return std::nullopt;
    chunk& in = chunks_[*c];
    std::size_t best = in.size + 1;
    std::size_t index = 0;
    for (std::size_t i = 0; i <= in.places.size(); ++i) {
      const std::size_t hole = begin_of(in, i) - end_before(in, i);
      if (hole >= taken && hole < best) {
        best = hole;
        index = i;
      }
    }
    const std::size_t at = end_before(in, index);
    in.places.insert(in.places.begin() + static_cast<std::ptrdiff_t>(index),
                     {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(taken), owner});
    in.free -= taken;
    free_ -= taken;
    // A split takes two places at once, each of half the parent's size and a little more.
    wanted_ = std::max(wanted_, taken + taken / 4);
    measure(*c);
    look_for_room();
    return arena_bytes(in.memory.writable_bytes().data() + at, static_cast<std::uint32_t>(size),
                       static_cast<std::uint32_t>(*c));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void segment_arena::give_back(const arena_bytes& place) noexcept {
  if (place.data_ == nullptr) return;
  chunk& in = chunks_[place.chunk_];
  const auto at = static_cast<std::size_t>(place.data_ - in.memory.bytes().data());
  const auto found = std::find_if(in.places.begin(), in.places.end(),
                                  [&](const auto& each) { return each.at == at; });
  in.free += found->size;
  free_ += found->size;
  in.places.erase(found);
  if (in.places.empty()) {
    total_ -= in.size;
    free_ -= in.size;
    in = {};
  }
  measure(place.chunk_);
  look_for_room();
}

// The cheapest places to move, in the next few chunks that have the room at all.
segment_arena::window segment_arena::find_window() noexcept {
  constexpr auto none = static_cast<std::size_t>(-1);
  window best{.cost = none};
  std::size_t searched = 0;
  for (; unsearched_ != 0 && searched < chunks_searched; --unsearched_) {
    next_ = (next_ + 1) % chunks_.size();
    const chunk& in = chunks_[next_];
    if (in.free < wanted_) continue;
    ++searched;
    for (std::size_t first = 0; first < in.places.size(); ++first) {
      const std::size_t begin = end_before(in, first);
      std::size_t cost = 0;
      for (std::size_t last = first; last < in.places.size(); ++last) {
        cost += in.places[last].size;
        if (cost >= best.cost) break;
        if (begin_of(in, last + 1) - begin - cost >= wanted_) {
          best = {next_, first, last + 1, cost};
          break;
        }
      }
    }
  }
  if (best.cost == none) return {};
  const chunk& in = chunks_[best.chunk];
  std::size_t cost = 0;
  std::size_t last = best.first;
  while (last < best.last && cost + in.places[last].size <= max_moved) {
    cost += in.places[last++].size;
  }
  // What is left of it comes next: then the hole before it is larger.
  next_ = (best.chunk + chunks_.size() - 1) % chunks_.size();
  unsearched_ = last == best.last ? 0 : chunks_.size();
  best.last = last;
  best.cost = cost;
  return best;
}

std::byte* segment_arena::move_down(std::size_t c, std::size_t i) noexcept {
  chunk& in = chunks_[c];
  std::byte* const memory = in.memory.writable_bytes().data();
  held_place& each = in.places[i];
  const std::size_t to = end_before(in, i);
  std::memmove(memory + to, memory + each.at, each.size);
  each.at = static_cast<std::uint32_t>(to);
  measure(c);
  return memory + to;
}

}  // namespace bloomery::detail
