// The reader of records that are keys without change.

#include "rows.hpp"

namespace bloomset::keys {
namespace {

class lines final : public reader {
  result<void> read_record(std::string_view record, key_list& keys) override {
    keys.refer(record);
    return {};
  }
};

}  // namespace

reader_kind lines_reader() noexcept {
  return {.name = "lines",
          .argument = "",
          .summary = "each line is a key, an empty one too",
          .make = [](std::string_view, purpose) -> result<std::unique_ptr<reader>> {
            return std::make_unique<lines>();
          },
          .keeps_cr = true,
          .keeps_mark = true};
}

}  // namespace bloomset::keys
