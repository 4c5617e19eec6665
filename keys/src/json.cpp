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
    if (!integer) return other("a number that is no integer, which can be written in many ways");
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

class json final : public reader {
 public:
  json(std::string pointer, std::vector<std::string> tokens)
      : pointer_(std::move(pointer)), walk_(std::move(tokens)) {}

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    if (record.empty()) return {};
    walk_.begin();
    (void)nlohmann::json::sax_parse(record.begin(), record.end(), &walk_);
    switch (walk_.found()) {
      case pointer_walk::finding::text:
        if (!walk_.text().empty()) keys.add(walk_.text());
        return {};
      case pointer_walk::finding::another_type:
        return fail(errc::invalid_argument,
                    fmt::format("what stands at {} is {}; a key is a string or an integer",
                                in_quotes(pointer_), walk_.type()));
      case pointer_walk::finding::broken:
        return fail(
            errc::invalid_argument,
            fmt::format("this is no JSON document: it breaks at byte {}", walk_.broken_at()));
      case pointer_walk::finding::huge_number:
        return fail(errc::invalid_argument,
                    fmt::format("the number that ends at byte {} is too large to be read",
                                walk_.broken_at()));
      case pointer_walk::finding::nothing:
        break;
    }
    return {};
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
              "a JSON document a line, the key is the string or integer at the pointer, as "
              "in json:/user/email; what is missing, null or empty is no key",
          .make = make_json};
}

}  // namespace bloomset::keys
