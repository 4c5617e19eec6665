#pragma once

// The bytes that LevelDB stores for one filter: a byte with the layout and a number, then the bits.
// docs/use/leveldb.md has drawings. A new format needs a new name of the policy.

#include <bloomset/hash.hpp>
#include <bloomset/image.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bloomset::leveldb_entries {

/// The upper three bits of the first byte. Never renumbered.
enum class layout : std::uint8_t { bloom = 1, ribbon = 2, blocked_bloom = 3, fuse = 4 };

/// The size or the rate of an entry; the other one is zero.
struct demand {
  std::uint64_t bytes = 0;  ///< of the entry, at most; at least 9
  double fpr = 0;
};

/// The entry of the hashes, which are distinct and at least one. blocked_bloom and fuse accept any
/// number of keys. None if fuse finds no room.
std::string make_bloom(std::span<const hash64> hashes, const demand& wanted);
std::string make_ribbon(std::span<const hash64> hashes, const demand& wanted);
std::string make_blocked_bloom(std::span<const hash64> hashes, const demand& wanted);
std::optional<std::string> make_fuse(std::span<const hash64> hashes, const demand& wanted);

/// Whether an entry may contain the key of a hash. True for bytes that are no entry of these
/// layouts. False for no bytes at all, the filter of no keys.
bool may_contain(std::span<const std::byte> entry, hash64 h) noexcept;

}  // namespace bloomset::leveldb_entries
