#pragma once

// The operations of a cuckoo filter on one fingerprint, and walks over all of them. `stashed` is
// the number of stash entries in use. They come first, and the others are zero, so that a filter
// whose keys were all erased is all zeros.

#include <bloomset/concepts.hpp>
#include <bloomset/detail/cuckoo/layout.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomset::detail {

/// How a batch prefetches buckets: not at all; the begin of each bucket of a group of keys, before
/// the group is compared; or, in tables of which most lies in memory, all of each bucket, a group
/// of keys ahead (docs/maintain/decisions/cpu/prefetch.md).
enum class bucket_prefetch : unsigned char { none, begins, whole };

/// Batches of queries, once per instruction set.
struct cuckoo_kernels {
  /// answers[i] tells whether a slot of key i's buckets has its fingerprint. The stash is not
  /// asked.
  void (*contains)(const cuckoo_layout& layout, const std::byte* payload,
                   std::span<const hash64> hashes, bool* answers,
                   bucket_prefetch prefetch) noexcept;

  [[gnu::visibility("hidden")]] static const cuckoo_kernels scalar, vector128, vector256, vector512;
};

/// Queries of a batch. Precondition: room for as many answers as hashes.
void cuckoo_may_contain(const cuckoo_layout& layout, const std::byte* payload, unsigned stashed,
                        std::span<const hash64> hashes, bool* answers) noexcept;

/// Copies of a fingerprint in the stash. Pure, so that a loop of queries keeps what it has read.
[[gnu::pure]] unsigned stashed_copies(const cuckoo_layout& layout, const std::byte* payload,
                                      unsigned stashed, const cuckoo_place& at) noexcept;

/// Whether the stash has a copy of the key of this hash. It finds the key's place again, so that a
/// query need not keep it in memory for this rare call.
[[gnu::pure, gnu::cold]] bool is_stashed(const cuckoo_layout& layout, const std::byte* payload,
                                         unsigned stashed, hash64 h) noexcept;

/// All copies of a fingerprint.
unsigned all_copies(const cuckoo_layout& layout, const std::byte* payload, unsigned stashed,
                    const cuckoo_place& at) noexcept;

/// Inserts a copy into a free slot of the first bucket, else of the second. If both are full, a
/// breadth-first search finds a chain of moves that frees a slot; else the copy goes to the stash.
/// Without room nothing changes.
insert_outcome insert_copy(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                           const cuckoo_place& at) noexcept;

/// Erases a copy: from the stash, else from a bucket. A stashed fingerprint of that bucket then
/// moves into the free slot. Returns false if there is no copy.
bool erase_copy(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                const cuckoo_place& at) noexcept;

/// Inserts every copy of another payload of the same layout. Stops at the first copy without room;
/// the copies before it stay inserted.
insert_summary insert_all(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                          const std::byte* source) noexcept;

/// The result of a walk over the table. O(slots).
struct cuckoo_census {
  std::uint64_t passing = 0;    ///< pairs (first bucket, fingerprint) of keys that pass as members
  std::uint64_t different = 0;  ///< different fingerprints in a pair of buckets
};
cuckoo_census take_cuckoo_census(const cuckoo_layout& layout, const std::byte* payload,
                                 unsigned stashed) noexcept;

/// The number of stash entries in use. Returns nothing if an entry is out of range or behind a free
/// one, or if bits between table and stash are set. Does not read the table.
std::optional<unsigned> check_stash(const cuckoo_layout& layout,
                                    std::span<const std::byte> payload) noexcept;

}  // namespace bloomset::detail
