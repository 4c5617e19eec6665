#include "commands/command_call.hpp"

#include <algorithm>

namespace bloomset::server {

std::string_view bytes_of(const string* text) noexcept {
  std::size_t length = 0;
  const char* const bytes = api.string_bytes(text, &length);
  return {bytes, length};
}

bool equal_words(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return !a.empty() && std::ranges::equal(a, b, {}, lower, lower);
}

std::vector<std::string_view> command_call::words_from(std::size_t first) const {
  std::vector<std::string_view> words;
  words.reserve(argv.size() - first);
  for (std::size_t i = first; i < argv.size(); ++i) words.push_back(word(i));
  return words;
}

std::optional<std::size_t> command_call::find(std::string_view word,
                                              std::size_t first) const noexcept {
  for (std::size_t i = first; i < argv.size(); ++i) {
    if (equal_words(bytes_of(argv[i]), word)) return i;
  }
  return std::nullopt;
}

void command_call::redact(std::size_t i) const noexcept {
  // While the append-only file is loaded, Redis 7.0 keeps the hidden arguments of a command for the
  // next one, which may have fewer.
  if (api.redact_argument == nullptr || (api.context_flags(ctx) & is_loading) != 0) return;
  api.redact_argument(ctx, static_cast<int>(i));
}

bool command_call::is_limited() const noexcept {
  return (api.context_flags(ctx) & (is_replicated | is_loading)) == 0;
}

}  // namespace bloomset::server
