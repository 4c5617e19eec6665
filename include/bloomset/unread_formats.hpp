#pragma once

/// Files of other programs that are given as a filter, and that are recognised but not read. All
/// that opens filters names them in its failure.

#include <bloomset/result.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bloomset {

/// A form of file that is known by name only.
struct unread_format {
  std::string_view what;    ///< "a LevelDB table"
  std::string_view remedy;  ///< "use LevelDB's filter policy"
};

/// How certain a recognition must be.
enum class certainty : unsigned char {
  signature,  ///< a signature, or lengths that agree with each other
  first_word  ///< also a plausible first number, as many other files have it
};

/// The form of a whole file, or null. `name` is the name of the file: some forms have no other
/// sign. A file of a dialect (bloomset/dialects/dialect.hpp) may have a first number that is
/// plausible here, too, so ask the dialects first for certainty::first_word. O(1).
const unread_format* recognise_unread(std::span<const std::byte> file, std::string_view name,
                                      certainty least) noexcept;

/// The failure to open a file of that form, with errc::unsupported. It is the one of
/// read_stored(), and so of all that opens filters, for forms with a signature.
failure not_read(const unread_format& form, const std::string& name);

}  // namespace bloomset
