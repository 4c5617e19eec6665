#pragma once

// What the page asks of the library: questions and answers in JSON. Everything that is counted,
// hashed or set is the library's; this room only tells of it.

#include <bloomery/any_filter.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

namespace bloomery::explorer {

using json = nlohmann::ordered_json;

/// A walk through a small filter, each step told: see walk.hpp.
result<json> walk(const json& asked);

/// Every kind's plan for one request, ranked, with a recommendation: as `bloomery plan --json`.
result<json> plan(const json& asked);

/// Points of the theory for the plots: rates over a range of bits per key, functions or keys.
result<json> curve(const json& asked);

/// One rate measured: a filter is filled, and strangers are asked.
result<json> measure(const json& asked);

/// The filter file that the page was given, until the next one.
result<json> inspect(std::span<const std::byte> file, const json& asked);

/// Whether keys may be in the filter that was inspected last.
result<json> ask(const json& asked);

}  // namespace bloomery::explorer
