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

/// The members kind, capacity, bits, bytes, hashes (where there are any), bits_per_key,
/// planned_fpr, and extras, an object of the kind's own figures.
nlohmann::ordered_json plan_json(std::string_view kind, const plan_report& plan);

/// The format and the state of a filter file.
figures info_figures(const filter_info& info);

/// The members of plan_json, and file, count, estimated_size, current_fpr, overfilled, fill, hash,
/// seed and can. Infinite values are null.
nlohmann::ordered_json info_json(const std::string& file, const filter_info& info);

/// The same for a filter of another program, with `format` and `variant`. Values that it does not
/// store are null.
figures info_figures(const dialects::foreign_info& info);
nlohmann::ordered_json info_json(const std::string& file, const dialects::foreign_info& info);

/// The keys of a filter for a sentence: "5 keys", or "about 5 keys" if the bits are all that tells
/// it. If estimate and count differ: "about 1,000 keys (352 counted)" or "about 500 keys in 1,500
/// copies".
std::string keys_held(const filter_info& info);

/// The distinct keys, from estimate and count. Infinite if they are unknown.
double distinct_keys(const filter_info& info);

/// Whether a filter has more keys than were planned, by its count or beyond the estimate's scatter.
/// Copies count as keys in kinds where they use the room of keys.
bool beyond_capacity(const filter_info& info);

/// Whether the current rate exceeds the planned one by more than chance explains.
bool overfilled(const filter_info& info);

/// The abilities of a kind as text; for a kind without any, a text that says so.
std::string text_of(const abilities& can, std::string_view separator);

/// The abilities of a filter's kind. A filter that was opened read-only has fewer.
abilities abilities_of_kind(const filter_info& info);

}  // namespace bloomset::cli
