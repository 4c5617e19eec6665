#pragma once

// What a column's schema says about its type beyond the layout: names for people, and extensions.

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "arrow_c.hpp"

namespace bloomset::python::arrow {

/// The name of the extension type, or nothing.
inline std::string_view extension_of(const ArrowSchema& schema) {
  const char* at = schema.metadata;
  if (at == nullptr) return {};
  const auto number = [&at] {
    std::int32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  const auto text = [&at, &number] {
    const auto size = static_cast<std::size_t>(number());
    const std::string_view whole(at, size);
    at += size;
    return whole;
  };
  for (std::int32_t left = number(); left > 0; --left) {
    const std::string_view key = text();
    const std::string_view value = text();
    if (key == "ARROW:extension:name") return value;
  }
  return {};
}

inline bool is_uuid(const ArrowSchema& schema) {
  return extension_of(schema) == "arrow.uuid";
}

/// False for types whose values are not keys although those of their storage are.
inline bool has_keys_of_its_storage(const ArrowSchema& schema) {
  const std::string_view extension = extension_of(schema);
  return extension != "arrow.opaque" && extension != "arrow.bool8" &&
         !extension.starts_with("pandas.");
}

/// The type's name as in Arrow's documentation.
inline std::string type_name(const ArrowSchema& schema) {
  if (const std::string_view extension = extension_of(schema); !extension.empty())
    return fmt::format("extension<{}>", extension);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 26> names = {{
      {"b", "bool"},
      {"e", "float16"},
      {"f", "float32"},
      {"g", "float64"},
      {"tts", "time32[s]"},
      {"ttm", "time32[ms]"},
      {"ttu", "time64[us]"},
      {"ttn", "time64[ns]"},
      {"tDs", "duration[s]"},
      {"tDm", "duration[ms]"},
      {"tDu", "duration[us]"},
      {"tDn", "duration[ns]"},
      {"tiM", "month_interval"},
      {"tiD", "day_time_interval"},
      {"tin", "month_day_nano_interval"},
      {"+l", "list"},
      {"+L", "large_list"},
      {"+vl", "list_view"},
      {"+vL", "large_list_view"},
      {"+s", "struct"},
      {"+m", "map"},
      {"+r", "run_end_encoded"},
      {"+w:", "fixed_size_list"},
      {"+ud:", "dense_union"},
      {"+us:", "sparse_union"},
      {"n", "null"},
  }};
  const std::string_view format(schema.format);
  if (format.starts_with("ts") && format.size() >= 4) {  // tsu:Europe/Berlin
    const std::string_view zone = format.substr(4);
    const std::string unit = format[2] == 's' ? "s" : fmt::format("{}s", format[2]);
    return zone.empty() ? fmt::format("timestamp[{}]", unit)
                        : fmt::format("timestamp[{}, {}]", unit, zone);
  }
  for (const auto& [letters, name] : names) {
    if (format == letters || (letters.ends_with(':') && format.starts_with(letters)))
      return std::string(name);
  }
  return fmt::format("'{}'", format);
}

}  // namespace bloomset::python::arrow
