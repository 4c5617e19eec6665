#include <array>
#include <bloomset/any_filter.hpp>

#include "core/format.hpp"
#include "registry/rows.hpp"

namespace bloomset {

std::span<const kind_info> kinds() noexcept {
  static const std::array rows = {
#define KIND(name) detail::name##_row(),
#define KIND_OF_TWO_SETS KIND
#include "registry/kinds.inc"
  };
  return rows;
}

std::string kinds_that(const std::function<bool(const kind_info&)>& property,
                       std::string_view last) {
  std::vector<std::string_view> names;
  for (const kind_info& row : kinds()) {
    if (property(row)) names.push_back(row.name);
  }
  if (names.empty()) return "none";
  if (names.size() == 1) return std::string(names.front());
  const std::string_view end = names.back();
  names.pop_back();
  return detail::join(names, ", ").append(last).append(end);
}

std::string kinds_that(bool abilities::* can, std::string_view last) {
  return kinds_that([can](const kind_info& row) { return row.can.*can; }, last);
}

result<const kind_info*> find_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const kind_info& row : kinds()) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  return detail::format_failure(errc::invalid_argument,
                                "'{}' is not a kind of filter; the kinds are {}", name,
                                detail::join(names, ", "));
}

result<const kind_info*> find_kind_of_one_set(std::string_view name) {
  auto found = find_kind(name);
  if (found && (*found)->build_of_two_sets != nullptr) {
    return detail::format_failure(
        errc::unsupported,
        "a filter of kind {} is built from its members and all other keys that will be queried, "
        "which cannot be given here; use 'bloomset build --universe', C, C++ or Python",
        name);
  }
  return found;
}

const kind_info* find_kind(filter_kind kind) noexcept {
  for (const kind_info& row : kinds()) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

}  // namespace bloomset
