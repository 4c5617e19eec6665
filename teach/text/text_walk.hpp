#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "teach/member_set.hpp"
#include "teach/step.hpp"
#include "teach/text/text.hpp"

namespace bloomset::teach {

/// `1 bit`, `2 bits`.
std::string counted(std::uint64_t n, std::string_view noun);

/// `a`, `a and b`, `a, b and c`, each printable.
std::string listed(const std::vector<std::string>& names);

/// A walk as text: headings, verdicts and the exact set. A subclass shows one kind of filter.
class text_walk {
 public:
  explicit text_walk(const palette& paint) : paint_(paint) {}
  text_walk(const text_walk&) = delete;
  text_walk& operator=(const text_walk&) = delete;
  virtual ~text_walk() = default;

  /// The whole walk.
  std::string tell(const std::vector<step>& steps);

 protected:
  virtual void opening() = 0;
  virtual void insert(const std::string& element) = 0;
  virtual void check(const std::string& element) = 0;
  virtual void erase(const std::string& element) = 0;
  virtual void closing() = 0;

  void title(std::string_view text);
  /// Text in lines of at most 80 columns. The first line is indented by `indent` columns, the
  /// others by `hanging`.
  void say(std::string_view text, std::size_t indent = 2, std::size_t hanging = 4);
  /// `head` and `tail` on one line if they fit, else on two.
  void say_pair(std::string_view head, std::string_view tail);
  void conclude(tint how, std::string_view verdict, std::string_view reason = "");
  void append(std::string_view text) { text_ += text; }
  const palette& paint() const noexcept { return paint_; }

  /// Writes the verdict of a check. Returns whether it is a false positive.
  /// `missing` is the reason for a negative; `effect` completes "inserting it would have ...".
  bool judge(const std::string& element, bool found, std::string_view missing,
             std::string_view effect);
  /// Writes the verdict of an insert into cells of which one was empty, for the given reason.
  void is_new(const std::string& element, std::string_view reason);
  /// Writes the verdict of an insert that changed nothing, for the given reason.
  void not_new(const std::string& element, std::string_view reason);
  /// Writes the verdict of an erase that changed nothing, for the given reason.
  void nothing_to_erase(const std::string& element, std::string_view reason);
  /// Writes the verdict of an erase that left that many copies.
  void erased_one(const std::string& element, std::uint64_t left);

  /// The exact set. Subclasses record each insert and erase in it.
  member_set& members() noexcept { return members_; }
  const member_set& members() const noexcept { return members_; }
  /// `12 was never inserted` or `12 is no longer in`.
  std::string absence(const std::string& element) const;

 private:
  void lookups();

  const palette& paint_;
  member_set members_;
  unsigned true_positives_ = 0;
  unsigned false_positives_ = 0;
  unsigned negatives_ = 0;
  unsigned false_negatives_ = 0;
  std::string text_;
};

}  // namespace bloomset::teach
