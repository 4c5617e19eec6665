#pragma once

/// Which kind of filter suits, and why: every kind's plan for one request, ranked.
///
///     const auto found = bloomery::advise({.capacity = 1'000'000, .fpr = 0.01},
///                                         {.deletable = true});
///     if (found) use(*found->recommended().kind, found->reason);

#include <bloomery/any_filter.hpp>
#include <bloomery/result.hpp>
#include <span>
#include <string>
#include <vector>

namespace bloomery {

/// What the filter must be able to do besides taking keys and answering.
struct needs {
  bool deletable = false;   ///< keys are erased again
  bool counting = false;    ///< how often a key was inserted is asked
  bool growing = false;     ///< the number of keys is unknown: it may exceed the capacity
  bool unchanging = false;  ///< all keys are known before the filter is made, and none comes later
};

/// A kind, and its plan or the sentence that says why it does not fit.
struct candidate {
  const kind_info* kind = nullptr;
  result<plan_report> plan;
};

struct advice {
  /// Every kind: those that fit, best first, then those that do not, in the registry's order.
  std::vector<candidate> ranked;
  std::string reason;  ///< one sentence: why the first is recommended

  /// The best of those that fit: there always is one.
  const candidate& recommended() const noexcept { return ranked.front(); }
};

/// What one kind makes of the request, or why it does not fit: an ability that it lacks is
/// unsupported, what its planner refuses is invalid_argument.
result<plan_report> plan_for(const kind_info& kind, const plan_request& request,
                             const needs& wanted);

/// plan_for() a kind that the user named. Naming a kind that is built once from all its keys
/// implies `unchanging`.
inline result<plan_report> plan_for_named(const kind_info& kind, const plan_request& request,
                                          needs wanted) {
  wanted.unchanging |= kind.build != nullptr;
  return plan_for(kind, request, wanted);
}

/// Plans the request with every kind that has the needed abilities and ranks the plans by what the
/// request leaves open: the fewest bytes for a capacity and a rate, the lowest rate for a capacity
/// and a size, the most keys for a size and a rate, the fewest bits a key after a thousandfold
/// growth where growing is needed and a rate is all that is known. Equal plans keep the order of
/// `among`. Where space is compared, a plan that takes at most a tenth more than the smallest and
/// whose queries read fewer cache lines is recommended before it.
///
/// Fails with invalid_argument where the request is not sufficient (it takes two of capacity, rate
/// and size, or a number of hashes with capacity or size; growing is content with a rate), where
/// the needs contradict each other or no kind can meet it; with unsupported where no kind has the
/// needed abilities together. One call of each kind's planner.
result<advice> advise(const plan_request& request, const needs& wanted,
                      std::span<const kind_info> among = kinds());

}  // namespace bloomery
