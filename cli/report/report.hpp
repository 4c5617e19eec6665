#pragma once

// The figures of a plan and of a filter, as text and as JSON.

#include <bloomset/any_filter.hpp>
#include <bloomset/dialects/dialect.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset::cli {

/// Figures with their labels, shown in two columns.
using figures = std::vector<std::pair<std::string, std::string>>;
std::string to_text(const figures& rows);

/// The plan of a kind for a request: n, m in bits and bytes, k, bits per key, rates and the kind's
/// own figures.
figures plan_figures(const plan_report& plan);

/// The figures of figures_of(kind, plan) as members.
nlohmann::ordered_json plan_json(std::string_view kind, const plan_report& plan);

/// The format and the state of a filter file.
figures info_figures(const filter_info& info);

/// The same for a filter of another program. Values that it does not store have no row.
figures info_figures(const dialects::foreign_info& info);

/// The same for an index of files.
figures info_figures(const std::vector<property>& info);

/// The keys of a filter for a sentence: "5 keys", or "about 5 keys" if the bits are all that tells
/// it. If estimate and count differ: "about 1,000 keys (352 counted)" or "about 500 keys in 1,500
/// copies".
std::string keys_held(const filter_info& info);

/// The abilities of a kind as text; for a kind without any, a text that says so.
std::string text_of(const abilities& can, std::string_view separator);

}  // namespace bloomset::cli
