#pragma once

// The operations of a vector quotient filter on one tag, and walks over all tags.
//
//   payload = blocks | stash of four entries | overflow table
//
// A tag has one to three copies in its two blocks, and any number of further copies in the overflow
// table. A tag without room in its two blocks has all its copies in one entry of the stash, and
// none elsewhere. So blocks and stash answer queries, and only counts need the overflow table.

#include <array>
#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/vector_quotient/layout.hpp>
#include <bloomset/detail/vector_quotient/overflow_table.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomset::detail {

/// The most copies of a tag in the blocks. At a rate of 1% one key in 200 has the tag of another,
/// and one in 30,000 that of two others or more. Only these keys cost 16 bytes and more.
inline constexpr unsigned vq_max_copies = 3;

class vq_seqlocks;

/// A filter, read-only.
struct vq_reader {
  const vq_layout* layout;
  const std::byte* blocks;
  vq_overflow_view overflow;
  unsigned stashed;  ///< entries of the stash in use, which come first

  vq_entry stash(unsigned i) const noexcept {
    return load<vq_entry>(blocks + layout->block_bytes() + i * sizeof(vq_entry));
  }
};

/// A filter that can be changed.
struct vq_writer {
  const vq_layout* layout;
  std::byte* blocks;
  vq_overflow_table* overflow;
  unsigned* stashed;
  std::uint64_t* count;             ///< copies of all tags
  vq_seqlocks* seqlocks = nullptr;  ///< with concurrent readers; the caller locks the place's two
                                    ///< blocks, and vq_insert any third block

  vq_reader reader() const noexcept { return {layout, blocks, overflow->view(), *stashed}; }
};

/// Copies of a tag in the stash.
std::uint64_t vq_stashed_copies(const vq_reader& filter, const vector_quotient_place& at) noexcept;

/// All copies of a tag.
std::uint64_t vq_copies(const vq_reader& filter, const vector_quotient_place& at) noexcept;

/// Inserts a copy. The first copy of a tag goes to the emptier of its blocks. If both are full, one
/// of their tags moves to its other block, or a copy of one moves to the overflow table; else the
/// new tag goes to the stash. The second and third copy go beside the first if its block has room.
/// All further copies go to the overflow table. Without room nothing changes.
insert_outcome vq_insert(const vq_writer& filter, const vector_quotient_place& at) noexcept;

/// vq_insert for all but the common case, an absent tag with room in a block while the stash is
/// empty. `present` is the number of copies in the blocks.
insert_outcome vq_insert_slow(const vq_writer& filter, const vector_quotient_place& at,
                              unsigned present) noexcept;

/// Erases a copy: from the overflow table, else from a block, else from the stash. A stashed tag of
/// the block then moves into the free slot. Returns false if there is no copy.
bool vq_erase(const vq_writer& filter, const vector_quotient_place& at) noexcept;

/// Inserts every copy of another filter of the same layout. Stops at the first copy without room
/// and returns false; the copies before it stay inserted.
bool vq_insert_all(const vq_writer& filter, const vq_reader& source) noexcept;

/// The result of a walk over all tags.
struct vq_census {
  std::uint64_t tags = 0;     ///< different pair numbers
  std::uint64_t passing = 0;  ///< pairs (first block, tag) of keys that pass as members
};
/// O(slots).
vq_census vq_take_census(const vq_reader& filter) noexcept;

/// The number of stash entries in use, or nothing if one is out of range or behind a free entry.
std::optional<unsigned> vq_check_stash(const vq_layout& layout,
                                       std::span<const std::byte> blocks_and_stash) noexcept;

/// The different tags in a block, with their copies there.
class vq_block_tags {
 public:
  struct entry {
    vector_quotient_place at;  // first is this block
    std::uint64_t copies;
  };

  /// Reads block i, and prefetches the other blocks of its tags.
  void read(const vq_reader& filter, std::uint64_t i) noexcept {
    const vq_layout& layout = *filter.layout;
    size_ = 0;
    layout.for_each_tag(layout.block(filter.blocks, i), [&](unsigned, std::uint64_t tag) noexcept {
      // Copies are in one bucket, whose tags are neighbours.
      for (unsigned k = size_; k != 0; --k) {
        entry& before = entries_[k - 1];
        if (layout.bucket_of(before.at.tag) != layout.bucket_of(tag)) break;
        if (before.at.tag == tag) {
          ++before.copies;
          return true;
        }
      }
      const vector_quotient_place at = layout.place(i, tag);
      prefetch_line(layout.block(filter.blocks, at.second));
      entries_[size_++] = {at, 1};
      return true;
    });
  }
  std::span<const entry> all() const noexcept { return {entries_.data(), size_}; }

 private:
  std::array<entry, vq_max_slots> entries_;
  unsigned size_ = 0;
};

/// Calls `use(place, copies)` once for each different tag in a pair of blocks, mostly in the order
/// of the blocks. O(slots). While the tags of a block are looked up in their other blocks, the next
/// block's are read.
template <class Use>
void vq_for_each(const vq_reader& filter, Use&& use) {
  const vq_layout& layout = *filter.layout;
  std::array<vq_block_tags, 2> tags;
  if (layout.blocks() != 0) tags[0].read(filter, 0);
  for (std::uint64_t i = 0; i < layout.blocks(); ++i) {
    if (i + 1 < layout.blocks()) tags[(i + 1) % 2].read(filter, i + 1);
    for (const auto& [at, here] : tags[i % 2].all()) {
      std::uint64_t copies = here;
      if (at.second != i) {
        const std::uint64_t there = layout.copies(layout.block(filter.blocks, at.second), at.tag);
        if (there != 0 && at.second < i) continue;  // counted there
        copies += there;
      }
      use(at, copies + filter.overflow.copies(layout.pair_number(at)));
    }
  }
  for (unsigned i = 0; i < filter.stashed; ++i) {
    const vq_entry entry = filter.stash(i);
    use(layout.place_of_pair(entry.pair), entry.copies);
  }
}

}  // namespace bloomset::detail
