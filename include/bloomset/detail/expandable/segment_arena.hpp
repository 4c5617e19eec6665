#pragma once

/// Memory for the segments of an expandable filter.
///
/// A segment has 10 to 66 KB and moves to a larger place every few hundred inserts. In a filter of
/// more than 2 MiB segments share chunks, so that they can be on huge pages. A new place is in the
/// chunk whose largest hole is the smallest that fits, and there in the smallest hole that fits.

#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomset::detail {

/// A place in an arena. It does not free itself: see segment_arena::give_back.
class arena_bytes {
 public:
  arena_bytes() noexcept = default;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::span<std::byte> writable_bytes() noexcept { return {data_, size_}; }

 private:
  friend class segment_arena;
  arena_bytes(std::byte* data, std::uint32_t size, std::uint32_t chunk,
              std::uint32_t offset) noexcept
      : data_(data), size_(size), chunk_(chunk), offset_(offset) {}

  std::byte* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t chunk_ = 0;
  std::uint32_t offset_ = 0;  // in the chunk
};

class segment_arena {
 public:
  /// A place of uninitialised bytes, or nothing if memory runs out. A new chunk gets pages of the
  /// kind `pages`. O(chunks + segments per chunk); 10^8 keys have about a hundred chunks.
  /// Precondition: 0 < size < 2^20.
  std::optional<arena_bytes> make(std::size_t size, paging pages) noexcept;
  void give_back(const arena_bytes& place) noexcept;

  /// Lets the host move the chunks. Every place must be passed to refresh() before it is used
  /// again.
  void relocate(const memory_mover& mover) noexcept;
  void refresh(arena_bytes& place) noexcept {
    if (place.data_ == nullptr) return;
    place.data_ = chunks_[place.chunk_].memory.writable_bytes().data() + place.offset_;
  }

 private:
  struct extent {
    std::uint32_t begin;
    std::uint32_t size;
  };
  struct chunk {
    owned_storage memory;
    source_vector<extent> places;  // in ascending order
    std::uint32_t largest_hole = 0;

    extent hole(std::size_t i) const noexcept;  // before place i, or behind the last
    void find_largest_hole() noexcept;
  };

  std::optional<std::size_t> chunk_for(std::size_t size, paging pages);

  source_vector<chunk> chunks_;
  std::size_t total_ = 0;
};

}  // namespace bloomset::detail
