#pragma once

// Reading a real number from text, independent of the locale.

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

/// Reads the whole text as a number, in the form of std::from_chars. Nothing if the text is not a
/// number, or if the number is beyond the range of a double.
inline std::optional<double> real_number(std::string_view text) {
  double value = 0;
#if defined(__cpp_lib_to_chars)
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
#else
  // libc++ reads real numbers from version 20 on; older versions use strtod. Texts that only strtod
  // reads are refused first. This branch is for WebAssembly, which has no locale except "C".
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
