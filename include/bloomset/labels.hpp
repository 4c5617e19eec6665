#pragma once

/// Facts about a filter that its file carries beside it, as pairs of a name and a value.

#include <bloomset/result.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset {

/// The labels of a filter, for example the source, date and licence of its keys.
///
/// Names    1 to 64 of a-z, 0-9, `.`, `_` and `-`; the first is a letter. Each occurs once.
/// Values   UTF-8 without control characters, of at least one byte.
/// Limit    4092 bytes for all pairs, each with an equals sign and a line end
/// (docs/reference/format.md). Order    Labels are sorted by name, so equal labels have equal
/// bytes.
///
/// The library gives no label a meaning, and answers do not depend on them. The command line stores
/// some: `keys`, the reader that made keys of lines, `key-bytes`, the length of all keys,
/// `partition`, the reader of partitions, and `column`, of which the keys of an index are.
class label_list {
 public:
  static constexpr std::size_t max_bytes = 4092;
  using label = std::pair<std::string_view, std::string_view>;

  /// Adds a label, or replaces the one of that name. Fails with invalid_argument, and changes
  /// nothing, if name or value is not allowed or the limit is exceeded. O(size), as all calls.
  result<void> set(std::string_view name, std::string_view value);
  /// Removes the label of that name, if there is one.
  void remove(std::string_view name);
  /// Removes the labels that the other list lacks or has with another value.
  void keep_common(const label_list& other);

  /// The value of the label of that name.
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  /// The names and values, sorted by name. They refer to this list until it changes.
  std::vector<label> all() const;
  bool empty() const noexcept { return text_.empty(); }

  /// The stored form: `name=value` and a line feed for each label.
  const std::string& text() const noexcept { return text_; }
  /// Reads the stored form. Fails with corrupt for anything that text() does not return.
  static result<label_list> parse(std::string_view text);

  bool operator==(const label_list&) const = default;

 private:
  std::string text_;
};

}  // namespace bloomset
