#pragma once

// BF.RESERVE with MEMORY: the fixed filter that a memory size has room for.

#include "values/filter_spec.hpp"

namespace bloomset::server {

struct memory_budget {
  std::uint64_t bytes = 0;     ///< 0 without MEMORY
  bool replaces_rate = false;  ///< MEMORY replaces the rate, else the capacity
};

/// Finds the largest capacity, or the lowest rate, with which the key needs at most the budget.
/// Plans about a dozen filters, a few microseconds each. Throws refusal.
void fit_budget(const memory_budget& budget, filter_spec& spec);

}  // namespace bloomset::server
