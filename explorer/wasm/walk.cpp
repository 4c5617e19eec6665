#include "walk.hpp"

#include <fmt/format.h>

namespace bloomset::explorer {
namespace {

failure refuse(std::string why) {
  return fail(errc::invalid_argument, std::move(why));
}

/// The question's steps. Fails beyond teach::max_steps and teach::max_element_bytes.
result<std::vector<step>> steps_of(const json& asked) {
  std::vector<step> steps;
  const json all = asked.value("steps", json::array());
  if (all.size() > teach::max_steps) {
    return refuse(fmt::format("{} steps are too many to watch; give at most {}", all.size(),
                              teach::max_steps));
  }
  for (const json& each : all) {
    const std::string what = each.value("verb", "");
    std::string element = each.value("element", "");
    if (element.empty() || element.size() > teach::max_element_bytes) {
      return refuse(fmt::format("an element has 1 to {} bytes, not {}", teach::max_element_bytes,
                                element.size()));
    }
    for (std::size_t i = 0; i < teach::verb_names.size(); ++i) {
      if (teach::verb_names.at(i) == what)
        steps.push_back({static_cast<verb>(i), std::move(element)});
    }
  }
  return steps;
}

}  // namespace

result<std::uint64_t> number_of(const json& asked, std::string_view name, std::uint64_t otherwise,
                                std::uint64_t least, std::uint64_t most) {
  const double given = asked.value(std::string(name), static_cast<double>(otherwise));
  if (!(given >= static_cast<double>(least) && given <= static_cast<double>(most))) {
    return refuse(fmt::format("{} is {}; give {} to {}", name, given, least, most));
  }
  return static_cast<std::uint64_t>(given);
}

std::string_view insert_verdict(teach::member_set& members, const std::string& element,
                                insert_outcome outcome) {
  if (outcome == insert_outcome::full) return "full";
  if (outcome == insert_outcome::too_many_copies) return "too_many";
  const bool was_member = members.contains(element);
  members.add(element);
  if (outcome == insert_outcome::inserted) return was_member ? "lost" : "new";
  return was_member ? "again" : "collides";
}

std::string_view check_verdict(const teach::member_set& members, const std::string& element,
                               bool found) {
  if (members.contains(element)) return found ? "member" : "false_negative";
  return found ? "false_positive" : "absent";
}

std::string_view erase_verdict(teach::member_set& members, const std::string& element,
                               bool erased) {
  const bool is_member = members.contains(element);
  if (!erased) return is_member ? "nothing_left" : "nothing_to_erase";
  if (!is_member) return "wrongly_erased";
  members.remove(element);
  return "erased";
}

json told(const step& each) {
  return {{"verb", teach::verb_names.at(static_cast<std::size_t>(each.what))},
          {"element", each.element}};
}

result<json> walk(const json& asked) {
  const auto steps = steps_of(asked);
  if (!steps) return fail(steps.error());
  const std::string kind = asked.value("kind", "");
  if (kind == "bloom" || kind == "counting_bloom") return walk_array(asked, *steps);
  if (kind == "cuckoo") return walk_cuckoo(asked, *steps);
  if (kind == "vector_quotient") return walk_quotient(asked, *steps);
  if (kind == "scalable_bloom") return walk_chain(asked, *steps);
  if (kind == "expandable") return walk_segments(asked, *steps);
  if (kind == "blocked_bloom") return walk_blocks(asked, *steps);
  if (kind == "exact") return walk_exact(asked, *steps);
  return refuse(fmt::format("there is no walk through a filter of kind '{}'", kind));
}

}  // namespace bloomset::explorer
