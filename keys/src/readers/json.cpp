// One member of JSON documents, one document per line. A pointer names the member (RFC 6901).

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

/// Follows a pointer through the events of a parser, without building the document. Memory is
/// bounded by the document's longest string and its depth, one bit per level.
class pointer_walk final : public nlohmann::json_sax<nlohmann::json> {
 public:
  enum class finding : std::uint8_t { nothing, text, another_type, broken, huge_number };

  explicit pointer_walk(std::vector<std::string> tokens)
      : tokens_(std::move(tokens)), open_(tokens_.size()) {}

  void begin() noexcept {
    level_ = on_path_ = 0;
    found_ = finding::nothing;
  }
  finding found() const noexcept { return found_; }
  const std::string& text() const noexcept { return text_; }
  std::string_view type() const noexcept { return type_; }
  std::size_t broken_at() const noexcept { return broken_at_; }
  void break_at(std::size_t position) noexcept { broken_at_ = position; }

  bool null() override {
    (void)arrives_at_target();
    return true;
  }
  bool boolean(bool) override { return other("true or false"); }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override { return number(value); }
  bool number_float(number_float_t, const string_t& written) override {
    // Integers beyond 64 bits are reported here too. Their digits are the key.
    const bool integer = written.find_first_not_of("-0123456789") == string_t::npos;
    if (!integer)
      return other("a number that is not an integer, which can be written in many ways");
    return number(written);
  }
  bool string(string_t& value) override {
    if (arrives_at_target()) {
      found_ = finding::text;
      text_.swap(value);
    }
    return true;
  }
  bool binary(binary_t&) override { return true; }  // not in JSON
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool key(string_t& name) override {
    if (level_ == on_path_) open_[level_ - 1].wanted = name == tokens_[level_ - 1];
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& why) override {
    constexpr int out_of_range = 406;
    found_ = why.id == out_of_range ? finding::huge_number : finding::broken;
    broken_at_ = position;
    return false;
  }

 private:
  struct container {
    bool array = false;
    bool wanted = false;     // an object's: whether the value that follows is on the path
    std::uint64_t next = 0;  // an array's: the index of the value that follows
  };

  /// Whether a value is on the path. Call it once per value. Of members with the same name the last
  /// one counts, so a value found in an earlier one is forgotten.
  bool arrives_on_path() {
    bool wanted = level_ == 0;
    if (level_ != 0 && level_ == on_path_) {
      container& in = open_[level_ - 1];
      const std::string& token = tokens_[level_ - 1];
      wanted = in.array ? fmt::format_int(in.next++).str() == token : in.wanted;
    }
    if (wanted) found_ = finding::nothing;
    return wanted;
  }
  bool arrives_at_target() { return arrives_on_path() && level_ == tokens_.size(); }

  template <class Number>
  bool number(const Number& value) {
    if (arrives_at_target()) {
      found_ = finding::text;
      text_ = fmt::format("{}", value);
    }
    return true;
  }
  bool other(std::string_view type) {
    if (arrives_at_target()) {
      found_ = finding::another_type;
      type_ = type;
    }
    return true;
  }
  bool open(bool array) {
    if (arrives_on_path()) {
      if (level_ == tokens_.size()) {
        found_ = finding::another_type;
        type_ = array ? "an array" : "an object";
      } else {
        open_[level_] = {.array = array};
        on_path_ = level_ + 1;
      }
    }
    ++level_;
    return true;
  }
  bool close() noexcept {
    --level_;
    on_path_ = std::min(on_path_, level_);
    return true;
  }

  std::vector<std::string> tokens_;
  std::vector<container> open_;  // of the path
  std::size_t level_ = 0;        // containers that are open
  std::size_t on_path_ = 0;      // those of them that are on the path, from the outermost on
  finding found_ = finding::nothing;
  std::string text_;
  std::string_view type_;
  std::size_t broken_at_ = 0;
};

/// The value of four hexadecimal digits; -1 if they are none.
int code_unit(std::string_view digits) noexcept {
  int value = 0;
  for (const char c : digits.substr(0, 4)) {
    const int digit = hex_value(c);
    if (digit < 0) return -1;
    value = 16 * value + digit;
  }
  return digits.size() < 4 ? -1 : value;
}
bool is_high(int unit) noexcept {
  return unit >= 0xd800 && unit < 0xdc00;
}
bool is_low(int unit) noexcept {
  return unit >= 0xdc00 && unit < 0xe000;
}

/// A document as Python writes it, in the form of RFC 8259: NaN and the infinities become another
/// number that is no integer, and every half of a surrogate pair without the other
/// `stands_for_half`.
class python_json {
 public:
  python_json(std::string_view text, std::string_view stands_for_half)
      : text_(text), stands_for_half_(stands_for_half) {
    while (at_ < text_.size()) {
      if (in_string_) {
        in_string();
      } else {
        outside();
      }
    }
  }

  const std::string& text() const noexcept { return made_; }

 private:
  void copy(std::size_t n) {
    made_ += text_.substr(at_, n);
    at_ += n;
  }
  void replace(std::size_t n, std::string_view by) {
    made_ += by;
    at_ += n;
  }

  void in_string() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with('"')) in_string_ = false;
    if (rest.starts_with("\\u")) return escape(rest);
    if (rest.starts_with('\\')) return copy(2);
    // In bytes: 0xed and a byte from 0xa0 begin the three that UTF-8 would have.
    if (rest.size() >= 3 && rest[0] == '\xed' && (rest[1] & 0xe0) == 0xa0 &&
        (rest[2] & 0xc0) == 0x80) {
      return replace(3, stands_for_half_);
    }
    copy(1);
  }

  void escape(std::string_view rest) {
    const int unit = code_unit(rest.substr(2));
    const bool low_follows =
        rest.size() > 8 && rest.substr(6, 2) == "\\u" && is_low(code_unit(rest.substr(8)));
    if (is_high(unit) && low_follows) return copy(12);
    if (is_high(unit) || is_low(unit)) return replace(6, stands_for_half_);
    copy(2);
  }

  void outside() {
    constexpr std::string_view before = "[{:, \t\r\n";
    constexpr std::string_view after = "]},: \t\r\n";
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with('"')) in_string_ = true;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (!rest.starts_with(word)) continue;
      const bool begins = at_ == 0 || before.find(text_[at_ - 1]) != std::string_view::npos;
      const bool ends =
          rest.size() == word.size() || after.find(rest[word.size()]) != std::string_view::npos;
      if (begins && ends) return replace(word.size(), "0.5");
    }
    copy(1);
  }

  std::string_view text_;
  std::string_view stands_for_half_;
  std::size_t at_ = 0;
  bool in_string_ = false;
  std::string made_;
};

class json final : public reader {
 public:
  json(std::string pointer, std::vector<std::string> tokens)
      : pointer_(std::move(pointer)), walk_(std::move(tokens)) {}

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    // The parser would take a zero byte for the end.
    if (const auto zero = record.find('\0'); zero != std::string_view::npos) {
      return fail(errc::invalid_argument,
                  fmt::format("this is not a JSON document: the error is at byte {}", zero + 1));
    }
    walk(record);
    if (walk_.found() == pointer_walk::finding::broken) {
      if (auto ok = walk_python(record); !ok) return ok;
    }
    switch (walk_.found()) {
      case pointer_walk::finding::text:
        if (!walk_.text().empty()) keys.add(walk_.text());
        return {};
      case pointer_walk::finding::another_type:
        return fail(errc::invalid_argument,
                    fmt::format("the value at {} is {}; a key is a string or an integer",
                                in_quotes(pointer_), walk_.type()));
      case pointer_walk::finding::broken:
        return fail(
            errc::invalid_argument,
            fmt::format("this is not a JSON document: the error is at byte {}", walk_.broken_at()));
      case pointer_walk::finding::huge_number:
        return fail(errc::invalid_argument,
                    fmt::format("the number that ends at byte {} is too large to be read",
                                walk_.broken_at()));
      case pointer_walk::finding::nothing:
        break;
    }
    return {};
  }

  void walk(std::string_view document) {
    walk_.begin();
    (void)nlohmann::json::sax_parse(document.begin(), document.end(), &walk_);
  }

  /// Walks through a document that is not JSON, but may be as Python writes it. Fails if its key
  /// has half a surrogate pair. That shows if the key depends on what stands for such a half.
  result<void> walk_python(std::string_view record) {
    const std::size_t broken_at = walk_.broken_at();
    walk(python_json(record, "\xef\xbf\xbe").text());
    const auto found = walk_.found();
    const std::string text = walk_.text();
    walk(python_json(record, "\xef\xbf\xbf").text());
    if (walk_.found() == pointer_walk::finding::broken) walk_.break_at(broken_at);
    const bool is_text = found == pointer_walk::finding::text;
    if (walk_.found() == found && (!is_text || walk_.text() == text)) return {};
    return fail(errc::invalid_argument,
                fmt::format("the string at {} has half of a surrogate pair, which is not a "
                            "character and has no bytes in UTF-8",
                            in_quotes(pointer_)));
  }

  std::string pointer_;
  pointer_walk walk_;
};

result<std::unique_ptr<reader>> make_json(std::string_view pointer, purpose) {
  const auto refuse = [](std::string_view why) {
    return fail(errc::invalid_argument,
                fmt::format("{}; write for example json:/user/email (RFC 6901)", why));
  };
  if (pointer.empty()) return refuse("the pointer to the key is missing");
  std::vector<std::string> tokens;
  try {
    nlohmann::json::json_pointer parsed{std::string(pointer)};
    for (; !parsed.empty(); parsed.pop_back()) tokens.push_back(parsed.back());
  } catch (const nlohmann::json::parse_error& wrong) {
    constexpr int no_slash = 107;
    return refuse(wrong.id == no_slash ? "a pointer begins with /"
                                       : "a ~ in a pointer is written ~0, and a / in a name ~1");
  }
  std::reverse(tokens.begin(), tokens.end());
  return std::make_unique<json>(std::string(pointer), std::move(tokens));
}

}  // namespace

reader_kind json_reader() noexcept {
  return {.name = "json",
          .argument = ":POINTER",
          .summary =
              "one JSON document per line; the key is the string or integer at the pointer, as in "
              "json:/user/email; a value that is missing, null or empty is not a key",
          .make = make_json,
          .finds_part = true};
}

}  // namespace bloomset::keys
