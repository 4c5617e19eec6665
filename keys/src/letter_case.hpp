#pragma once

// The letter case of keys that are text, as an argument of a reader.

#include <bloomset/result.hpp>
#include <cstdint>
#include <string_view>

namespace bloomset::keys {

enum class letter_case : std::uint8_t { upper, lower };

inline result<letter_case> read_case(std::string_view argument) {
  if (argument == "upper") return letter_case::upper;
  if (argument == "lower") return letter_case::lower;
  return fail(errc::invalid_argument, "the argument is neither upper nor lower; write one of them");
}

}  // namespace bloomset::keys
