// Bytes written as hexadecimal digits.

#include <fmt/format.h>

#include <algorithm>

#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

class hex final : public reader {
 public:
  std::string shown(std::string_view, std::size_t, std::string_view key) const override {
    return to_hex(key);
  }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    const bool has_pairs = record.size() % 2 == 0;
    if (has_pairs && from_hex(record, keys.make(record.size() / 2))) return {};
    if (!has_pairs && std::ranges::all_of(record, is_hex_digit)) {
      return fail(
          errc::invalid_argument,
          fmt::format("{} has an odd number of digits, but each byte has two", in_quotes(record)));
    }
    return fail(
        errc::invalid_argument,
        fmt::format("{} has characters that are not hexadecimal digits", in_quotes(record)));
  }
};

}  // namespace

reader_kind hex_reader() noexcept {
  return {.name = "hex",
          .argument = "",
          .summary = "the bytes that each line's hexadecimal digits represent",
          .make = [](std::string_view, purpose) -> result<std::unique_ptr<reader>> {
            return std::make_unique<hex>();
          },
          .gives_bytes = byte_keys::always};
}

}  // namespace bloomset::keys
