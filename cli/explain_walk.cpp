#include "explain_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/units.hpp>
#include <iterator>
#include <map>
#include <set>

#include "explain_draw.hpp"

namespace bloomery::cli {
namespace {

constexpr std::size_t columns = 81;  // the newline included

std::string counted(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// Walks through a story. The filter alone answers and holds the cells; what is kept here besides
/// is what no filter knows: the elements themselves, to tell a false positive from a true one.
class array_walk {
 public:
  array_walk(taught_array& filter, const taught_family& family, const palette& paint)
      : filter_(filter), family_(family), paint_(paint), setters_(filter.places()) {}

  std::string tell(const std::vector<explain_step>& steps) {
    opening();
    for (const explain_step& step : steps) {
      text_ += fmt::format("\n{}\n", paint_(tint::strong, heading(step)));
      if (const auto shared = family_.preface(step.element); !shared.empty()) say(shared, 2, 4);
      switch (step.what) {
        case explain_step::verb::insert:
          insert(step.element);
          break;
        case explain_step::verb::check:
          check(step.element);
          break;
        case explain_step::verb::erase:
          erase(step.element);
          break;
      }
    }
    summary();
    return std::move(text_);
  }

 private:
  using cells = std::vector<unsigned>;

  static std::string heading(const explain_step& step) {
    static constexpr std::string_view verbs[] = {"insert", "check", "erase"};
    return fmt::format("{} {}", verbs[static_cast<std::size_t>(step.what)],
                       printable(step.element));
  }

  void say(std::string_view what, std::size_t first, std::size_t rest) {
    text_ += wrapped(what, first, rest);
  }

  void conclude(tint how, std::string_view verdict, std::string_view why) {
    // Coloured after wrapping: the verdict stands at the start of the line.
    std::string lines = wrapped(fmt::format("{}{}", verdict, why), 2, 4);
    lines.replace(2, verdict.size(), paint_(how, verdict));
    text_ += lines;
  }

  cells snapshot() const {
    cells now;
    now.reserve(filter_.places());
    for (std::uint64_t p = 0; p < filter_.places(); ++p) now.push_back(filter_.cell(p));
    return now;
  }

  void picture(cells now, std::vector<mark> marks, bool all_rows = false) {
    text_ += draw({.label = std::string(filter_.cell_name()),
                   .cells = std::move(now),
                   .marks = std::move(marks),
                   .largest = filter_.largest(),
                   .all_rows = all_rows},
                  paint_);
  }

  std::vector<std::uint64_t> places_of(std::string_view element) const {
    std::vector<std::uint64_t> places;
    for (unsigned i = 0; i < family_.functions(); ++i) {
      places.push_back(family_.position(element, i, filter_.places()));
    }
    return places;
  }

  /// A line for each function: its working, and what `remark` says of its place.
  template <class Remark>
  void functions(std::string_view element, Remark&& remark) {
    std::set<std::uint64_t> met;
    const auto places = places_of(element);
    for (unsigned i = 0; i < family_.functions(); ++i) {
      const std::uint64_t p = places[i];
      const std::string what =
          met.insert(p).second ? remark(p) : fmt::format("{} {} once more", filter_.cell_name(), p);
      const std::string head =
          fmt::format("h{}({}) = {}:", i + family_.first_index(), printable(element),
                      family_.working(element, i, filter_.places()));
      const std::string line = fmt::format("  {} {}\n", head, what);
      if (width_of(line) <= columns) {
        text_ += line;
      } else {
        say(head, 2, 6);
        say(what, 6, 6);
      }
    }
  }

  void opening() {
    text_ += fmt::format("{}\n", paint_(tint::strong, filter_.title()));
    for (const std::string& line : family_.definition()) say(line, 2, 6);
    text_ += '\n';
    picture(snapshot(), std::vector<mark>(filter_.places()));
  }

  void insert(const std::string& element) {
    const cells before = snapshot();
    const insert_outcome outcome = filter_.insert(element);
    const cells after = snapshot();
    functions(element, [&](std::uint64_t p) {
      const std::string name = fmt::format("{} {}", filter_.cell_name(), p);
      if (before[p] == filter_.largest() && filter_.largest() > 1) {
        return fmt::format("{} sticks at {}", name, after[p]);
      }
      if (before[p] == after[p]) return fmt::format("{} is {} already", name, after[p]);
      return fmt::format("{} from {} to {}{}", name, before[p], after[p],
                         filter_.largest() > 1 && after[p] == filter_.largest()
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
    const bool known = members_[element]++ != 0;
    ever_.insert(element);
    if (outcome == insert_outcome::inserted) {
      conclude(tint::good, "new", fmt::format(": a {} was 0", filter_.cell_name()));
    } else {
      conclude(tint::known, "perhaps not new",
               fmt::format(": no {} was 0{}", filter_.cell_name(),
                           known ? ", and indeed it was inserted before"
                                 : ", though it was never in: the filter cannot tell"));
    }
  }

  std::string set_by(std::uint64_t p) const {
    const auto& who = setters_[p];
    if (who.empty()) {
      return filter_.cell(p) == filter_.largest() ? "by none that is still in: it sticks"
                                                  : "by none that is still in";
    }
    std::vector<std::string> names;
    std::transform(who.begin(), who.end(), std::back_inserter(names),
                   [](const std::string& name) { return printable(name); });
    const std::string last = names.back();
    names.pop_back();
    if (names.empty()) return "by " + last;
    return fmt::format("by {} and {}", fmt::join(names, ", "), last);
  }

  bool is_member(const std::string& element) const {
    const auto found = members_.find(element);
    return found != members_.end() && found->second != 0;
  }

  std::string absence(const std::string& element) const {
    return fmt::format("{} {}", printable(element),
                       ever_.count(element) != 0 ? "is no longer in" : "was never inserted");
  }

  void looked_at(const std::string& element, const cells& now, mark how) {
    std::vector<mark> marks(now.size());
    for (const std::uint64_t p : places_of(element)) marks[p] = how;
    picture(now, std::move(marks));
  }

  std::string first_zero(const std::string& element, const cells& now) const {
    for (const std::uint64_t p : places_of(element)) {
      if (now[p] == 0) return fmt::format("{} {} is 0", filter_.cell_name(), p);
    }
    return {};
  }

  void check(const std::string& element) {
    const cells now = snapshot();
    functions(element, [&](std::uint64_t p) {
      return fmt::format("{} {} is {}{}", filter_.cell_name(), p, now[p],
                         now[p] == 0 ? std::string() : ", set " + set_by(p));
    });
    looked_at(element, now, mark::asked);
    const bool member = is_member(element);
    if (!filter_.may_contain(element)) {
      const std::string zero = first_zero(element, now);
      if (member) {
        ++false_negatives_;
        conclude(tint::bad, "certainly not",
                 fmt::format(", says the filter, and is wrong: {}, since an element that was never "
                             "inserted was erased",
                             zero));
        return;
      }
      ++negatives_;
      conclude(tint::good, "certainly not",
               fmt::format(": {}, and inserting {} would have set it", zero, printable(element)));
      return;
    }
    if (member) {
      ++true_positives_;
      conclude(tint::good, "maybe",
               fmt::format(", and it is: {} was inserted", printable(element)));
      return;
    }
    ++false_positives_;
    conclude(tint::bad, "maybe", fmt::format(", but a false positive: {}", absence(element)));
    list_setters(element);
  }

  void list_setters(const std::string& element) {
    std::set<std::uint64_t> met;
    for (const std::uint64_t p : places_of(element)) {
      if (!met.insert(p).second) continue;
      say(fmt::format("{} {} was set {}", filter_.cell_name(), p, set_by(p)), 4, 6);
    }
  }

  void erase(const std::string& element) {
    const cells before = snapshot();
    const bool erased = filter_.erase(element);
    const cells after = snapshot();
    functions(element, [&](std::uint64_t p) {
      const std::string name = fmt::format("{} {}", filter_.cell_name(), p);
      if (before[p] != after[p]) return fmt::format("{} from {} to {}", name, before[p], after[p]);
      if (erased) return fmt::format("{} sticks at {}", name, after[p]);
      return fmt::format("{} stays {}", name, after[p]);
    });
    looked_at(element, after, erased ? mark::lowered : mark::asked);
    if (!erased) {
      conclude(tint::known, "nothing to erase",
               fmt::format(": {}, so {} certainly is not in", first_zero(element, before),
                           printable(element)));
      return;
    }
    if (!is_member(element)) {
      conclude(
          tint::bad, "erased",
          fmt::format(", but should not have been: {}; the counts were those of others, who may "
                      "be missed now",
                      absence(element)));
      list_setters(element);
      return;
    }
    const std::uint64_t left = --members_[element];
    if (left == 0) {
      for (const std::uint64_t p : places_of(element)) std::erase(setters_[p], element);
    }
    conclude(tint::good, "erased",
             left == 0
                 ? std::string()
                 : fmt::format(": {} is still in, {}", printable(element), counted(left, "time")));
  }

  void summary() {
    text_ += fmt::format("\n{}\n", paint_(tint::strong, "in the end"));
    const cells now = snapshot();
    picture(now, std::vector<mark>(now.size()), true);
    std::vector<std::size_t> set;
    for (std::size_t p = 0; p < now.size(); ++p) {
      if (now[p] != 0) set.push_back(p);
    }
    const bool counters = filter_.largest() > 1;
    say(fmt::format("{}: {}", counters ? "counters above 0" : "bits set",
                    set.empty() ? "none" : fmt::format("{}", fmt::join(set, " "))),
        2, 4);
    if (counters) {
      say(fmt::format("counters at {}, which stick: {}", filter_.largest(),
                      std::count(now.begin(), now.end(), filter_.largest())),
          2, 4);
    }
    rates(set.size());
    lookups();
  }

  void rates(std::size_t set) {
    const auto members = static_cast<std::uint64_t>(std::count_if(
        members_.begin(), members_.end(), [](const auto& m) { return m.second != 0; }));
    const auto n = static_cast<double>(members);
    const auto m = static_cast<double>(filter_.places());
    const unsigned k = family_.functions();
    say(fmt::format("n = {}, m = {}, k = {}", counted(members, "distinct element"),
                    counted(filter_.places(), filter_.cell_name()), counted(k, "function")),
        2, 4);
    say(fmt::format("fill: {} of {} = {:.1f}%", set, m, 100 * filter_.fill()), 2, 4);
    say(fmt::format("rate of false positives now: fill^k = {:.3g}^{} = {}", filter_.fill(), k,
                    format_rate(filter_.current_fpr())),
        2, 4);
    say(fmt::format("the classic formula for this n, m, k: (1 - e^(-kn/m))^k = {}",
                    format_rate(formulas::bloom_fpr_classic(n, m, k))),
        2, 4);
    if (n > 0) {
      say(fmt::format("the best k for this n and m: (m/n) ln 2 = {:.2f}",
                      formulas::optimal_hashes(n, m)),
          2, 4);
    }
  }

  void lookups() {
    const unsigned all = true_positives_ + negatives_ + false_positives_ + false_negatives_;
    if (all == 0) return;
    say(fmt::format(
            "{}: {} maybe and a member, {} certainly not, {}{}", counted(all, "lookup"),
            true_positives_, negatives_, counted(false_positives_, "false positive"),
            false_negatives_ == 0 ? "" : ", " + counted(false_negatives_, "false negative")),
        2, 4);
  }

  taught_array& filter_;
  const taught_family& family_;
  const palette& paint_;
  std::vector<std::vector<std::string>> setters_;  ///< of each place, elements that are in
  std::map<std::string, std::uint64_t> members_;   ///< copies that are in
  std::set<std::string> ever_;
  unsigned true_positives_ = 0;
  unsigned false_positives_ = 0;
  unsigned negatives_ = 0;
  unsigned false_negatives_ = 0;
  std::string text_;
};

}  // namespace

std::string walk_array(taught_array& filter, const taught_family& family,
                       const std::vector<explain_step>& steps, const palette& paint) {
  return array_walk(filter, family, paint).tell(steps);
}

}  // namespace bloomery::cli
