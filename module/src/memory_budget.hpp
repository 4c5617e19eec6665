#pragma once

// BF.RESERVE with MEMORY: the fixed filter that a memory size has room for.

#include "filter_spec.hpp"

namespace bloomery::server {

struct memory_budget {
  std::uint64_t bytes = 0;     ///< 0 without MEMORY
  bool replaces_rate = false;  ///< MEMORY stands for the rate; else for the capacity
};

/// Finds the largest capacity, or the lowest rate, whose key takes at most the budget. Some dozen
/// plans of some microseconds each. Throws refusal.
void fit_budget(const memory_budget& budget, filter_spec& spec);

}  // namespace bloomery::server
