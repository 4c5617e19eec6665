#pragma once

// A real number from text, the same whatever the locale is.

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <version>

#if !defined(__cpp_lib_to_chars)
#include <cerrno>
#include <cstdlib>
#include <string>
#endif

namespace bloomery::detail {

/// The number that the whole of the text is, in the form that std::from_chars reads; nothing if it
/// is none, or beyond what a double holds.
inline std::optional<double> real_number(std::string_view text) {
  double value = 0;
#if defined(__cpp_lib_to_chars)
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
#else
  // libc++ reads real numbers from version 20 on. What strtod takes beyond them is kept from it;
  // WebAssembly, for which this is, has no locale but "C".
  if (text.empty() || text.front() == '+' ||
      text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string all(text);
  char* end = nullptr;
  errno = 0;
  value = std::strtod(all.c_str(), &end);
  if (errno == ERANGE || end != all.c_str() + all.size()) return std::nullopt;
#endif
  return value;
}

}  // namespace bloomery::detail
