#include <algorithm>
#include <array>
#include <bloomery/any_filter.hpp>

#include "core/format.hpp"
#include "registry/rows.hpp"

namespace bloomery {

std::span<const kind_info> kinds() noexcept {
  static const std::array rows = {
#define KIND(name) detail::name##_row(),
#include "registry/kinds.inc"
  };
  return rows;
}

result<const kind_info*> find_kind(std::string_view name) {
  const auto all = kinds();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const kind_info& row) { return row.name == name; });
  if (found != all.end()) return &*found;
  std::vector<std::string_view> names;
  for (const kind_info& row : all) names.push_back(row.name);
  return detail::format_failure(errc::invalid_argument,
                                "'{}' is no kind of filter; the kinds are {}", name,
                                detail::join(names, ", "));
}

const kind_info* find_kind(filter_kind kind) noexcept {
  const auto all = kinds();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [kind](const kind_info& row) { return row.kind == kind; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace bloomery
