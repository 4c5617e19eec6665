#pragma once

// Walks through small filters. A walk's question has `kind`, its parameters and `steps`, each
// {verb: insert | check | erase, element}. The answer has the filter's shape. Per step it has the
// cells that the step read and changed, the verdict, and the figures after it.

#include <bloomset/concepts.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"
#include "teach/member_set.hpp"
#include "teach/step.hpp"

namespace bloomset::explorer {

using teach::step;
using teach::verb;

/// A whole number of the question, in [least, most].
result<std::uint64_t> number_of(const json& asked, std::string_view name, std::uint64_t otherwise,
                                std::uint64_t least, std::uint64_t most);

/// The verdict on an insert: new, again, collides (not a member, but the filter found it), lost (a
/// member that the filter did not find), full or too_many. A successful insert is recorded in
/// `members`.
std::string_view insert_verdict(teach::member_set& members, const std::string& element,
                                insert_outcome outcome);
/// On a check: member, false_positive, absent, or false_negative. Only the erase of a non-member
/// causes a false negative.
std::string_view check_verdict(const teach::member_set& members, const std::string& element,
                               bool found);
/// On an erase: erased, wrongly_erased (a non-member was erased), nothing_to_erase, or nothing_left
/// (of a member). A successful erase is recorded in `members`.
std::string_view erase_verdict(teach::member_set& members, const std::string& element, bool erased);

/// The fields that every step's answer begins with.
json told(const step& each);

/// Answers all steps, after the empty filter. If the kind cannot erase, an erase gets `refusal` as
/// its error.
template <class Teller>
void tell_steps(Teller& teller, const std::vector<step>& steps, json& all,
                std::string_view refusal = {}) {
  teller.state(all["empty"]);
  json& told_steps = all["steps"] = json::array();
  for (const step& each : steps) {
    if (each.what != verb::erase || refusal.empty()) {
      told_steps.push_back(teller.tell(each));
      continue;
    }
    json now = told(each);
    now["error"] = refusal;
    teller.state(now);
    told_steps.push_back(std::move(now));
  }
}

/// The kinds' walks.
result<json> walk_array(const json& asked, const std::vector<step>& steps);
result<json> walk_cuckoo(const json& asked, const std::vector<step>& steps);
result<json> walk_chain(const json& asked, const std::vector<step>& steps);
result<json> walk_quotient(const json& asked, const std::vector<step>& steps);
result<json> walk_blocks(const json& asked, const std::vector<step>& steps);
result<json> walk_segments(const json& asked, const std::vector<step>& steps);
result<json> walk_exact(const json& asked, const std::vector<step>& steps);

}  // namespace bloomset::explorer
