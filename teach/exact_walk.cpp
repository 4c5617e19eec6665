#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "teach/exact_system.hpp"
#include "teach/text/text_walk.hpp"
#include "teach/walks.hpp"

namespace bloomset::teach {
namespace {

constexpr std::size_t max_listed_choices = 16;

/// All that happens in a build is shown at the beginning, since the filter cannot change.
class exact_walk final : public text_walk {
 public:
  exact_walk(exact_system system, const palette& paint)
      : text_walk(paint), system_(std::move(system)) {
    for (const std::string& member : system_.members) members().add(member);
    for (const auto* const words : {&system_.members, &system_.others}) {
      for (const std::string& word : *words) widest_ = std::max(widest_, width_of(printable(word)));
    }
  }

 protected:
  void opening() override {
    title(fmt::format("an exact filter of {} and {}: {} of one bit",
                      counted(system_.members.size(), "member"),
                      counted(system_.others.size(), "other"), counted(system_.slots, "slot")));
    say("each word has an equation: the exclusive-or of three slots is a bit; slots and bit come "
        "from XXH3(word)",
        2, 6);
    if (system_.seed != 0) {
      say(fmt::format("the seed of XXH3 is {}, because with lower ones the members' equations "
                      "depend on each other",
                      system_.seed),
          2, 6);
    }
    append("\n");
    title("the equations of the members hold");
    for (const std::string& word : system_.members) row(word, "");
    append("\n");
    title("the free slots");
    choose();
    append("\n");
    title("the equations of the others");
    for (const std::string& word : system_.others) {
      row(word, system_.passes(word) ? "passes" : "-");
    }
    append("\n");
    title("the last section");
    std::vector<std::string> bits;
    bits.reserve(system_.members.size() + system_.others.size());
    for (const std::string& word : system_.members) bits.push_back(printable(word) + " 1");
    for (const std::string& word : system_.others) {
      if (system_.passes(word)) bits.push_back(printable(word) + " 0");
    }
    say(fmt::format("a bit for each word that passes, whether it is a member: {}",
                    fmt::join(bits, ", ")),
        2, 4);
  }

  // An exact filter has all steps of its build behind it.
  void insert(const std::string&) override {}
  void erase(const std::string&) override {}

  void check(const std::string& element) override {
    row(element, "");
    const bool passes = system_.passes(element);
    const auto among = [&](const std::vector<std::string>& words) {
      return std::ranges::find(words, element) != words.end();
    };
    const std::string word = printable(element);
    if (!passes) {
      conclude(tint::good, "no", ": its equation does not hold");
    } else if (among(system_.others)) {
      conclude(tint::good, "no", ": its equation holds, but its bit in the last section is 0");
    } else if (among(system_.members)) {
      conclude(tint::good, "yes", fmt::format(": {} is a member", word));
    } else {
      conclude(tint::bad, "yes or no",
               fmt::format(": {} is not in the universe, so its bit in the last section is that of "
                           "another word",
                           word));
    }
  }

  void closing() override {
    const auto passing = system_.choices[system_.chosen].passing;
    say(fmt::format("{} in the slots, and {} in the last section", counted(system_.slots, "bit"),
                    counted(system_.members.size() + passing, "bit")));
    say("a real filter has thousands of slots, so it searches by a beam instead of trying all "
        "values of the free ones, and it has a ribbon in front if there are many others");
  }

 private:
  static std::string name(unsigned slot) { return fmt::format("s{}", slot); }

  void row(const std::string& word, std::string_view verdict) {
    const auto equation = system_.equation_of(word);
    std::vector<std::string> terms;
    for (unsigned slot = 0; slot < system_.slots; ++slot) {
      if ((equation.slots >> slot & 1) != 0) terms.push_back(name(slot));
    }
    std::string text = printable(word);
    text.append(widest_ - std::min(widest_, width_of(text)), ' ');
    text = fmt::format("  {}  {:<15} = {:d}", text, fmt::format("{}", fmt::join(terms, " ^ ")),
                       equation.value);
    if (!verdict.empty()) text += fmt::format("   {}", verdict);
    append(text + '\n');
  }

  void choose() {
    const auto& free = system_.free_slots;
    if (free.empty()) {
      say("the equations of the members determine all slots");
    } else {
      std::vector<std::string> names;
      names.reserve(free.size());
      for (const unsigned slot : free) names.push_back(name(slot));
      say(fmt::format("the equations determine the other slots, whatever {} {}: {} are possible",
                      fmt::join(names, " "), free.size() == 1 ? "is" : "are",
                      counted(system_.choices.size(), "choice")),
          2, 4);
      if (system_.choices.size() <= max_listed_choices) list_choices(names);
      say(fmt::format("the choice lets the fewest others pass: {} of {}",
                      system_.choices[system_.chosen].passing, system_.others.size()));
    }
    std::string bits;
    for (unsigned slot = 0; slot < system_.slots; ++slot) {
      bits += fmt::format(" {:d}", (system_.solution() >> slot & 1) != 0);
    }
    say(fmt::format("slots:{}", bits));
  }

  void list_choices(const std::vector<std::string>& names) {
    append(fmt::format("    {}   others that pass\n", fmt::join(names, " ")));
    for (std::size_t number = 0; number < system_.choices.size(); ++number) {
      std::string line = "   ";
      for (std::size_t i = 0; i < names.size(); ++i) {
        line += fmt::format(" {:>{}}", number >> i & 1, names[i].size());
      }
      append(fmt::format("{}   {}{}\n", line, system_.choices[number].passing,
                         number == system_.chosen ? "  <" : ""));
    }
  }

  exact_system system_;
  std::size_t widest_ = 0;
};

}  // namespace

result<std::string> walk_exact(unsigned slots, const std::vector<std::string>& members,
                               const std::vector<std::string>& others,
                               const std::vector<step>& steps, const palette& paint) {
  auto system = solve_exact(slots, members, others);
  if (!system) return fail(std::move(system.error()));
  std::vector<step> checks;
  std::ranges::copy_if(steps, std::back_inserter(checks),
                       [](const step& each) { return each.what == verb::check; });
  return exact_walk(std::move(*system), paint).tell(checks);
}

}  // namespace bloomset::teach
