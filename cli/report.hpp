#pragma once

// A plan's and a filter's figures, for people and for programs.

#include <bloomery/any_filter.hpp>
#include <bloomery/dialects/dialect.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::cli {

/// Figures with their labels, shown in two columns.
using figures = std::vector<std::pair<std::string, std::string>>;
std::string to_text(const figures& rows);

/// What a kind makes of a request: n, m in bits and bytes, k, bits per key, rates and the kind's
/// own.
figures plan_figures(const plan_report& plan);

/// The members kind, capacity, bits, bytes, hashes (where there are any), bits_per_key,
/// planned_fpr, and extras, an object of the kind's own figures.
nlohmann::ordered_json plan_json(std::string_view kind, const plan_report& plan);

/// What a filter file is and how it stands.
figures info_figures(const filter_info& info);

/// As plan_json, with file, count, estimated_size, current_fpr, overfilled, fill, hash, seed and
/// can. What is infinite is null.
nlohmann::ordered_json info_json(const std::string& file, const filter_info& info);

/// The same of another program's filter: `format` and `variant` too, null for what it does not
/// store.
figures info_figures(const dialects::foreign_info& info);
nlohmann::ordered_json info_json(const std::string& file, const dialects::foreign_info& info);

/// The keys of a filter for a sentence: "5 keys", or where the estimate says more or less than the
/// count, "about 1,000 keys (352 counted)" or "about 500 keys in 1,500 copies".
std::string keys_held(const filter_info& info);

/// The distinct keys, from estimate and count. Infinite if they are unknown.
double distinct_keys(const filter_info& info);

/// Whether there is more in a filter than it was planned for, by count or beyond the estimate's
/// scatter: keys, or where copies take the room of keys, copies.
bool beyond_capacity(const filter_info& info);

/// Whether the current rate is beyond the planned one by more than chance explains.
bool overfilled(const filter_info& info);

/// What a kind can do as a text; that of a kind that can do nothing of it says so.
std::string text_of(const abilities& can, std::string_view separator);

/// What a filter's kind can do. A filter opened read-only says less of itself.
abilities abilities_of_kind(const filter_info& info);

}  // namespace bloomery::cli
