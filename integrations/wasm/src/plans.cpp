// The functions of bloomset.wasm that need no filter: plans, and the list of kinds.

#include <bloomset/advise.hpp>
#include <bloomset/defaults.hpp>
#include <bloomset/figures.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "request.hpp"
#include "texts.hpp"

namespace bloomset::wasm {
namespace {

/// The list of the kinds' plans for a request, ranked, with the recommendation.
result<void> plan(const texts& fields, const std::byte* key) {
  auto asked = read_request(fields, key);
  if (!asked) return fail(asked.error());
  assume_default_fpr(asked->plan);
  if (asked->kind != nullptr) {
    const auto report = plan_for_named(*asked->kind, asked->plan, asked->wanted);
    if (!report) return fail(report.error());
    answer = to_json(figures_of(asked->kind->name, *report));
    return {};
  }
  const auto found = advise(asked->plan, asked->wanted);
  if (!found) return fail(found.error());
  std::vector<property> best =
      figures_of(found->recommended().kind->name, *found->recommended().plan);
  best.push_back({"reason", found->reason});
  std::string ranked;
  std::vector<property> refused;
  for (const candidate& each : found->ranked) {
    if (each.plan) {
      ranked += ranked.empty() ? "[" : ",";
      ranked += to_json(figures_of(each.kind->name, *each.plan));
    } else {
      refused.push_back({std::string(each.kind->name), each.plan.error().message});
    }
  }
  best.push_back({"refused", std::move(refused)});
  answer = to_json(best);
  answer.back() = ',';
  answer += "\"ranked\":" + ranked + "]}";
  return {};
}

result<void> list_kinds() {
  answer = "{";
  for (const kind_info& row : kinds()) {
    std::vector<property> options;
    for (const kind_option& option : row.options) {
      options.push_back(
          {std::string(option.name), detail::format_text("{}: {}", option.meaning, option.values)});
    }
    if (answer.size() > 1) answer += ',';
    answer += '"';
    answer += row.name;
    answer += "\":";
    answer += to_json({{"summary", std::string(row.summary)},
                       {"strengths", std::string(row.strengths)},
                       {"can", names_of(row.can)},
                       {"built_once", row.build != nullptr},
                       {"of_two_sets", row.build_of_two_sets != nullptr},
                       {"options", std::move(options)}});
  }
  answer += '}';
  return {};
}

}  // namespace
}  // namespace bloomset::wasm

using namespace bloomset::wasm;  // NOLINT(google-build-using-namespace): for the calls below

/// Plans a request of names and values without making a filter. The answer is JSON.
BLOOMSET_EXPORT(bloomset_plan)
std::uint32_t bloomset_plan(const char* fields, const std::uint32_t* ends, std::uint32_t count,
                            const std::byte* key) {
  return status_of(plan({fields, ends, count}, key));
}

/// All kinds with their abilities and options, as JSON.
BLOOMSET_EXPORT(bloomset_kinds) std::uint32_t bloomset_kinds() {
  return status_of(list_kinds());
}
