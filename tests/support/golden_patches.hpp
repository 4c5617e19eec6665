#pragma once

// The golden patches: one of each method in the order of the methods, between filters of the golden
// files' recipes.

#include <bloomset/patch.hpp>

#include "tests/support/golden_recipes.hpp"

namespace bloomset::test {

struct golden_patch {
  std::string_view name;    ///< of the file, without ".patch"
  std::string_view before;  ///< the recipe of the old filter
  std::string_view after;   ///< the recipe of the new filter; empty for the old one with 20 keys
};

inline constexpr std::array golden_patches = {
    golden_patch{"whole", "fuse-8", "ribbon-2"},
    golden_patch{"changes", "counting_bloom-4", ""},
    golden_patch{"sets", "bloom-double", ""},
};

inline const recipe& recipe_of(std::string_view name) {
  return *std::ranges::find(recipes(), name, &recipe::name);
}

/// The old and the new file of a patch.
inline std::pair<std::vector<std::byte>, std::vector<std::byte>> files_of(const golden_patch& how) {
  any_filter filter = cook(recipe_of(how.before));
  auto before = serialize(filter.image());
  if (!how.after.empty()) return {before, serialize(cook(recipe_of(how.after)).image())};
  const auto keys = words("patched", 20);
  value_of(filter.insert(std::vector<std::string_view>(keys.begin(), keys.end())));
  return {std::move(before), serialize(filter.image())};
}

inline std::vector<std::byte> cook(const golden_patch& how) {
  const auto [before, after] = files_of(how);
  return value_of(make_patch({nullptr, before}, "before", {nullptr, after}, "after")).bytes;
}

}  // namespace bloomset::test
