#include "teach/walks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <set>
#include <utility>

#include "teach/text/drawing.hpp"
#include "teach/text/text_walk.hpp"

namespace bloomset::teach {
namespace {

class array_walk final : public text_walk {
 public:
  array_walk(cell_array& filter, const hash_family& family, const palette& paint)
      : text_walk(paint), filter_(filter), family_(family), setters_(filter.cells()) {}

 protected:
  void opening() override {
    title(filter_.title());
    for (const std::string& line : family_.definition()) say(line, 2, 6);
    say(fmt::format("beneath the {}s: + set by this insert, = set before{}, ^ looked at",
                    filter_.cell_name(), has_counters() ? ", - erased" : ""));
    append("\n");
    picture(snapshot(), std::vector<mark>(filter_.cells()));
  }

  void insert(const std::string& element) override {
    const values before = snapshot();
    const insert_outcome outcome = filter_.insert(element);
    const values after = snapshot();
    functions(element, [&](std::uint64_t p) {
      if (before[p] == filter_.max_value() && has_counters()) return sticks(p, after);
      if (before[p] == after[p]) return fmt::format("{} is {} already", name(p), after[p]);
      return fmt::format("{} from {} to {}{}", name(p), before[p], after[p],
                         after[p] == filter_.max_value() && has_counters()
                             ? ", its most: from now on it sticks"
                             : "");
    });
    std::vector<mark> marks(before.size());
    for (const std::uint64_t p : places_of(element)) {
      marks[p] = before[p] == 0 ? mark::raised : mark::kept;
      auto& who = setters_[p];
      if (std::find(who.begin(), who.end(), element) == who.end()) who.push_back(element);
    }
    picture(after, std::move(marks));
    if (outcome == insert_outcome::inserted) {
      is_new(element, fmt::format("a {} was 0", filter_.cell_name()));
    } else {
      not_new(element, fmt::format("no {} was 0", filter_.cell_name()));
    }
    members().add(element);
  }

  void check(const std::string& element) override {
    const values now = snapshot();
    functions(element, [&](std::uint64_t p) {
      return fmt::format("{} is {}{}", name(p), now[p],
                         now[p] == 0 ? std::string() : ", set " + set_by(p));
    });
    looked_at(element, now, mark::queried);
    if (judge(element, filter_.may_contain(element), first_zero(element, now), "set it")) {
      list_setters(element);
    }
  }

  void erase(const std::string& element) override {
    const values before = snapshot();
    const bool erased = filter_.erase(element);
    const values after = snapshot();
    functions(element, [&](std::uint64_t p) {
      if (before[p] != after[p]) {
        return fmt::format("{} from {} to {}", name(p), before[p], after[p]);
      }
      return erased ? sticks(p, after) : fmt::format("{} stays {}", name(p), after[p]);
    });
    looked_at(element, after, erased ? mark::lowered : mark::queried);
    if (!erased) {
      nothing_to_erase(element, first_zero(element, before));
    } else if (!members().contains(element)) {
      conclude(tint::bad, "erased",
               fmt::format(", but should not have been: {}; {}", absence(element),
                           before == after ? "its counters stick, so nothing was changed"
                                           : "the counts were those of others, who may be missed "
                                             "now"));
      list_setters(element);
    } else {
      const std::uint64_t left = members().remove(element);
      if (left == 0) {
        for (const std::uint64_t p : places_of(element)) std::erase(setters_[p], element);
      }
      erased_one(element, left);
    }
  }

  void closing() override {
    const values now = snapshot();
    picture(now, std::vector<mark>(now.size()), true);
    std::vector<std::size_t> set;
    for (std::size_t p = 0; p < now.size(); ++p) {
      if (now[p] != 0) set.push_back(p);
    }
    say(fmt::format("{}: {}", has_counters() ? "counters above 0" : "bits set",
                    set.empty() ? "none" : fmt::format("{}", fmt::join(set, " "))));
    if (has_counters()) {
      say(fmt::format("counters at {}, which stick: {}", filter_.max_value(),
                      std::count(now.begin(), now.end(), filter_.max_value())));
    }
    rates(set.size());
  }

 private:
  using values = std::vector<unsigned>;

  bool has_counters() const noexcept { return filter_.max_value() > 1; }
  std::string name(std::uint64_t p) const { return fmt::format("{} {}", filter_.cell_name(), p); }
  std::string sticks(std::uint64_t p, const values& now) const {
    return fmt::format("{} sticks at {}", name(p), now[p]);
  }

  values snapshot() const {
    values now;
    now.reserve(filter_.cells());
    for (std::uint64_t p = 0; p < filter_.cells(); ++p) now.push_back(filter_.cell(p));
    return now;
  }

  void picture(values now, std::vector<mark> marks, bool all_rows = false) {
    append(draw({.label = std::string(filter_.cell_name()),
                 .cells = std::move(now),
                 .marks = std::move(marks),
                 .max_value = filter_.max_value(),
                 .all_rows = all_rows},
                paint()));
  }

  void looked_at(const std::string& element, const values& now, mark how) {
    std::vector<mark> marks(now.size());
    for (const std::uint64_t p : places_of(element)) marks[p] = how;
    picture(now, std::move(marks));
  }

  std::vector<std::uint64_t> places_of(std::string_view element) const {
    std::vector<std::uint64_t> places;
    places.reserve(family_.functions());
    for (unsigned i = 0; i < family_.functions(); ++i) {
      places.push_back(family_.position(element, i, filter_.cells()));
    }
    return places;
  }

  /// One line per function: its computation, and the remark on its position.
  template <class Remark>
  void functions(std::string_view element, Remark&& remark) {
    if (const auto shared = family_.preface(element); !shared.empty()) say(shared);
    std::set<std::uint64_t> met;
    const auto places = places_of(element);
    for (unsigned i = 0; i < family_.functions(); ++i) {
      const bool first_time = met.insert(places[i]).second;
      say_pair(fmt::format("h{}({}) = {}:", i + 1, printable(element),
                           family_.working(element, i, filter_.cells())),
               first_time ? remark(places[i]) : name(places[i]) + " once more");
    }
  }

  std::string set_by(std::uint64_t p) const {
    if (!setters_[p].empty()) return "by " + listed(setters_[p]);
    return filter_.cell(p) == filter_.max_value() ? "by none that is still in: it sticks"
                                                  : "by none that is still in";
  }

  void list_setters(const std::string& element) {
    std::set<std::uint64_t> met;
    for (const std::uint64_t p : places_of(element)) {
      if (met.insert(p).second) say(fmt::format("{} was set {}", name(p), set_by(p)), 4, 6);
    }
  }

  std::string first_zero(const std::string& element, const values& now) const {
    for (const std::uint64_t p : places_of(element)) {
      if (now[p] == 0) return name(p) + " is 0";
    }
    return {};
  }

  void rates(std::size_t set) {
    const auto n = static_cast<double>(members().distinct());
    const auto m = static_cast<double>(filter_.cells());
    const unsigned k = family_.functions();
    say(fmt::format("n = {}, m = {}, k = {}", counted(members().distinct(), "distinct element"),
                    counted(filter_.cells(), filter_.cell_name()), counted(k, "function")));
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

  cell_array& filter_;
  const hash_family& family_;
  std::vector<std::vector<std::string>> setters_;  ///< per position: the members that set it
};

}  // namespace

std::string walk_array(cell_array& filter, const hash_family& family,
                       const std::vector<step>& steps, const palette& paint) {
  return array_walk(filter, family, paint).tell(steps);
}

}  // namespace bloomset::teach
