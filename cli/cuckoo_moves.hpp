#pragma once

// What an insert moved in a cuckoo filter, read off its slots before and after.

#include <bloomery/cuckoo.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bloomery::cli {

/// The fingerprints of all slots as they stand, zero where there is none; bucket by bucket.
using cuckoo_slots = std::vector<std::uint32_t>;
cuckoo_slots slots_of(const cuckoo& filter);

/// One fingerprint's way from its slot to another, or from outside: then there is no `from`.
struct cuckoo_move {
  std::uint32_t fingerprint;
  std::optional<std::size_t> from;
  std::size_t to;
};

/// The chain of an insert at that place, the new fingerprint first: it displaced what stood in its
/// slot before, which went to its other bucket, and so on to a slot that was free. What happened
/// first is last.
std::vector<cuckoo_move> moves_between(const detail::cuckoo_layout& layout,
                                       const cuckoo_slots& before, const cuckoo_slots& after,
                                       const cuckoo_place& at);

}  // namespace bloomery::cli
