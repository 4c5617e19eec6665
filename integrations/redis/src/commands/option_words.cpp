#include "commands/option_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bloomset/hash.hpp>

#include "values/dump_header.hpp"

namespace bloomset::server {
namespace {

bool has_value(std::string_view insert_word) noexcept {
  constexpr std::array<std::string_view, 3> flags = {"NOCREATE", "NONSCALING", "DELETABLE"};
  return !insert_word.empty() && std::ranges::find(flags, insert_word) == flags.end();
}

/// Whether a run of hexadecimal digits is long enough for a secret key.
bool may_have_key(std::string_view word) noexcept {
  std::size_t run = 0;
  for (const char c : word) {
    const bool is_digit =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    run = is_digit ? run + 1 : 0;
    if (run == 2 * hash_key::size) return true;
  }
  return false;
}

/// Hides keys among the arguments up to `end`. What follows HASH may be a key with a typing error.
void hide_keys(const command_call& call, std::size_t end) {
  constexpr std::size_t first = 2;
  for (std::size_t i = first; i < end; ++i) {
    const std::string_view word = call.word(i);
    const bool follows_hash = i > first && equal_words(call.word(i - 1), "HASH");
    const bool is_name = equal_words(word, "SIPHASH") || equal_words(word, "XXH3");
    if (may_have_key(word) || (follows_hash && !is_name)) call.redact(i);
  }
}

}  // namespace

std::string_view full_insert_word(std::string_view word) noexcept {
  const auto is_letter = [&](std::size_t i, std::string_view letter) {
    return i < word.size() && equal_words(word.substr(i, 1), letter);
  };
  if (is_letter(0, "i")) return "ITEMS";
  if (is_letter(0, "c")) return "CAPACITY";
  if (is_letter(0, "e")) return is_letter(1, "r") ? "ERROR" : "EXPANSION";
  if (is_letter(0, "n")) return is_letter(2, "c") ? "NOCREATE" : "NONSCALING";
  for (const std::string_view known : {"DELETABLE", "WINDOW", "GENERATIONS", "AT", "HASH"}) {
    if (equal_words(word, known)) return known;
  }
  return "";
}

bool is_spelled_right(std::string_view word, std::string_view full) noexcept {
  return equal_words(word, full.substr(0, word.size()));
}

void require_known_words(const command_call& call, std::size_t first,
                         std::span<const option_word> known) {
  if (!call.is_limited()) return;
  for (std::size_t i = first; i < call.argv.size(); ++i) {
    const auto row = std::ranges::find_if(
        known, [&](const option_word& option) { return equal_words(call.word(i), option.name); });
    if (row == known.end()) throw unknown_argument(call, i, known);
    i += row->has_value ? 1 : 0;
  }
}

refusal unknown_argument(const command_call& call, std::size_t i,
                         std::span<const option_word> known) {
  std::vector<std::string_view> names;
  for (const option_word& option : known) names.push_back(option.name);
  // NOLINTNEXTLINE(modernize-return-braced-init-list): the constructor is explicit
  return refusal(fmt::format("Unknown argument received: argument {} of {} is none of {}", i,
                             call.word(0), fmt::join(names, ", ")));
}

void hide_reserve_keys(const command_call& call) {
  hide_keys(call, call.argv.size());
}

void hide_insert_keys(const command_call& call) {
  std::size_t end = 2;
  while (end < call.argv.size()) {
    const std::string_view word = full_insert_word(call.word(end));
    if (word == "ITEMS") break;
    // An engine's name may stand alone, and begins like CAPACITY.
    end += has_value(word) && !equal_words(call.word(end), "COMPATIBLE") ? 2 : 1;
  }
  hide_keys(call, std::min(end, call.argv.size()));
}

void hide_dump_key(const command_call& call) {
  constexpr std::size_t data = 3;
  if (call.argv.size() <= data) return;
  if (call.word(2) == "1" || is_native_header(call.word(data))) call.redact(data);
}

}  // namespace bloomset::server
