#include "valkeybloom/valkey_arguments.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstring>
#include <limits>

#include "commands/option_words.hpp"
#include "server/settings.hpp"
#include "valkeybloom/valkey_plan.hpp"

namespace bloomset::server {
namespace {

constexpr wire_error bad_capacity = "ERR bad capacity";
constexpr wire_error bad_expansion = "ERR bad expansion";

struct share_errors {
  wire_error no_number;
  wire_error out_of_range;
};
constexpr share_errors rate_errors = {"ERR bad error rate", "ERR (0 < error rate range < 1)"};
constexpr share_errors tightening_errors = {"ERR bad tightening ratio",
                                            "ERR (0 < tightening ratio range < 1)"};

/// The digits after an optional plus sign, which from_chars does not read.
std::string_view without_plus(std::string_view text) noexcept {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return has_plus ? text.substr(1) : text;
}

/// A number strictly between 0 and 1.
double parse_share(std::string_view text, const share_errors& errors) {
  text = without_plus(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    throw refusal(errors.no_number);
  }
  if (error != std::errc() || !(number > 0 && number < 1)) throw refusal(errors.out_of_range);
  return number;
}

template <std::integral Integer>
std::optional<Integer> read_integer(std::string_view text) noexcept {
  text = without_plus(text);
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

std::uint64_t parse_count(std::string_view text) {
  const auto number = read_integer<std::int64_t>(text);
  if (number == 0) throw refusal("ERR (capacity should be larger than 0)");
  if (!number || *number < 0) throw refusal(bad_capacity);
  return static_cast<std::uint64_t>(*number);
}

std::uint32_t parse_factor(std::string_view text) {
  const auto number = read_integer<std::uint32_t>(text);
  if (!number || *number == 0) throw refusal(bad_expansion);
  return *number;
}

sip_seed parse_seed(std::string_view bytes) {
  sip_seed seed = {};
  if (bytes.size() != seed.size()) throw refusal("ERR invalid seed");
  std::memcpy(seed.data(), bytes.data(), bytes.size());
  return seed;
}

/// Refuses a filter that cannot grow to a capacity.
void require_growth(const valkey_spec& spec, std::uint64_t target) {
  switch (simulate_growth(spec, target).stopped_by) {
    case stop_reason::none:
      return;
    case stop_reason::rate_underflow:
      throw refusal("ERR provided VALIDATESCALETO causes false positive to degrade to 0");
    case stop_reason::capacity_overflow:
      throw refusal(bad_capacity);
    default:
      throw refusal("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit");
  }
}

template <std::size_t Size>
bool has_words(const command_call& call, const std::array<std::string_view, Size>& words) noexcept {
  const bool is_insert = equal_words(call.word(0), "BF.INSERT");
  for (std::size_t i = 2; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (is_insert && full_insert_word(word) == "ITEMS") return false;
    if (std::ranges::any_of(words, [&](std::string_view w) { return equal_words(word, w); })) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool has_own_words(const command_call& call) noexcept {
  constexpr std::array<std::string_view, 9> words = {"ENGINE",    "NATIVE", "COMPATIBLE",
                                                     "DELETABLE", "WINDOW", "GENERATIONS",
                                                     "HASH",      "MEMORY", "AT"};
  return has_words(call, words);
}

bool has_valkey_words(const command_call& call) noexcept {
  constexpr std::array<std::string_view, 3> words = {"TIGHTENING", "SEED", "VALIDATESCALETO"};
  return has_words(call, words);
}

valkey_request default_valkey_request() noexcept {
  const settings& current = current_settings();
  return {.spec = {.error_rate = current.bloom_fp_rate,
                   .tightening = current.bloom_tightening_ratio,
                   .capacity = static_cast<std::uint64_t>(current.bloom_capacity),
                   .expansion = static_cast<std::uint32_t>(current.bloom_expansion)},
          .draws_seed = current.bloom_use_random_seed};
}

std::optional<valkey_request> parse_valkey_reserve(const command_call& call) {
  const std::size_t words = call.argv.size();
  if (words < 4 || words > 6) return std::nullopt;
  valkey_request request = default_valkey_request();
  valkey_spec& spec = request.spec;
  spec.error_rate = parse_share(call.word(2), rate_errors);
  spec.capacity = parse_count(call.word(3));
  if (words == 5 && equal_words(call.word(4), "NONSCALING")) {
    spec.expansion = 0;
  } else if (words == 6 && equal_words(call.word(4), "EXPANSION")) {
    spec.expansion = parse_factor(call.word(5));
  } else if (words > 4) {
    throw refusal("ERROR");
  }
  return request;
}

std::optional<valkey_insert_arguments> parse_valkey_insert(const command_call& call) {
  valkey_insert_arguments out{.request = default_valkey_request(), .first_item = call.argv.size()};
  valkey_spec& spec = out.request.spec;
  std::optional<std::uint64_t> scale_to;
  for (std::size_t i = 2; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (equal_words(word, "NOCREATE")) {
      out.create = false;
      continue;
    }
    if (equal_words(word, "NONSCALING")) {
      spec.expansion = 0;
      continue;
    }
    constexpr std::array<std::string_view, 7> with_value = {
        "ERROR", "TIGHTENING", "CAPACITY", "SEED", "EXPANSION", "VALIDATESCALETO", "ITEMS"};
    if (std::ranges::none_of(with_value, [&](auto known) { return equal_words(word, known); })) {
      throw refusal("ERR unknown argument received");
    }
    if (++i == call.argv.size()) return std::nullopt;
    const std::string_view value = call.word(i);
    if (equal_words(word, "ITEMS")) {
      out.first_item = i;
      break;
    }
    if (equal_words(word, "ERROR")) spec.error_rate = parse_share(value, rate_errors);
    if (equal_words(word, "TIGHTENING")) spec.tightening = parse_share(value, tightening_errors);
    if (equal_words(word, "CAPACITY")) spec.capacity = parse_count(value);
    if (equal_words(word, "SEED")) {
      spec.seed = parse_seed(value);
      out.request.draws_seed = false;
    }
    if (equal_words(word, "EXPANSION")) spec.expansion = parse_factor(value);
    if (equal_words(word, "VALIDATESCALETO")) scale_to = parse_count(value);
  }
  if (scale_to && spec.expansion == 0) {
    throw refusal("ERR cannot use NONSCALING and VALIDATESCALETO options together");
  }
  if (scale_to && call.is_limited()) require_growth(spec, *scale_to);
  return out;
}

}  // namespace bloomset::server
