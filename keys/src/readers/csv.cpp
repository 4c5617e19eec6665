// One column of comma-separated values (RFC 4180), by its number or by its name in the header line.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

/// A column's number from 1, or a name, and the character between fields.
struct csv_choice {
  std::uint64_t number = 0;  // 0: the name decides
  std::string name;
  char separator = ',';
};

/// The fields of one record after the other.
class csv_fields {
 public:
  csv_fields(std::string_view record, char separator) noexcept
      : rest_(record), separator_(separator) {}

  /// A field without its quotes. Unless a quote was doubled in it, it refers to the record.
  struct field {
    std::string_view text;
    bool is_copy = false;
  };

  bool has_more() const noexcept { return has_more_; }

  /// The next field, valid until the next call. Fails with an empty sentence if a quoted field does
  /// not end in the record. Precondition: has_more().
  result<field> next() {
    if (rest_.starts_with('"')) return next_quoted();
    const auto end = rest_.find(separator_);
    const field read{rest_.substr(0, end), false};
    has_more_ = end != std::string_view::npos;
    rest_.remove_prefix(has_more_ ? end + 1 : rest_.size());
    return read;
  }

 private:
  result<field> next_quoted() {
    rest_.remove_prefix(1);
    unquoted_.clear();
    for (bool is_copy = false;; is_copy = true) {
      const auto quote = rest_.find('"');
      if (quote == std::string_view::npos) return fail(errc::invalid_argument, "");
      const auto piece = rest_.substr(0, quote);
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) return ended(piece, is_copy);
      unquoted_.append(piece).push_back('"');
      rest_.remove_prefix(1);
    }
  }

  result<field> ended(std::string_view last_piece, bool is_copy) {
    has_more_ = !rest_.empty();
    if (has_more_ && rest_.front() != separator_) {
      return fail(errc::invalid_argument,
                  fmt::format("{} follows the quotes of a field; write a quote in a field twice",
                              in_quotes(rest_)));
    }
    if (has_more_) rest_.remove_prefix(1);
    if (!is_copy) return field{last_piece, false};
    unquoted_.append(last_piece);
    return field{unquoted_, true};
  }

  std::string_view rest_;
  char separator_;
  std::string unquoted_;
  bool has_more_ = true;
};

class csv final : public reader {
 public:
  explicit csv(csv_choice choice) : choice_(std::move(choice)), number_(choice_.number) {}

  void begin_file(std::string_view) override {
    if (!choice_.name.empty()) number_ = 0;
    in_quotes_ = false;
    header_failure_.reset();
  }
  bool is_within_record() const noexcept override { return in_quotes_; }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = without_mark(record);
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (in_quotes_) return skip_quoted(record);
    if (record.empty()) return {};
    if (header_failure_) return fail(*header_failure_);  // no other line is the header
    if (number_ == 0) {
      auto ok = read_header(record);
      if (!ok) header_failure_ = ok.error();
      return ok;
    }
    // The whole record is read, so that an open quote behind the column is seen too.
    std::uint64_t count = 0;
    for (csv_fields fields(record, choice_.separator); fields.has_more();) {
      const auto field = fields.next();
      if (!field) return wrong(field.error());
      if (++count != number_ || field->text.empty()) continue;
      if (field->is_copy) {
        keys.add(field->text);
      } else {
        keys.refer(field->text);
      }
    }
    if (count >= number_) return {};
    return fail(errc::invalid_argument, fmt::format("the line has {} field{} and no field {}",
                                                    count, count == 1 ? "" : "s", number_));
  }

  result<void> read_header(std::string_view record) {
    std::vector<std::string> names;
    for (csv_fields fields(record, choice_.separator); fields.has_more();) {
      const auto field = fields.next();
      if (!field) return wrong(field.error());
      names.emplace_back(field->text);
      if (names.back() != choice_.name) continue;
      if (number_ != 0) {
        return fail(errc::invalid_argument,
                    fmt::format("two columns have the name {}; give the number of one",
                                in_quotes(choice_.name)));
      }
      number_ = names.size();
    }
    if (number_ != 0) return {};
    return fail(
        errc::invalid_argument,
        fmt::format("no column has the name {}; the header line has {}", in_quotes(choice_.name),
                    in_quotes(fmt::format("{}", fmt::join(names, ", ")))));
  }

  /// Fails, and remembers that the record goes on in the next line.
  result<void> wrong(const failure& why) {
    if (!why.message.empty()) return fail(why);
    in_quotes_ = true;
    return fail(errc::invalid_argument,
                "a quoted field does not end in this line, and each line is read as one record; "
                "remove the line breaks from the fields first");
  }

  /// Of a record with line breaks, every line is wrong.
  result<void> skip_quoted(std::string_view record) {
    // The line begins inside quotes, as if one stood before it.
    const std::string quoted = fmt::format("\"{}", record);
    in_quotes_ = false;
    for (csv_fields fields(quoted, choice_.separator); fields.has_more();) {
      if (const auto field = fields.next(); !field) {
        in_quotes_ = field.error().message.empty();
        break;
      }
    }
    return fail(
        errc::invalid_argument,
        "the line is inside a quoted field, and each line is read as one record; remove the "
        "line breaks from the fields first");
  }

  csv_choice choice_;
  std::uint64_t number_;  // 0 before the header line
  bool in_quotes_ = false;
  std::optional<failure> header_failure_;
};

/// Reads "3", "email", "\"3\"" and each with a comma and a separator.
result<csv_choice> read_choice(std::string_view argument) {
  csv_choice choice;
  // A name may have commas: only the last one can be before a separator.
  const auto comma = argument.rfind(',');
  const auto tail = comma == std::string_view::npos ? "" : argument.substr(comma + 1);
  const bool comma_twice = argument.ends_with(",,");
  const auto separator = comma_twice ? ',' : separator_of(tail);
  if (!separator && tail.size() == 1) {
    return fail(errc::invalid_argument,
                "a separator is one character of ASCII, \\t, or a byte such as \\xa7");
  }
  if (separator) {
    choice.separator = *separator;
    argument.remove_suffix(comma_twice ? 2 : tail.size() + 1);
  }
  if (choice.separator == '"') {
    return fail(errc::invalid_argument, "a quote cannot separate fields; give another character");
  }
  if (argument.starts_with('"')) {
    csv_fields name(argument, '\0');
    const auto field = name.next();
    if (!field || name.has_more()) {
      return fail(errc::invalid_argument, "the quotes of the name do not match");
    }
    choice.name = field->text;
  } else if (const auto number = whole_number(argument)) {
    choice.number = *number;
  } else {
    choice.name = argument;
  }
  if (choice.number != 0 || !choice.name.empty()) return choice;
  return fail(errc::invalid_argument,
              "a column is missing; write csv:2 for the second, csv:email for one with a name in "
              "the header line, or csv:2,; where a ; separates fields");
}

result<std::unique_ptr<reader>> make_csv(std::string_view argument, purpose) {
  auto choice = read_choice(argument);
  if (!choice) return fail(std::move(choice.error()));
  return std::make_unique<csv>(std::move(*choice));
}

}  // namespace

reader_kind csv_reader() noexcept {
  return {.name = "csv",
          .argument = ":COLUMN[,SEP]",
          .summary =
              "a column of CSV with quotes (RFC 4180), by its number or by its name in each file's "
              "first line, separated by SEP (default: a comma); an empty field is not a key",
          .make = make_csv,
          .in_order = true,
          .finds_part = true};
}

}  // namespace bloomset::keys
