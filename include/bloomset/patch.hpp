#pragma once

/// Patches: the difference between two filter files, for those who have the old file and need the
/// new one. docs/reference/format.md is the normative layout (section Patches).
///
///     const auto monday = bloomset::map_bytes("monday.bloom");
///     const auto tuesday = bloomset::map_bytes("tuesday.bloom");
///     if (monday && tuesday) {
///       const auto patch =
///           bloomset::make_patch(*monday, "monday.bloom", *tuesday, "tuesday.bloom");
///       if (patch) use(patch->bytes);
///     }

#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bloomset {

/// The bits of two payloads that differ. Where one payload is longer, the other has zeros.
struct bit_changes {
  std::uint64_t zeros = 0;    ///< bits of the old payload that are 0
  std::uint64_t ones = 0;     ///< bits of the old payload that are 1
  std::uint64_t set = 0;      ///< changes from 0 to 1
  std::uint64_t cleared = 0;  ///< changes from 1 to 0

  /// The bits that are needed on average to say which zeros were set and which ones were cleared,
  /// if every choice is equally likely: n H(k / n) for k changes among n bits, summed over both.
  double entropy() const noexcept;
};

/// A patch and the changes that it describes.
struct patch_build {
  std::vector<std::byte> bytes;
  bit_changes changes;
  bool is_whole = false;  ///< whether the patch is the new file itself, as changes would be longer
};

/// The patch that turns one filter file into another. Files may be of any kinds and sizes, and also
/// indexes of files.
///
/// Size      Filters of bits: 1.00 to 1.05 times bit_changes::entropy(), and 0.6 to 1.0 times in
///           blocked_bloom and counting_bloom, whose changes are neighbours; plus about 40 bytes.
///           Kinds that are built once change as a whole, and their patch is as long as the new
///           file.
/// Time      O(size) to find the changes, and about 0.3 µs per changed bit.
/// Memory    The patch.
/// Failure   Fails as read_stored() does if a file is not a filter or is damaged. Messages call
///           the files by the names given.
/// Threads   Safe.
result<patch_build> make_patch(const mapped_storage& before, const std::string& before_name,
                               const mapped_storage& after, const std::string& after_name);

/// The new file of a patch, byte for byte. Checks all of the old file before, and all of the new
/// one afterwards.
///
/// Time      O(size of both), and about 0.3 µs per changed bit.
/// Memory    The new file.
/// Failure   incompatible if the patch was made for another file, or if the file is the new one
///           already; corrupt if the patch is damaged or none; and as read_stored() for the file.
/// Trust     Checksums detect damage, not malice. Whoever writes the patch decides what the new
///           file is.
/// Threads   Safe.
result<owned_storage> apply_patch(const mapped_storage& before, const std::string& before_name,
                                  std::span<const std::byte> patch, const std::string& patch_name);

}  // namespace bloomset
