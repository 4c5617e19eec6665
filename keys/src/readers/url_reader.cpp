// URLs as one key each, in normal form.

#include "rows.hpp"
#include "text.hpp"
#include "url_normal.hpp"

namespace bloomset::keys {
namespace {

class url final : public reader {
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = without_mark(record);
    if (record.empty()) return {};
    text_.clear();
    if (auto ok = append_normal_url(text_, record); !ok) return ok;
    keys.add(text_);
    return {};
  }

  std::string text_;
};

}  // namespace

reader_kind url_reader() noexcept {
  return {
      .name = "url",
      .argument = "",
      .summary = "URLs in normal form (WHATWG, RFC 3986), so that spellings of one URL are one key",
      .make = [](std::string_view, purpose) -> result<std::unique_ptr<reader>> {
        return std::make_unique<url>();
      }};
}

}  // namespace bloomset::keys
