#pragma once

// Files of other programs that are given as a filter, and that are recognised but not read.

#include <cstddef>
#include <span>
#include <string_view>

namespace bloomset::cli {

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
/// sign.
const unread_format* recognise_unread(std::span<const std::byte> file, std::string_view name,
                                      certainty least) noexcept;

}  // namespace bloomset::cli
