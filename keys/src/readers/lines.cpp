// The reader of records that are keys, without change or in one letter case.

#include <algorithm>

#include "letter_case.hpp"
#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

class lines final : public reader {
  result<void> read_record(std::string_view record, key_list& keys) override {
    keys.refer(record);
    return {};
  }
};

class lines_in_case final : public reader {
 public:
  explicit lines_in_case(letter_case which) noexcept : which_(which) {}

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    std::ranges::transform(record, keys.make(record.size()),
                           which_ == letter_case::upper ? upper : lower);
    return {};
  }

  letter_case which_;
};

result<std::unique_ptr<reader>> make_lines(std::string_view argument, purpose) {
  if (argument.empty()) return std::make_unique<lines>();
  const auto which = read_case(argument);
  if (!which) return fail(which.error());
  return std::make_unique<lines_in_case>(*which);
}

}  // namespace

reader_kind lines_reader() noexcept {
  return {.name = "lines",
          .argument = "[:upper|lower]",
          .summary =
              "each line is a key, except an empty one; on request its ASCII letters in upper or "
              "lower case",
          .make = make_lines,
          .keeps_cr = true,
          .keeps_mark = true};
}

}  // namespace bloomset::keys
