#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomset::teach {

enum class verb : std::uint8_t { insert, check, erase };

/// Names of the verbs, indexed by `verb`.
inline constexpr std::array<std::string_view, 3> verb_names = {"insert", "check", "erase"};

/// One step of a walk, on one element.
struct step {
  verb what;
  std::string element;
};

inline constexpr std::size_t max_steps = 1000;
inline constexpr std::size_t max_element_bytes = 200;

}  // namespace bloomset::teach
