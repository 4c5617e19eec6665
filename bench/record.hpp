#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "measure.hpp"

namespace bench {

/// Takes one record of the results: a line of JSON in the results file, whose member `record` says
/// what it is.
using sink = std::function<void(const nlohmann::json&)>;

/// Median and least time a key, in nanoseconds, and of how many runs.
inline nlohmann::json figures(const times& taken) {
  return {{"ns", taken.median() * 1e9}, {"least", taken.least() * 1e9}, {"runs", taken.runs()}};
}

}  // namespace bench
