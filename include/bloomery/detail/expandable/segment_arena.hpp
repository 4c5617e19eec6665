#pragma once

// Memory for an expandable filter's segments. They are of many sizes, each is laid out anew in a
// larger place every few hundred inserts, and a general allocator leaves a fifth of the memory in
// holes between them. Here they lie in chunks once they are more than two megabytes, and a segment
// is moved now and then so that two holes become one: holes are a tenth of a large filter, for some
// 30 bytes written a key.

#include <bloomery/detail/core/source_memory.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomery::detail {

/// A place in an arena, which must know when it is no longer used.
class arena_bytes {
 public:
  arena_bytes() noexcept = default;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::span<std::byte> writable_bytes() noexcept { return {data_, size_}; }

 private:
  friend class segment_arena;
  arena_bytes(std::byte* data, std::uint32_t size, std::uint32_t chunk) noexcept
      : data_(data), size_(size), chunk_(chunk) {}

  std::byte* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t chunk_ = 0;
};

class segment_arena {
 public:
  /// A place with whatever bytes it had, or nothing if there is no memory. `owner` is what
  /// make_room() will call it. O(chunks), a hundred for 10^8 keys. Precondition: 0 < size < 2^20.
  /// `pages`: those of the chunk, if it takes a new one.
  std::optional<arena_bytes> make(std::size_t size, std::uint64_t owner, paging pages) noexcept;
  void give_back(const arena_bytes& place) noexcept;

  /// Whether the next large segment would need a new chunk although holes are many.
  bool is_tight() const noexcept { return unsearched_ != 0; }
  /// Moves a few segments, at most `max_moved` bytes, so that a large hole comes to be now or when
  /// it is called again, if that can be had; returns how many bytes. place_of(owner) is where to
  /// write the new places.
  template <class PlaceOf>
  std::size_t make_room(PlaceOf&& place_of) noexcept {
    const window found = find_window();
    for (std::size_t i = found.first; i < found.last; ++i) {
      place_of(chunks_[found.chunk].places[i].owner).data_ = move_down(found.chunk, i);
    }
    return found.cost;
  }

  /// Lets the host move the chunks; place_of(owner) as for make_room().
  template <class PlaceOf>
  void relocate(const memory_mover& mover, PlaceOf&& place_of) noexcept {
    for (chunk& each : chunks_) {
      each.memory.relocate(mover);
      std::byte* const memory = each.memory.writable_bytes().data();
      for (const held_place& place : each.places) place_of(place.owner).data_ = memory + place.at;
    }
  }

  /// Bytes of all chunks.
  std::size_t footprint() const noexcept { return total_; }

  static constexpr std::size_t max_moved = std::size_t{120} * 1024;

 private:
  struct held_place {
    std::uint32_t at;
    std::uint32_t size;
    std::uint64_t owner;
  };
  // Its places in ascending order.
  struct chunk {
    owned_storage memory;
    source_vector<held_place> places;
    std::size_t size = 0;
    std::size_t free = 0;
  };
  // Places of a chunk that can be moved down to the ones before them.
  struct window {
    std::size_t chunk = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t cost = 0;
  };

  window find_window() noexcept;
  std::byte* move_down(std::size_t chunk, std::size_t i) noexcept;
  std::optional<std::size_t> chunk_for(std::size_t size, paging pages);
  static std::size_t end_before(const chunk& in, std::size_t i) noexcept;
  static std::size_t begin_of(const chunk& in, std::size_t i) noexcept;
  void measure(std::size_t chunk) noexcept;
  void look_for_room() noexcept;

  source_vector<chunk> chunks_;
  source_vector<std::uint32_t> largest_;  // hole of each chunk
  std::size_t total_ = 0;
  std::size_t free_ = 0;
  std::size_t wanted_ = 0;      // what the largest insert yet could take at once
  std::size_t next_ = 0;        // where the search for a window goes on
  std::size_t unsearched_ = 0;  // chunks in which a window may yet be found
};

}  // namespace bloomery::detail
