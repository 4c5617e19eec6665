#include "explain_teller.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace bloomery::cli {

std::string counted(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  std::transform(names.begin(), names.end(), std::back_inserter(shown),
                 [](const std::string& name) { return printable(name); });
  if (shown.size() < 2) return shown.empty() ? "" : shown.front();
  const std::string last = shown.back();
  shown.pop_back();
  return fmt::format("{} and {}", fmt::join(shown, ", "), last);
}

std::string teller::tell(const std::vector<explain_step>& steps) {
  static constexpr std::array<std::string_view, 3> verbs = {"insert", "check", "erase"};
  opening();
  for (const explain_step& step : steps) {
    append("\n");
    title(fmt::format("{} {}", verbs.at(static_cast<std::size_t>(step.what)),
                      printable(step.element)));
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
  append("\n");
  title("in the end");
  closing();
  lookups();
  return std::move(text_);
}

void teller::title(std::string_view what) {
  text_ += paint_(tint::strong, what) + '\n';
}

void teller::say(std::string_view what, std::size_t first, std::size_t rest) {
  text_ += wrapped(what, first, rest);
}

void teller::say_pair(std::string_view head, std::string_view tail) {
  constexpr std::size_t columns = 80;
  const std::string line = fmt::format("{} {}", head, tail);
  if (2 + width_of(line) <= columns) {
    text_ += fmt::format("  {}\n", line);
  } else {
    say(head, 2, 6);
    say(tail, 6, 6);
  }
}

void teller::conclude(tint how, std::string_view verdict, std::string_view why) {
  // Coloured after wrapping; the verdict is short and stands at the start of the first line.
  std::string lines = wrapped(fmt::format("{}{}", verdict, why), 2, 4);
  lines.replace(2, verdict.size(), paint_(how, verdict));
  text_ += lines;
}

bool teller::judge(const std::string& element, bool found, std::string_view missing,
                   std::string_view deed) {
  const bool member = is_member(element);
  if (found && member) {
    ++true_positives_;
    conclude(tint::good, "maybe", fmt::format(", and it is: {} was inserted", printable(element)));
  } else if (found) {
    ++false_positives_;
    conclude(tint::bad, "maybe", fmt::format(", but a false positive: {}", absence(element)));
  } else if (member) {
    ++false_negatives_;
    conclude(
        tint::bad, "certainly not",
        fmt::format(", says the filter, and is wrong: {}, since an element that was not in was "
                    "erased",
                    missing));
  } else {
    ++negatives_;
    conclude(
        tint::good, "certainly not",
        fmt::format(": {}, and inserting {} would have {}", missing, printable(element), deed));
  }
  return found && !member;
}

void teller::not_new(const std::string& element, bool was_in, std::string_view sign) {
  conclude(
      tint::known, "perhaps not new",
      fmt::format(": {}{}", sign,
                  was_in ? ", and indeed it was inserted before"
                         : fmt::format(", though {}: the filter cannot tell", absence(element))));
}

void teller::erased_one(const std::string& element, std::uint64_t left) {
  conclude(tint::good, "erased",
           left == 0
               ? std::string()
               : fmt::format(": {} is still in, {}", printable(element), counted(left, "time")));
}

void teller::join(const std::string& element) {
  ++members_[element];
  ever_.insert(element);
}

std::uint64_t teller::leave(const std::string& element) {
  const auto found = members_.find(element);
  const std::uint64_t left = --found->second;
  if (left == 0) members_.erase(found);
  return left;
}

bool teller::is_member(const std::string& element) const {
  return members_.contains(element);
}

std::string teller::absence(const std::string& element) const {
  return fmt::format("{} {}", printable(element),
                     ever_.contains(element) ? "is no longer in" : "was never inserted");
}

void teller::lookups() {
  const unsigned all = true_positives_ + negatives_ + false_positives_ + false_negatives_;
  if (all == 0) return;
  say(fmt::format("{}: {} maybe and a member, {} certainly not, {}{}", counted(all, "lookup"),
                  true_positives_, negatives_, counted(false_positives_, "false positive"),
                  false_negatives_ == 0 ? "" : ", " + counted(false_negatives_, "false negative")));
}

}  // namespace bloomery::cli
