#include "teach/text/text_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace bloomset::teach {

std::string counted(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
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

std::string text_walk::tell(const std::vector<step>& steps) {
  opening();
  for (const step& step : steps) {
    append("\n");
    title(fmt::format("{} {}", verb_names.at(static_cast<std::size_t>(step.what)),
                      printable(step.element)));
    switch (step.what) {
      case verb::insert:
        insert(step.element);
        break;
      case verb::check:
        check(step.element);
        break;
      case verb::erase:
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

void text_walk::title(std::string_view text) {
  text_ += paint_(tint::strong, text) + '\n';
}

void text_walk::say(std::string_view text, std::size_t indent, std::size_t hanging) {
  text_ += wrapped(text, indent, hanging);
}

void text_walk::say_pair(std::string_view head, std::string_view tail) {
  const std::string line = fmt::format("{} {}", head, tail);
  if (2 + width_of(line) <= line_columns) {
    text_ += fmt::format("  {}\n", line);
  } else {
    say(head, 2, 6);
    say(tail, 6, 6);
  }
}

void text_walk::conclude(tint how, std::string_view verdict, std::string_view reason) {
  // The colour is added after wrapping. The verdict is short, so it is whole on the first line.
  std::string lines = wrapped(fmt::format("{}{}", verdict, reason), 2, 4);
  lines.replace(2, verdict.size(), paint_(how, verdict));
  text_ += lines;
}

bool text_walk::judge(const std::string& element, bool found, std::string_view missing,
                      std::string_view effect) {
  const bool member = members_.contains(element);
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
        fmt::format(": {}, and inserting {} would have {}", missing, printable(element), effect));
  }
  return found && !member;
}

void text_walk::is_new(const std::string& element, std::string_view reason) {
  if (!members_.contains(element)) return conclude(tint::good, "new", fmt::format(": {}", reason));
  conclude(tint::bad, "new",
           fmt::format(", says the filter, and is wrong: {}, since an element that was not in was "
                       "erased",
                       reason));
}

void text_walk::nothing_to_erase(const std::string& element, std::string_view reason) {
  if (members_.contains(element)) {
    conclude(tint::bad, "nothing to erase",
             fmt::format(", says the filter, and is wrong: {}, since an element that was not in "
                         "was erased",
                         reason));
  } else {
    conclude(tint::known, "nothing to erase",
             fmt::format(": {}, so {} certainly is not in", reason, printable(element)));
  }
}

void text_walk::not_new(const std::string& element, std::string_view reason) {
  conclude(tint::known, "perhaps not new",
           fmt::format(": {}{}", reason,
                       members_.contains(element)
                           ? ", and indeed it was inserted before"
                           : fmt::format(", though {}: the filter cannot tell", absence(element))));
}

void text_walk::erased_one(const std::string& element, std::uint64_t left) {
  conclude(tint::good, "erased",
           left == 0
               ? std::string()
               : fmt::format(": {} is still in, {}", printable(element), counted(left, "time")));
}

std::string text_walk::absence(const std::string& element) const {
  return fmt::format("{} {}", printable(element),
                     members_.erased(element) ? "is no longer in" : "was never inserted");
}

void text_walk::lookups() {
  const unsigned all = true_positives_ + negatives_ + false_positives_ + false_negatives_;
  if (all == 0) return;
  say(fmt::format("{}: {} maybe and a member, {} certainly not, {}{}", counted(all, "lookup"),
                  true_positives_, negatives_, counted(false_positives_, "false positive"),
                  false_negatives_ == 0 ? "" : ", " + counted(false_negatives_, "false negative")));
}

}  // namespace bloomset::teach
