#include "explain_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/units.hpp>
#include <set>
#include <utility>

#include "explain_draw.hpp"
#include "explain_teller.hpp"

namespace bloomery::cli {
namespace {

/// The walk through bits or counters. The filter alone answers and holds the cells.
class array_walk final : public teller {
 public:
  array_walk(taught_array& filter, const taught_family& family, const palette& paint)
      : teller(paint), filter_(filter), family_(family), setters_(filter.places()) {}

 protected:
  void opening() override {
    title(filter_.title());
    for (const std::string& line : family_.definition()) say(line, 2, 6);
    say(fmt::format("beneath the {}s: + set by this insert, = set before{}, ^ looked at",
                    filter_.cell_name(), has_counters() ? ", - erased" : ""));
    append("\n");
    picture(snapshot(), std::vector<mark>(filter_.places()));
  }

  void insert(const std::string& element) override {
    const cells before = snapshot();
    const insert_outcome outcome = filter_.insert(element);
    const cells after = snapshot();
    functions(element, [&](std::uint64_t p) {
      if (before[p] == filter_.largest() && has_counters()) return sticks(p, after);
      if (before[p] == after[p]) return fmt::format("{} is {} already", name(p), after[p]);
      return fmt::format("{} from {} to {}{}", name(p), before[p], after[p],
                         after[p] == filter_.largest() && has_counters()
                             ? ", its most: from now on it sticks"
                             : "");
    });
    std::vector<mark> marks(before.size());
    for (const std::uint64_t p : places_of(element)) {
      marks[p] = before[p] == 0 ? mark::fresh : mark::again;
      auto& who = setters_[p];
      if (std::find(who.begin(), who.end(), element) == who.end()) who.push_back(element);
    }
    picture(after, std::move(marks));
    if (outcome == insert_outcome::inserted) {
      conclude(tint::good, "new", fmt::format(": a {} was 0", filter_.cell_name()));
    } else {
      not_new(element, is_member(element), fmt::format("no {} was 0", filter_.cell_name()));
    }
    join(element);
  }

  void check(const std::string& element) override {
    const cells now = snapshot();
    functions(element, [&](std::uint64_t p) {
      return fmt::format("{} is {}{}", name(p), now[p],
                         now[p] == 0 ? std::string() : ", set " + set_by(p));
    });
    looked_at(element, now, mark::asked);
    if (judge(element, filter_.may_contain(element), first_zero(element, now), "set it")) {
      list_setters(element);
    }
  }

  void erase(const std::string& element) override {
    const cells before = snapshot();
    const bool erased = filter_.erase(element);
    const cells after = snapshot();
    functions(element, [&](std::uint64_t p) {
      if (before[p] != after[p]) {
        return fmt::format("{} from {} to {}", name(p), before[p], after[p]);
      }
      return erased ? sticks(p, after) : fmt::format("{} stays {}", name(p), after[p]);
    });
    looked_at(element, after, erased ? mark::lowered : mark::asked);
    if (!erased) {
      conclude(tint::known, "nothing to erase",
               fmt::format(": {}, so {} certainly is not in", first_zero(element, before),
                           printable(element)));
    } else if (!is_member(element)) {
      conclude(tint::bad, "erased",
               fmt::format(", but should not have been: {}; {}", absence(element),
                           before == after ? "its counters stick, so nothing was changed"
                                           : "the counts were those of others, who may be missed "
                                             "now"));
      list_setters(element);
    } else {
      const std::uint64_t left = leave(element);
      if (left == 0) {
        for (const std::uint64_t p : places_of(element)) std::erase(setters_[p], element);
      }
      erased_one(element, left);
    }
  }

  void closing() override {
    const cells now = snapshot();
    picture(now, std::vector<mark>(now.size()), true);
    std::vector<std::size_t> set;
    for (std::size_t p = 0; p < now.size(); ++p) {
      if (now[p] != 0) set.push_back(p);
    }
    say(fmt::format("{}: {}", has_counters() ? "counters above 0" : "bits set",
                    set.empty() ? "none" : fmt::format("{}", fmt::join(set, " "))));
    if (has_counters()) {
      say(fmt::format("counters at {}, which stick: {}", filter_.largest(),
                      std::count(now.begin(), now.end(), filter_.largest())));
    }
    rates(set.size());
  }

 private:
  using cells = std::vector<unsigned>;

  bool has_counters() const noexcept { return filter_.largest() > 1; }
  std::string name(std::uint64_t p) const { return fmt::format("{} {}", filter_.cell_name(), p); }
  std::string sticks(std::uint64_t p, const cells& now) const {
    return fmt::format("{} sticks at {}", name(p), now[p]);
  }

  cells snapshot() const {
    cells now;
    now.reserve(filter_.places());
    for (std::uint64_t p = 0; p < filter_.places(); ++p) now.push_back(filter_.cell(p));
    return now;
  }

  void picture(cells now, std::vector<mark> marks, bool all_rows = false) {
    append(draw({.label = std::string(filter_.cell_name()),
                 .cells = std::move(now),
                 .marks = std::move(marks),
                 .largest = filter_.largest(),
                 .all_rows = all_rows},
                paint()));
  }

  void looked_at(const std::string& element, const cells& now, mark how) {
    std::vector<mark> marks(now.size());
    for (const std::uint64_t p : places_of(element)) marks[p] = how;
    picture(now, std::move(marks));
  }

  std::vector<std::uint64_t> places_of(std::string_view element) const {
    std::vector<std::uint64_t> places;
    places.reserve(family_.functions());
    for (unsigned i = 0; i < family_.functions(); ++i) {
      places.push_back(family_.position(element, i, filter_.places()));
    }
    return places;
  }

  /// A line for each function: its working, and what `remark` says of its place.
  template <class Remark>
  void functions(std::string_view element, Remark&& remark) {
    if (const auto shared = family_.preface(element); !shared.empty()) say(shared);
    std::set<std::uint64_t> met;
    const auto places = places_of(element);
    for (unsigned i = 0; i < family_.functions(); ++i) {
      const bool first_time = met.insert(places[i]).second;
      say_pair(fmt::format("h{}({}) = {}:", i + 1, printable(element),
                           family_.working(element, i, filter_.places())),
               first_time ? remark(places[i]) : name(places[i]) + " once more");
    }
  }

  std::string set_by(std::uint64_t p) const {
    if (!setters_[p].empty()) return "by " + listed(setters_[p]);
    return filter_.cell(p) == filter_.largest() ? "by none that is still in: it sticks"
                                                : "by none that is still in";
  }

  void list_setters(const std::string& element) {
    std::set<std::uint64_t> met;
    for (const std::uint64_t p : places_of(element)) {
      if (met.insert(p).second) say(fmt::format("{} was set {}", name(p), set_by(p)), 4, 6);
    }
  }

  std::string first_zero(const std::string& element, const cells& now) const {
    for (const std::uint64_t p : places_of(element)) {
      if (now[p] == 0) return name(p) + " is 0";
    }
    return {};
  }

  void rates(std::size_t set) {
    const auto n = static_cast<double>(members().size());
    const auto m = static_cast<double>(filter_.places());
    const unsigned k = family_.functions();
    say(fmt::format("n = {}, m = {}, k = {}", counted(members().size(), "distinct element"),
                    counted(filter_.places(), filter_.cell_name()), counted(k, "function")));
    say(fmt::format("fill: {} of {} = {:.1f}%", set, m, 100 * filter_.fill()));
    say(fmt::format("rate of false positives now: fill^k = {:.3g}^{} = {}", filter_.fill(), k,
                    format_rate(filter_.current_fpr())));
    say(fmt::format("the classic formula for this n, m, k: (1 - e^(-kn/m))^k = {}",
                    format_rate(formulas::bloom_fpr_classic(n, m, k))));
    if (n > 0) {
      say(fmt::format("the best k for this n and m: (m/n) ln 2 = {:.2f}",
                      formulas::optimal_hashes(n, m)));
    }
  }

  taught_array& filter_;
  const taught_family& family_;
  std::vector<std::vector<std::string>> setters_;  ///< of each place, elements that are in
};

}  // namespace

std::string walk_array(taught_array& filter, const taught_family& family,
                       const std::vector<explain_step>& steps, const palette& paint) {
  return array_walk(filter, family, paint).tell(steps);
}

}  // namespace bloomery::cli
