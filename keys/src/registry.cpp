#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {

void reader::begin_file(std::string_view) {}

std::string reader::shown(std::string_view, std::size_t, std::string_view key) const {
  return std::string(key);
}

std::span<const reader_kind> all() noexcept {
  // clang-format off
  static const std::array rows = {  // one line each
      lines_reader(),
      fields_reader(),
      csv_reader(),
      hex_reader(),
      base64_reader(),
      md4_reader(),
      md5_reader(),
      sha1_reader(),
      sha256_reader(),
      ntlm_reader(),
      pwned_reader(),
      password_reader(),
      url_reader(),
      safe_browsing_reader(),
      domain_reader(),
      email_reader(),
      json_reader(),
  };
  // clang-format on
  return rows;
}

result<const reader_kind*> find(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  std::vector<std::string_view> names;
  for (const reader_kind& row : all()) {
    if (row.name == name) return &row;
    if (row.secret && name.starts_with(row.name)) {
      return fail(errc::invalid_argument,
                  fmt::format("this is not the name of a reader, and is not shown because it may "
                              "be a secret; write {}{}",
                              row.name, row.argument));
    }
    names.push_back(row.name);
  }
  return fail(errc::invalid_argument, fmt::format("there is no reader {}; the readers are {}",
                                                  in_quotes(name), fmt::join(names, ", ")));
}

result<std::unique_ptr<reader>> make_reader(std::string_view text, purpose why) {
  const auto found = find(text);
  if (!found) return fail(found.error());
  const reader_kind& row = **found;
  const auto colon = text.find(':');
  if (colon != std::string_view::npos && row.argument.empty()) {
    return fail(errc::invalid_argument, fmt::format("{}: the reader {} takes no argument; write {}",
                                                    in_quotes(text), row.name, row.name));
  }
  if (colon == text.size() - 1) {
    return fail(errc::invalid_argument,
                fmt::format("{}: there is nothing after the colon; write {}{}", in_quotes(text),
                            row.name, row.argument));
  }
  auto made = row.make(colon == std::string_view::npos ? "" : text.substr(colon + 1), why);
  if (!made) {
    return fail(made.error().code,
                row.secret ? made.error().message
                           : fmt::format("{}: {}", in_quotes(text), made.error().message));
  }
  return made;
}

}  // namespace bloomset::keys
