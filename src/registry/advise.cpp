#include <bloomset/advise.hpp>

#include <algorithm>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

#include "core/format.hpp"
#include "plan/checks.hpp"

namespace bloomset {
namespace {

// A filter of a higher rate is advised only to a user who names that rate.
constexpr double max_useful_fpr = 0.9;

using words = std::vector<std::string_view>;

words missing(const abilities& can, const needs& wanted) {
  words verbs;
  if (wanted.deletable && !can.erase) verbs.emplace_back("erase");
  if (wanted.counting && !can.count) verbs.emplace_back("count");
  if (wanted.growing && !can.grow) verbs.emplace_back("grow");
  return verbs;
}

words verbs_of(const needs& wanted) {
  return missing({}, wanted);
}

bool able(const kind_info& kind, const needs& wanted) {
  return kind.build_of_two_sets == nullptr && missing(kind.can, wanted).empty() &&
         (kind.can.insert || wanted.unchanging);
}

/// Bits per key above the least that its rate allows any filter.
double overhead(const plan_report& plan) {
  // A filter that always answers "maybe" needs no memory; compared with it any memory is infinitely
  // much.
  const double minimum = std::max(formulas::information_bound(plan.planned_fpr), 1e-300);
  return 8.0 * static_cast<double>(plan.bytes) / static_cast<double>(plan.capacity) / minimum;
}

/// Bits per key of a filter that has grown far, as the kinds that grow predict it.
double bits_when_grown(const plan_report& plan) {
  for (const property& each : plan.extras) {
    const auto* bits = std::get_if<double>(&each.value);
    if (each.name == "bits_per_key_after_1024fold_growth" && bits != nullptr) return *bits;
  }
  return std::numeric_limits<double>::infinity();
}

/// The value that the request leaves open, by which plans are compared.
struct yardstick {
  std::string_view claim;              ///< about the best plan
  double (*cost)(const plan_report&);  ///< the least is the best
  std::string (*figure)(const plan_report&);
  std::string_view unit = {};  ///< follows the best plan's figure
};

constexpr yardstick by_bytes = {
    .claim = "takes the least memory",
    .cost = [](const plan_report& plan) { return static_cast<double>(plan.bytes); },
    .figure = [](const plan_report& plan) { return format_bytes(plan.bytes); }};
constexpr yardstick by_rate = {
    .claim = "has the lowest rate in that memory",
    .cost = [](const plan_report& plan) { return plan.planned_fpr; },
    .figure = [](const plan_report& plan) { return format_rate(plan.planned_fpr); }};
constexpr yardstick by_keys = {
    .claim = "holds the most keys in that memory",
    .cost = [](const plan_report& plan) { return 1 / static_cast<double>(plan.capacity); },
    .figure = [](const plan_report& plan) { return format_count(plan.capacity); }};
constexpr yardstick by_overhead = {
    .claim = "wastes the least memory for its rate",
    .cost = overhead,
    .figure = [](const plan_report& plan) { return detail::format_fixed(overhead(plan), 2); },
    .unit = " times the least possible"};
constexpr yardstick by_growth = {
    .claim = "takes the least memory once it has grown a thousandfold",
    .cost = bits_when_grown,
    .figure =
        [](const plan_report& plan) { return detail::format_fixed(bits_when_grown(plan), 2); },
    .unit = " bits/key"};

const yardstick& yardstick_of(const plan_request& request, const needs& wanted) {
  // A filter that grows is judged by its later size, not by the size at which it begins.
  if (wanted.growing && request.bits == 0) return by_growth;
  if (request.capacity != 0 && request.bits != 0) return by_rate;
  if (request.bits != 0 && request.fpr != 0) return by_keys;
  if (request.fpr != 0) return by_bytes;
  return by_overhead;
}

bool better(const plan_report& a, const plan_report& b, const yardstick& by) {
  return by.cost(a) < by.cost(b);
}

// The factor in memory that fewer cache lines per query are worth.
constexpr double worth_a_line = 1.1;

/// Among the plans that need little more space than the first, the one whose queries read the
/// fewest cache lines. `ranked` is ordered by space, or else the first is the best.
std::size_t fewest_lines(std::span<const candidate> ranked, const yardstick& by) {
  if (&by != &by_bytes && &by != &by_keys) return 0;
  std::size_t best = 0;
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    if (by.cost(*ranked[i].plan) <= worth_a_line * by.cost(*ranked[0].plan) &&
        ranked[i].plan->lines_per_query < ranked[best].plan->lines_per_query) {
      best = i;
    }
  }
  return best;
}

std::string text_of_lines(const plan_report& plan) {
  return detail::format_text("{} cache line{}", plan.lines_per_query,
                             plan.lines_per_query == 1 ? "" : "s");
}

std::string reason_for(const std::vector<candidate>& ranked, std::size_t fitting,
                       std::size_t able_kinds, const needs& wanted, const yardstick& by) {
  const candidate& best = ranked.front();
  const words verbs = verbs_of(wanted);
  std::string reason;
  if (wanted.unchanging && best.kind->can.insert) {
    // True as long as the registry has no such kind, or none that fits.
    reason = "no kind here that is built once for an unchanging set fits; ";
  }
  if (fitting == 1) {
    reason += best.kind->name;
    if (able_kinds == 1 && !verbs.empty()) {
      reason +=
          detail::format_text(" is the only kind here that can {}", detail::join(verbs, " and "));
    } else if (ranked.size() == 1) {
      reason += " is the only kind here";
    } else {
      reason += " is the only kind here that meets the request";
    }
  } else if (best.plan->lines_per_query < ranked[1].plan->lines_per_query &&
             better(*ranked[1].plan, *best.plan, by)) {
    const candidate& smaller = ranked[1];
    reason += detail::format_text(
        "{} reads {} per query, against {} for {}, which {}: {}{}, against {}", best.kind->name,
        text_of_lines(*best.plan), text_of_lines(*smaller.plan), smaller.kind->name, by.claim,
        by.figure(*smaller.plan), by.unit, by.figure(*best.plan));
  } else {
    const candidate& next = ranked[1];
    const std::string among = verbs.empty()
                                  ? "of the kinds here"
                                  : "of the kinds that can " + detail::join(verbs, " and ");
    reason += detail::format_text("{} {} {}: {}{}, ", best.kind->name, by.claim, among,
                                  by.figure(*best.plan), by.unit);
    reason += better(*best.plan, *next.plan, by)
                  ? detail::format_text("against {} for {}", by.figure(*next.plan), next.kind->name)
                  : detail::format_text("no more than {}", next.kind->name);
  }
  if (wanted.unchanging) {
    reason += detail::format_text("; no filter of that rate can do with less than {:.2f} bits/key",
                                  formulas::information_bound(best.plan->planned_fpr));
  }
  return reason;
}

result<void> check_sufficient(const plan_request& request, const needs& wanted) {
  const int known = (request.capacity != 0) + (request.fpr != 0) + (request.bits != 0);
  const bool by_hashes = request.hashes != 0 && (request.capacity != 0 || request.bits != 0);
  const bool rate_alone = known == 1 && request.fpr != 0;
  if (known < 2 && !by_hashes && !(wanted.growing && rate_alone)) {
    return fail(errc::invalid_argument,
                "the filter's size is not determined; give two of capacity, rate and memory");
  }
  return {};
}

}  // namespace

result<plan_report> plan_for(const kind_info& kind, const plan_request& request,
                             const needs& wanted) {
  if (const words lacking = missing(kind.can, wanted); !lacking.empty()) {
    return detail::format_failure(errc::unsupported, "a filter of kind {} cannot {}", kind.name,
                                  detail::join(lacking, " or "));
  }
  if (!kind.can.insert && !wanted.unchanging) {
    return detail::format_failure(
        errc::unsupported, "a filter of kind {} is built once and accepts no more keys", kind.name);
  }
  auto plan = kind.plan(request);
  // The rate of a kind of two sets is that of keys outside its universe.
  const bool has_rate = kind.build_of_two_sets == nullptr;
  if (plan && has_rate && request.fpr == 0 && plan->planned_fpr > max_useful_fpr) {
    return detail::refuse(
        "{} in {} would give a rate of {}, at which a filter is nearly useless; give more memory "
        "or fewer keys",
        format_count(plan->capacity, "key"), format_bytes(plan->bytes),
        format_rate(plan->planned_fpr));
  }
  return plan;
}

result<advice> advise(const plan_request& request, const needs& wanted,
                      std::span<const kind_info> among) {
  const words verbs = verbs_of(wanted);
  if (wanted.unchanging && !verbs.empty()) {
    return detail::format_failure(
        errc::invalid_argument,
        "a set that never changes has no need to {}; leave one of the two out",
        detail::join(verbs, " and "));
  }
  if (auto ok = check_sufficient(request, wanted); !ok) return fail(std::move(ok.error()));

  const auto able_kinds = static_cast<std::size_t>(std::count_if(
      among.begin(), among.end(), [&](const kind_info& kind) { return able(kind, wanted); }));
  if (able_kinds == 0) {
    const std::string what = verbs.empty() ? "take keys one by one" : detail::join(verbs, " and ");
    return detail::format_failure(errc::unsupported, "no kind here can {}{}; leave that need out",
                                  what, verbs.size() > 1 ? " at once" : "");
  }

  advice found;
  std::optional<failure> first_failure;
  for (const kind_info& kind : among) {
    // The request does not say what other keys there are.
    if (kind.build_of_two_sets != nullptr) continue;
    candidate& added = found.ranked.emplace_back(candidate{&kind, plan_for(kind, request, wanted)});
    if (!added.plan && !first_failure && able(kind, wanted)) first_failure = added.plan.error();
  }
  const yardstick& by = yardstick_of(request, wanted);
  // Kinds with a plan come first, the better before the worse. Others keep the order of the
  // registry.
  std::sort(found.ranked.begin(), found.ranked.end(), [&](const candidate& a, const candidate& b) {
    if (a.plan.has_value() != b.plan.has_value()) return a.plan.has_value();
    if (a.plan && better(*a.plan, *b.plan, by)) return true;
    if (a.plan && better(*b.plan, *a.plan, by)) return false;
    return a.kind < b.kind;
  });
  const auto unfit = std::find_if(found.ranked.begin(), found.ranked.end(),
                                  [](const candidate& c) { return !c.plan.has_value(); });
  if (unfit == found.ranked.begin()) return fail(std::move(*first_failure));
  const auto first = found.ranked.begin();
  const auto chosen = first + static_cast<std::ptrdiff_t>(fewest_lines({first, unfit}, by));
  std::rotate(first, chosen, chosen + 1);
  found.reason = reason_for(found.ranked, static_cast<std::size_t>(unfit - found.ranked.begin()),
                            able_kinds, wanted, by);
  return found;
}

}  // namespace bloomset
