// The exact filter: the equations of members and other words, and the bits of the last section. It
// is built before the first step, from all inserted words and from the others of the question.

#include <algorithm>

#include "teach/exact_system.hpp"
#include "walk.hpp"

namespace bloomset::explorer {
namespace {

json slots_of(std::uint64_t bits, unsigned slots) {
  json all = json::array();
  for (unsigned slot = 0; slot < slots; ++slot) {
    if ((bits >> slot & 1) != 0) all.push_back(slot);
  }
  return all;
}

json row_of(const teach::exact_system& system, const std::string& word) {
  const auto equation = system.equation_of(word);
  return {{"word", word},
          {"slots", slots_of(equation.slots, system.slots)},
          {"value", equation.value ? 1 : 0},
          {"passes", system.passes(word)}};
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view verdict_of(const teach::exact_system& system, const step& each) {
  if (each.what == verb::insert) return "exact_held";
  if (!system.passes(each.element)) return "exact_no_equation";
  if (has(system.members, each.element)) return "exact_yes";
  return has(system.others, each.element) ? "exact_no_bit" : "exact_unknown";
}

}  // namespace

result<json> walk_exact(const json& asked, const std::vector<step>& steps) {
  const auto slots = number_of(asked, "slots", 8, 4, 24);
  if (!slots) return fail(slots.error());
  std::vector<std::string> members;
  for (const step& each : steps) {
    if (each.what == verb::insert && !has(members, each.element)) members.push_back(each.element);
  }
  std::vector<std::string> others;
  const json given = asked.value("others", json::array());
  if (given.size() > teach::max_steps) {
    return fail(errc::invalid_argument, fmt::format("{} other words are too many to watch; give at "
                                                    "most {}",
                                                    given.size(), teach::max_steps));
  }
  for (const json& each : given) {
    const std::string word = each.is_string() ? each.get<std::string>() : "";
    if (word.empty() || word.size() > teach::max_element_bytes) {
      return fail(errc::invalid_argument, fmt::format("an element has 1 to {} bytes, not {}",
                                                      teach::max_element_bytes, word.size()));
    }
    if (!has(others, word)) others.push_back(word);
  }
  const auto system =
      teach::solve_exact(static_cast<unsigned>(*slots), std::move(members), std::move(others));
  if (!system) return fail(system.error());
  json all = {{"slots", *slots},
              {"free", json(system->free_slots)},
              {"set", slots_of(system->solution(), system->slots)},
              {"passing", system->choices[system->chosen].passing},
              {"choices", system->choices.size()}};
  for (const auto& [name, words] :
       {std::pair("members", &system->members), {"others", &system->others}}) {
    json& rows = all[name] = json::array();
    for (const std::string& word : *words) rows.push_back(row_of(*system, word));
  }
  all["empty"] = json::object();
  json& told_steps = all["steps"] = json::array();
  for (const step& each : steps) {
    json now = told(each);
    if (each.what == verb::erase) {
      now["error"] = "an exact filter cannot erase, because it is built once";
    } else {
      now["row"] = row_of(*system, each.element);
      now["verdict"] = verdict_of(*system, each);
    }
    told_steps.push_back(std::move(now));
  }
  return all;
}

}  // namespace bloomset::explorer
