#pragma once

// Walks through small filters. A walk's question has `kind`, its parameters and `steps`, each
// {verb: insert | check | erase, element}. The answer has the filter's shape and, for each step,
// the cells that it read and changed, its verdict, and the figures after it.
//
// A filter does not know its elements. The `roll` knows them, to tell a false positive from a true
// one.

#include <bloomery/concepts.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"

namespace bloomery::explorer {

enum class verb : std::uint8_t { insert, check, erase };

struct step {
  verb what;
  std::string element;
};

/// The question's steps. At most 1000, of at most 200 bytes each.
result<std::vector<step>> steps_of(const json& asked);

/// A whole number of the question in [least, most].
result<std::uint64_t> number_of(const json& asked, std::string_view name, std::uint64_t otherwise,
                                std::uint64_t least, std::uint64_t most);

/// The elements of the set, with the number of their copies.
class roll {
 public:
  bool has(const std::string& element) const { return members_.contains(element); }
  /// Whether the element was in the set and all its copies were erased.
  bool gone(const std::string& element) const { return ever_.contains(element) && !has(element); }
  std::size_t distinct() const noexcept { return members_.size(); }
  const std::map<std::string, std::uint64_t>& members() const noexcept { return members_; }

  /// The verdict on an insert: new, again, collides (a non-member that the filter knew), full,
  /// too_many. The first three add the element to the set.
  std::string_view insert(const std::string& element, insert_outcome outcome);
  /// On a check: member, false_positive, absent, or false_negative, which only the erase of a
  /// non-member can cause.
  std::string_view check(const std::string& element, bool found) const;
  /// On an erase: erased, wrongly_erased (it took a member's trace) or nothing_to_erase.
  std::string_view erase(const std::string& element, bool erased);

 private:
  std::map<std::string, std::uint64_t> members_;
  std::set<std::string> ever_;
};

/// The first fields of every step in an answer.
json told(const step& each);

/// All steps of a kind that cannot erase, after the empty filter. `refusal` says why it cannot.
template <class Teller>
void tell_without_erase(Teller& teller, const std::vector<step>& steps, std::string_view refusal,
                        json& all) {
  teller.state(all["empty"]);
  json& told_steps = all["steps"] = json::array();
  for (const step& each : steps) {
    if (each.what != verb::erase) {
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

}  // namespace bloomery::explorer
