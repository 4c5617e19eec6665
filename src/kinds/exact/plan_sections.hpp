#pragma once

// A section of an exact filter in a parameter block.

#include <algorithm>
#include <bloomset/detail/core/record.hpp>
#include <bloomset/detail/retrieval/level.hpp>
#include <bloomset/plan/exact_plan.hpp>
#include <cstdint>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// The slots of a window in the first and the last section, and in the guided one.
inline constexpr std::uint32_t plain_width = 128;
inline constexpr std::uint32_t guided_width = 64;

inline constexpr auto level_fields = [](auto& block, auto& level) {
  block.values(level.seed).u32(level.shards, level.starts);
};

inline void write_levels(record_writer& writer, const exact_section& section) {
  for (const retrieval_level& level : section.levels) level_fields(writer, level);
}

/// Reads `count` levels of a section whose columns are known.
inline void read_levels(record_reader& reader, exact_section& section, std::uint32_t width,
                        std::uint8_t count) {
  section.levels.resize(std::min<std::uint64_t>(count, max_retrieval_levels + 1));
  for (retrieval_level& level : section.levels) {
    level_fields(reader, level);
    level.cut = level.all_starts();
    level.columns = section.columns;
    level.width = width;
    level.bumps = &level != &section.levels.back();
  }
}

inline bool is_possible(const exact_section& section, std::uint32_t max_columns,
                        std::uint32_t width) noexcept {
  return section.columns <= max_columns && section.levels.empty() == (section.columns == 0) &&
         are_possible(section.levels, section.columns, width);
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
