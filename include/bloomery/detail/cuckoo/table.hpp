#pragma once

// What happens to a cuckoo filter's payload: insert, erase, merge and what is measured of it. Each
// takes the number of stash entries in use, which stand first in the stash without a gap; what is
// behind them is zero, so that a filter whose every key was erased is all zero again.

#include <bloomery/concepts.hpp>
#include <bloomery/detail/cuckoo/layout.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomery::detail {

/// Copies of the place's fingerprint in the stash.
unsigned stashed_copies(const cuckoo_layout& layout, const std::byte* payload, unsigned stashed,
                        const cuckoo_place& at) noexcept;

/// Copies in both buckets and the stash.
unsigned all_copies(const cuckoo_layout& layout, const std::byte* payload, unsigned stashed,
                    const cuckoo_place& at) noexcept;

/// Adds a copy: to a free slot of the first bucket, else of the second; else of a bucket that a
/// chain of moves, searched breadth first, leads to; else to the stash. Without room, nothing
/// changes.
insert_outcome insert_copy(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                           const cuckoo_place& at) noexcept;

/// Removes a copy if there is one: from the stash first; the slot that it leaves takes a stashed
/// fingerprint that belongs there.
bool erase_copy(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                const cuckoo_place& at) noexcept;

/// Adds every copy that another payload of the same layout holds; returns how many, or nothing if
/// one found no room: then those before it are there.
std::optional<std::uint64_t> insert_all(const cuckoo_layout& layout, std::byte* payload,
                                        unsigned& stashed, const std::byte* theirs) noexcept;

/// What a walk over the table finds. O(slots).
struct cuckoo_census {
  std::uint64_t passing = 0;    ///< pairs of first bucket and fingerprint that pass as a member
  std::uint64_t different = 0;  ///< fingerprints, in different pairs of buckets
};
cuckoo_census take_cuckoo_census(const cuckoo_layout& layout, const std::byte* payload,
                                 unsigned stashed) noexcept;

/// Checks what can be checked without reading the table: zero between table and stash; the stash's
/// entries in range and without gaps. The number of entries, or nothing if that does not hold.
std::optional<unsigned> check_stash(const cuckoo_layout& layout,
                                    std::span<const std::byte> payload) noexcept;

}  // namespace bloomery::detail
