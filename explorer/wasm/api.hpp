#pragma once

// The page's questions to the library, and its answers, in JSON. The library counts, hashes and
// sets bits; this folder only reports it.

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

namespace bloomset::explorer {

using json = nlohmann::ordered_json;

/// A walk through a small filter, with the outcome of each step: see walk.hpp.
result<json> walk(const json& asked);

/// Every kind's plan for one request, ranked, with a recommendation: as `bloomset plan --json`.
result<json> plan(const json& asked);

/// Points of the theory for the plots: rates over a range of bits per key, functions or keys.
result<json> curve(const json& asked);

/// One measured rate: fills a filter and queries it with non-members.
result<json> measure(const json& asked);

/// A filter file of the library's default kind, as hexadecimal digits: user1@example.com and so on.
result<json> sample(const json& asked);

/// The filter file that the page was given, until the next one. `key` is its secret key, if it has
/// one and the user has typed it.
result<json> inspect(std::span<const std::byte> file, const json& asked);

/// Whether keys may be in the filter that was inspected last.
result<json> ask(const json& asked);

}  // namespace bloomset::explorer
