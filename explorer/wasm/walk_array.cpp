// Bits and counters: the classic filter and the counting one, under the library's hash functions or
// the student's formulas.

#include <algorithm>
#include <bloomset/detail/core/bloom_sets.hpp>
#include <bloomset/plan/bloom_plan.hpp>
#include <bloomset/plan/formulas.hpp>
#include <set>

#include "teach/cell_array.hpp"
#include "walk.hpp"

namespace bloomset::explorer {
namespace {

constexpr std::uint64_t max_cells = 4096;
constexpr std::uint64_t max_shown_hashes = 16;

result<teach::shared_family> family_of(const json& asked, std::uint64_t m,
                                       const std::vector<step>& steps) {
  const auto formulas = asked.value("formulas", std::vector<std::string>{});
  if (!formulas.empty()) return teach::formula_family(formulas);
  auto k = number_of(asked, "hashes", 0, 0, max_shown_hashes);
  if (!k) return fail(k.error());
  if (*k == 0) {
    std::set<std::string_view> distinct;
    for (const step& each : steps) {
      if (each.what == verb::insert) distinct.insert(each.element);
    }
    const auto planned =
        plan_bloom({.capacity = std::max<std::uint64_t>(1, distinct.size()), .bits = m});
    if (!planned) return fail(planned.error());
    k = std::min<std::uint64_t>(planned->hashes, max_shown_hashes);
  }
  return teach::named_family(asked.value("family", "double"), static_cast<unsigned>(*k));
}

class array_walk {
 public:
  /// `folded` is a filter of a fraction of the size, or null. It gets the same elements, so its
  /// bits are those of the folded `filter`.
  array_walk(teach::cell_array& filter, teach::cell_array* folded, const teach::hash_family& family)
      : filter_(filter), folded_(folded), family_(family), setters_(filter.cells()) {}

  json tell(step each) {
    json now = told(each);
    const auto element = family_.element(each.element);
    if (!element) {
      now["error"] = element.error().message;
      return finished(std::move(now));
    }
    if (each.what == verb::erase && filter_.cell_name() == "bit") {
      now["error"] = "a Bloom filter cannot erase: a bit may be another element's too";
      return finished(std::move(now));
    }
    each.element = *element;
    now["element"] = *element;
    now["gone"] = members_.erased(*element);
    now["stuck"] = stuck_places(*element);
    if (const auto shared = family_.preface(*element); !shared.empty()) now["preface"] = shared;
    probes(now, *element);
    if (each.what == verb::insert) {
      now["verdict"] = insert_verdict(members_, *element, filter_.insert(*element));
      for (const std::uint64_t p : places_of(*element)) setters_[p].insert(*element);
    } else if (each.what == verb::check) {
      now["verdict"] = check_verdict(members_, *element, filter_.may_contain(*element));
    } else {
      now["verdict"] = erase_verdict(members_, *element, filter_.erase(*element));
      if (!members_.contains(*element)) {
        for (const std::uint64_t p : places_of(*element)) setters_[p].erase(*element);
      }
    }
    for (json& probe : now["probes"]) probe["after"] = filter_.cell(probe["place"]);
    if (folded_ != nullptr) {
      if (each.what == verb::insert) folded_->insert(*element);
      now["folded"]["found"] = folded_->may_contain(*element);
    }
    return finished(std::move(now));
  }

 private:
  /// The step with what is known after it, also if it was refused.
  json finished(json now) const {
    if (folded_ != nullptr) {
      now["folded"]["set"] = set_cells(*folded_);
      now["folded"]["rate"] = folded_->current_fpr();
    }
    figures(now);
    return now;
  }

  std::vector<std::uint64_t> places_of(const std::string& element) const {
    std::vector<std::uint64_t> places;
    for (unsigned i = 0; i < family_.functions(); ++i) {
      places.push_back(family_.position(element, i, filter_.cells()));
    }
    return places;
  }

  /// How many of an element's counters will not be lowered any more: "none", "some" or "all".
  std::string_view stuck_places(const std::string& element) const {
    if (filter_.max_value() == 1) return "none";
    const auto places = places_of(element);
    const auto stuck = std::ranges::count_if(
        places, [&](std::uint64_t p) { return filter_.cell(p) == filter_.max_value(); });
    if (stuck == 0) return "none";
    return static_cast<std::size_t>(stuck) == places.size() ? "all" : "some";
  }

  void probes(json& now, const std::string& element) const {
    json& all = now["probes"] = json::array();
    const auto places = places_of(element);
    for (unsigned i = 0; i < places.size(); ++i) {
      all.push_back({{"function", i + 1},
                     {"working", family_.working(element, i, filter_.cells())},
                     {"place", places[i]},
                     {"before", filter_.cell(places[i])},
                     {"setters", setters_[places[i]]}});
    }
  }

  void figures(json& now) const {
    const auto n = static_cast<double>(members_.distinct());
    const auto m = static_cast<double>(filter_.cells());
    now["n"] = members_.distinct();
    now["fill"] = filter_.fill();
    now["rate"] = filter_.current_fpr();
    now["classic_rate"] = formulas::bloom_fpr_classic(n, m, family_.functions());
    if (n > 0) now["best_k"] = formulas::optimal_hashes(n, m);
  }

  static json set_cells(const teach::cell_array& filter) {
    json set = json::array();
    for (std::uint64_t i = 0; i < filter.cells(); ++i) {
      if (filter.cell(i) != 0) set.push_back(i);
    }
    return set;
  }

  teach::cell_array& filter_;
  teach::cell_array* folded_;
  const teach::hash_family& family_;
  std::vector<std::set<std::string>> setters_;
  teach::member_set members_;
};

}  // namespace

result<json> walk_array(const json& asked, const std::vector<step>& steps) {
  const auto m = number_of(asked, "m", 10, 1, max_cells);
  if (!m) return fail(m.error());
  const auto family = family_of(asked, *m, steps);
  if (!family) return fail(family.error());
  const bool counting = asked.value("kind", "") == "counting_bloom";
  const auto counter_bits = number_of(asked, "counter_bits", 4, 4, 16);
  if (!counter_bits) return fail(counter_bits.error());
  const auto filter =
      counting ? teach::make_counting_array(*m, *family, static_cast<unsigned>(*counter_bits))
               : teach::make_bloom_array(*m, *family);
  if (!filter) return fail(filter.error());
  const auto fold = number_of(asked, "fold", 1, 1, max_cells);
  if (!fold) return fail(fold.error());
  if (auto ok = detail::check_factor(*fold, *m, "bits"); !ok) return fail(std::move(ok.error()));
  result<std::unique_ptr<teach::cell_array>> folded;
  if (*fold != 1) {
    folded = teach::make_bloom_array(*m / *fold, *family);
    if (!folded) return fail(folded.error());
  }
  array_walk teller(**filter, folded->get(), **family);
  json all = {{"places", *m},
              {"functions", (*family)->functions()},
              {"largest", (*filter)->max_value()},
              {"definition", (*family)->definition()}};
  if (*fold != 1) {
    const std::string rule = asked.value("family", "double");
    all["folded"] = {{"places", *m / *fold},
                     {"factor", *fold},
                     {"adjacent", rule == "double" || rule == "salted"}};
  }
  json& told_steps = all["steps"] = json::array();
  for (const step& each : steps) told_steps.push_back(teller.tell(each));
  return all;
}

}  // namespace bloomset::explorer
