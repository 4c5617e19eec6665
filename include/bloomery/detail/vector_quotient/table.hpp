#pragma once

// What happens to a vector quotient filter: insert, erase, count, merge and what is measured of it,
// by the specification in vector_quotient_layout.hpp.
//
//   payload = blocks | stash of four entries | side table
//
// A tag has one to three copies in its two blocks, and any number more in the side table. A tag
// that found room in neither block has all its copies in one entry of the stash, and none
// elsewhere. So blocks and stash answer whether a key may be there, and the side table is for
// counts alone.

#include <bloomery/concepts.hpp>
#include <bloomery/detail/vector_quotient/layout.hpp>
#include <bloomery/detail/vector_quotient/side.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomery::detail {

/// Copies of a tag in the blocks. Two keys of equal tags are common, at a rate of 1% one key in 200
/// meets another; with a third or a fourth one in 30,000 and fewer, which cost 16 bytes and more.
inline constexpr unsigned vq_most_copies = 3;

class vq_stripes;

/// A filter to be asked.
struct vq_reader {
  const vq_layout* layout;
  const std::byte* blocks;
  vq_side_view side;
  unsigned stashed;

  vq_entry stash(unsigned i) const noexcept {
    return load<vq_entry>(blocks + layout->block_bytes() + i * sizeof(vq_entry));
  }
};

/// A filter to be changed.
struct vq_writer {
  const vq_layout* layout;
  std::byte* blocks;
  vq_side* side;
  unsigned* stashed;
  std::uint64_t* count;           ///< copies in all
  vq_stripes* stripes = nullptr;  ///< for threads that read meanwhile; the caller tells them of the
                                  ///< place's own two blocks

  vq_reader reader() const noexcept { return {layout, blocks, side->view(), *stashed}; }
};

/// Copies of the tag in the stash.
std::uint64_t vq_stashed_copies(const vq_reader& filter, const vector_quotient_place& at) noexcept;

/// Copies of the tag in all.
std::uint64_t vq_copies(const vq_reader& filter, const vector_quotient_place& at) noexcept;

/// Copies of many tags.
void vq_count(const vq_reader& filter, std::span<const hash64> hashes,
              std::uint64_t* counts) noexcept;

/// Adds a copy. The first of a tag goes to the emptier of its blocks; where both are full, a tag in
/// one of them that has room in its other block makes room, or a copy of one, which then counts in
/// the side table; else to the stash. The second and third go beside the first, if its block has
/// room; otherwise they count in the side table, as all further ones do. Without room, nothing
/// changes.
insert_outcome vq_insert(const vq_writer& filter, const vector_quotient_place& at) noexcept;

/// The same but for the first step: `present` copies are in the blocks.
insert_outcome vq_insert_else(const vq_writer& filter, const vector_quotient_place& at,
                              unsigned present) noexcept;

/// Removes a copy if there is one: from the side table first, and last from the blocks, whose free
/// slot takes a stashed tag that belongs there.
bool vq_erase(const vq_writer& filter, const vector_quotient_place& at) noexcept;

/// After a slot of the block became free: takes a tag out of the stash that belongs there.
void vq_refill(const vq_writer& filter, std::uint64_t block) noexcept;

/// Adds every copy that another filter of the same layout holds; false if one found no room: then
/// those before it are there.
bool vq_insert_all(const vq_writer& filter, const vq_reader& theirs) noexcept;

/// What a walk over all tags finds. O(slots).
struct vq_census {
  std::uint64_t tags = 0;     ///< different ones, in different pairs of blocks
  std::uint64_t passing = 0;  ///< pairs of first block and tag that a stranger could have and pass
};
vq_census vq_take_census(const vq_reader& filter) noexcept;

/// Slots in use. O(blocks).
std::uint64_t vq_slots_taken(const vq_reader& filter) noexcept;

/// The number of stash entries in use, which stand first; nothing if they are out of range or have
/// gaps.
std::optional<unsigned> vq_check_stash(const vq_layout& layout,
                                       std::span<const std::byte> blocks_and_stash) noexcept;

/// Calls `use(place, copies)` once for every different tag in a pair of blocks. O(slots), mostly in
/// the order of the blocks.
template <class Use>
void vq_for_each(const vq_reader& filter, Use&& use) {
  const vq_layout& layout = *filter.layout;
  for (std::uint64_t i = 0; i < layout.blocks(); ++i) {
    const std::byte* const block = layout.block(filter.blocks, i);
    layout.for_tags(block, [&](unsigned slot, std::uint64_t tag) {
      const vq_run run = layout.run(block, layout.bucket_of(tag));
      if (layout.find(block, run, layout.remainder_of(tag)) != slot) return true;
      const vector_quotient_place at = layout.place(i, tag);
      std::uint64_t copies = layout.copies(block, run, layout.remainder_of(tag));
      if (at.second != i) {
        const std::uint64_t there = layout.copies(layout.block(filter.blocks, at.second), tag);
        if (there != 0 && at.second < i) return true;  // it was counted there
        copies += there;
      }
      use(at, copies + filter.side.copies(layout.pair_of(at)));
      return true;
    });
  }
  for (unsigned i = 0; i < filter.stashed; ++i) {
    const vq_entry entry = filter.stash(i);
    use(layout.place_of_pair(entry.pair), entry.copies);
  }
}

}  // namespace bloomery::detail
