#pragma once

// Packings and containers, recognised by the first bytes of an input.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bloomset::cli {

/// The packings that unpack() reads.
enum class codec : std::uint8_t { none, gzip, zstd, xz, bzip2 };

/// A form of file that is not lines of text.
struct packing {
  std::string_view what;    ///< "a zip archive"
  std::string_view remedy;  ///< "unpack it with 'unzip -p'"
  codec how = codec::none;  ///< none: never read
};

/// The number of first bytes that show every packing.
inline constexpr std::size_t packing_bytes = 512;

/// The answer of recognise_packing().
struct recognised_packing {
  const packing* found = nullptr;
  bool needs_more = false;  ///< none is found yet, but the next bytes may complete one
};

/// Recognises a packing by first bytes. Several bytes must agree, so that no text is mistaken for
/// one, even a text that begins with the letters of one.
recognised_packing recognise_packing(std::string_view first) noexcept;

/// The failure for an input of that form.
failure unread_packing(const packing& found);

/// The failure for first bytes of a filter, Bloomset's or another program's; otherwise none.
/// `is_whole` says whether they are the whole input. Texts are never taken for a filter.
result<void> refuse_filter(std::string_view first, bool is_whole);

}  // namespace bloomset::cli
