// One field of lines that a character splits. Fields are counted as cut and awk do.

#include <fmt/format.h>

#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

class fields final : public reader {
 public:
  fields(std::uint64_t number, char separator) noexcept : number_(number), separator_(separator) {}

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = without_mark(record);
    if (record.empty()) return {};
    for (std::uint64_t at = 1;; ++at) {
      const auto end = record.find(separator_);
      if (at == number_) {
        const std::string_view field = record.substr(0, end);
        if (!field.empty()) keys.refer(field);
        return {};
      }
      if (end == std::string_view::npos) {
        return fail(errc::invalid_argument, fmt::format("the line has {} field{} and no field {}",
                                                        at, at == 1 ? "" : "s", number_));
      }
      record.remove_prefix(end + 1);
    }
  }

  std::uint64_t number_;
  char separator_;
};

result<std::unique_ptr<reader>> make_fields(std::string_view argument, purpose) {
  const auto comma = argument.find(',');
  const auto number = whole_number(argument.substr(0, comma));
  if (!number || *number == 0) {
    return fail(errc::invalid_argument,
                "a field's number is missing; write fields:2, or fields:2,; where a ; separates "
                "fields (the first is 1)");
  }
  char separator = '\t';
  if (comma != std::string_view::npos) {
    const std::string_view given = argument.substr(comma + 1);
    const auto named = separator_of(given);
    if (!named) {
      return fail(errc::invalid_argument,
                  fmt::format("{} is not a separator; give one character of ASCII, \\t, or a byte "
                              "such as \\x01",
                              in_quotes(given)));
    }
    separator = *named;
  }
  return std::make_unique<fields>(*number, separator);
}

}  // namespace

reader_kind fields_reader() noexcept {
  return {.name = "fields",
          .argument = ":N[,SEP]",
          .summary =
              "field N of each line (the first is 1); SEP separates fields (default: a tab); an "
              "empty field is not a key",
          .make = make_fields,
          .keeps_cr = true,
          .finds_part = true};
}

}  // namespace bloomset::keys
