#include <array>
#include <bloomset/any_filter.hpp>

#include "core/format.hpp"
#include "registry/rows.hpp"

namespace bloomset {

std::span<const kind_info> kinds() noexcept {
  static const std::array rows = {
#define KIND(name) detail::name##_row(),
#include "registry/kinds.inc"
  };
  return rows;
}

result<const kind_info*> find_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const kind_info& row : kinds()) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  return detail::format_failure(errc::invalid_argument,
                                "'{}' is no kind of filter; the kinds are {}", name,
                                detail::join(names, ", "));
}

const kind_info* find_kind(filter_kind kind) noexcept {
  for (const kind_info& row : kinds()) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

}  // namespace bloomset
