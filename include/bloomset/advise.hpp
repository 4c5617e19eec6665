#pragma once

/// Advice on kinds: ranks the plans of every kind for one request, and says why the first is best.
///
///     const auto found = bloomset::advise({.capacity = 1'000'000, .fpr = 0.01},
///                                         {.deletable = true});
///     if (found) use(*found->recommended().kind, found->reason);

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <span>
#include <string>
#include <vector>

namespace bloomset {

/// The abilities that the filter needs besides inserts and queries.
struct needs {
  bool deletable = false;  ///< keys will be erased
  bool counting = false;   ///< the number of inserts of a key will be queried
  bool growing = false;    ///< the number of keys is unknown and may exceed the capacity
  bool unchanging =
      false;  ///< all keys are known before the filter is made, and none is added later
};

/// A kind, and its plan or the sentence that says why it does not fit.
struct candidate {
  const kind_info* kind = nullptr;
  result<plan_report> plan;
};

/// The answer of advise().
struct advice {
  /// Every kind: first those that fit, best first, then the others in the registry's order.
  std::vector<candidate> ranked;
  std::string reason;  ///< one sentence: why the first is best

  /// The best kind that fits. There is always one.
  const candidate& recommended() const noexcept { return ranked.front(); }
};

/// The plan of one kind for the request. Fails with unsupported if the kind lacks an ability, and
/// with invalid_argument if its planner refuses the request, or if the request leaves the rate open
/// and it would be above 90%.
result<plan_report> plan_for(const kind_info& kind, const plan_request& request,
                             const needs& wanted);

/// plan_for() a kind that the user named. Naming a kind that is built once from all its keys
/// implies `unchanging`.
inline result<plan_report> plan_for_named(const kind_info& kind, const plan_request& request,
                                          needs wanted) {
  wanted.unchanging |= kind.build != nullptr || kind.build_of_two_sets != nullptr;
  return plan_for(kind, request, wanted);
}

/// Plans the request with every kind that has the needed abilities, and ranks the plans by the
/// value that the request leaves open:
///
///     given                         best
///     capacity and rate             fewest bytes
///     capacity and size             lowest rate
///     size and rate                 most keys
///     rate alone, growing needed    fewest bits per key after growth by 1000 times
///
/// Equal plans keep the order of `among`. If bytes are compared, plans that need at most a tenth
/// more than the smallest also compete. The plan whose queries read the fewest cache lines is then
/// recommended.
///
/// Fails with invalid_argument if the request is not sufficient, if the needs contradict each
/// other, or if no kind can meet it. A sufficient request has two of capacity, rate and size, or a
/// number of hashes with capacity or size, or, with growing, a rate alone. Fails with unsupported
/// if no kind has all needed abilities. Calls each kind's planner once.
result<advice> advise(const plan_request& request, const needs& wanted,
                      std::span<const kind_info> among = kinds());

}  // namespace bloomset
