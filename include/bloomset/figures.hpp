#pragma once

/// All figures of a plan and of a filter, by name. The command line, the bindings and the explorer
/// show these lists, so a figure is added here and appears everywhere.

#include <bloomset/any_filter.hpp>
#include <bloomset/property.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace bloomset {

/// The figures of a plan of the kind of that name.
std::vector<property> figures_of(std::string_view kind, const plan_report& plan);
/// The figures of a filter. Figures that only its kind has are in the group `extras`.
std::vector<property> figures_of(const filter_info& info);

/// The abilities with their names, in the order in which they are shown.
std::vector<std::pair<std::string_view, bool>> named(const abilities& can);
/// The names of the abilities that are there.
std::vector<std::string> names_of(const abilities& can);

/// What filter_info::count counts.
enum class count_meaning : std::uint8_t {
  copies,    ///< every insert, minus erases
  keys,      ///< distinct keys, exactly: the filter is built once
  estimate,  ///< distinct keys, as the bits show them (any_filter::settle_count)
  new_keys   ///< inserts that certainly were of a new key: a lower bound on the distinct keys
};
/// The meaning of filter_info::count in a filter of that kind and state.
count_meaning meaning_of_count(const filter_info& info);

/// The distinct keys, from estimate and count. Infinite if they are unknown.
double distinct_keys(const filter_info& info);

/// Whether a filter has more keys than were planned, by its count or beyond the estimate's scatter.
/// Copies count as keys in kinds where they use the room of keys.
bool beyond_capacity(const filter_info& info);

}  // namespace bloomset
