#pragma once

// What every walk tells alike: headings, verdicts, and who is in the set. A filter does not know
// its elements; to tell a false positive from a true one, somebody has to.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "explain_text.hpp"
#include "explain_walk.hpp"

namespace bloomery::cli {

/// `1 bit`, `2 bits`.
std::string counted(std::uint64_t n, std::string_view what);

/// `a`, `a and b`, `a, b and c`, each printable.
std::string listed(const std::vector<std::string>& names);

class teller {
 public:
  explicit teller(const palette& paint) : paint_(paint) {}
  teller(const teller&) = delete;
  teller& operator=(const teller&) = delete;
  virtual ~teller() = default;

  /// The whole walk.
  std::string tell(const std::vector<explain_step>& steps);

 protected:
  virtual void opening() = 0;
  virtual void insert(const std::string& element) = 0;
  virtual void check(const std::string& element) = 0;
  virtual void erase(const std::string& element) = 0;
  virtual void closing() = 0;

  void title(std::string_view what);
  /// Text in lines of at most 80 columns.
  void say(std::string_view what, std::size_t first = 2, std::size_t rest = 4);
  /// `head` and `tail` in one line if they fit, else one below the other.
  void say_pair(std::string_view head, std::string_view tail);
  void conclude(tint how, std::string_view verdict, std::string_view why = "");
  void append(std::string_view text) { text_ += text; }
  const palette& paint() const noexcept { return paint_; }

  /// What a check found: tells the verdict, and says whether it is a false positive, whose cause is
  /// then to be shown. `missing` is why the filter says no, and `deed` what an insert would have
  /// done about it.
  bool judge(const std::string& element, bool found, std::string_view missing,
             std::string_view deed);
  /// What an insert that was not new means.
  void not_new(const std::string& element, bool was_in, std::string_view sign);
  /// Copies of the element that are left after one was erased.
  void erased_one(const std::string& element, std::uint64_t left);

  void join(const std::string& element);
  /// Takes one copy out; says how many are left. Precondition: is_member().
  std::uint64_t leave(const std::string& element);
  bool is_member(const std::string& element) const;
  const std::map<std::string, std::uint64_t>& members() const noexcept { return members_; }
  /// `12 was never inserted`.
  std::string absence(const std::string& element) const;

 private:
  void lookups();

  const palette& paint_;
  std::map<std::string, std::uint64_t> members_;  ///< copies that are in, never zero
  std::set<std::string> ever_;
  unsigned true_positives_ = 0;
  unsigned false_positives_ = 0;
  unsigned negatives_ = 0;
  unsigned false_negatives_ = 0;
  std::string text_;
};

}  // namespace bloomery::cli
