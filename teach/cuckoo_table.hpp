#pragma once

// A small cuckoo filter, and the moves of an insert.

#include <bloomset/cuckoo.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bloomset::teach {

/// An empty filter of that shape. Fails if the library has none. Precondition: buckets <= 2^32.
result<cuckoo> make_cuckoo_table(std::uint64_t buckets, unsigned slots, unsigned fingerprint_bits);

/// Whether a member at `member` may have left the fingerprint in that bucket.
inline bool may_own(const cuckoo_place& member, std::uint32_t fingerprint,
                    std::uint64_t bucket) noexcept {
  return member.fingerprint == fingerprint && (member.first == bucket || member.second == bucket);
}
/// Whether no query can tell the two elements apart.
inline bool indistinguishable(const cuckoo_place& a, const cuckoo_place& b) noexcept {
  return a.fingerprint == b.fingerprint && (a.first == b.first || a.first == b.second);
}

/// The fingerprints of all slots, bucket by bucket. Zero is an empty slot.
using cuckoo_slots = std::vector<std::uint32_t>;
cuckoo_slots slots_of(const cuckoo& filter);

/// The relocation of one fingerprint. The inserted fingerprint has no `from`.
struct cuckoo_move {
  std::uint32_t fingerprint;
  std::optional<std::size_t> from;
  std::size_t to;
};

/// The relocations of an insert at `at`, from the slots before and after it. The inserted
/// fingerprint is first. Each fingerprint displaced the next one, and the last moved to an empty
/// slot. The insert thus did them in reverse order.
std::vector<cuckoo_move> moves_between(const detail::cuckoo_layout& layout,
                                       const cuckoo_slots& before, const cuckoo_slots& after,
                                       const cuckoo_place& at);

}  // namespace bloomset::teach
