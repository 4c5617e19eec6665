#include "arguments.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "settings.hpp"

namespace bloomery::server {
namespace {

constexpr wire_error rate_range = "ERR error rate must be in the range (0.000000, 1.000000)";
constexpr wire_error capacity_range = "ERR capacity must be in the range [1, 1073741824]";
constexpr wire_error expansion_range = "ERR expansion must be in the range [0, 32768]";
constexpr wire_error cannot_expand = "Nonscaling filters cannot expand";

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

wire_error parse_rate(const string* text, double& out, wire_error no_number) noexcept {
  double rate = 0;
  if (api.string_to_real(text, &rate) != ok || std::isnan(rate)) return no_number;
  if (!(rate > 0 && rate < 1)) return rate_range;
  out = std::min(rate, most_error_rate);
  return nullptr;
}

wire_error parse_capacity(const string* text, std::uint64_t& out, wire_error no_number) noexcept {
  long long capacity = 0;
  if (api.string_to_integer(text, &capacity) != ok) return no_number;
  if (capacity < 1 || capacity > most_capacity) return capacity_range;
  out = static_cast<std::uint64_t>(capacity);
  return nullptr;
}

wire_error parse_expansion(const string* text, std::uint32_t& out, wire_error no_number) noexcept {
  long long expansion = 0;
  if (api.string_to_integer(text, &expansion) != ok) return no_number;
  if (expansion < 0 || expansion > most_expansion) return expansion_range;
  out = static_cast<std::uint32_t>(expansion);
  return nullptr;
}

/// An expansion of CF.*, rounded up as its clients know it.
std::uint32_t power_of_two(long long expansion) noexcept {
  return expansion != 0 ? std::bit_ceil(static_cast<std::uint32_t>(expansion)) : 0;
}

}  // namespace

std::string_view bytes_of(const string* text) noexcept {
  std::size_t length = 0;
  const char* const bytes = api.string_bytes(text, &length);
  return {bytes, length};
}

bool equal_words(std::string_view a, std::string_view b) noexcept {
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                  [](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string_view> request::words_from(std::size_t first) const {
  std::vector<std::string_view> words;
  words.reserve(argv.size() - first);
  for (std::size_t i = first; i < argv.size(); ++i) words.push_back(word(i));
  return words;
}

std::optional<std::size_t> request::find(std::string_view wanted,
                                         std::size_t first) const noexcept {
  for (std::size_t i = first; i < argv.size(); ++i) {
    if (equal_words(word(i), wanted)) return i;
  }
  return std::nullopt;
}

bool request::is_limited() const noexcept {
  return (api.context_flags(ctx) & (is_replicated | is_loading)) == 0;
}

filter_spec default_bf_spec() noexcept {
  const settings& now = current_settings();
  return {.family = filter_family::bloom,
          .error_rate = now.bf_error_rate,
          .capacity = static_cast<std::uint64_t>(now.bf_initial_size),
          .expansion = static_cast<std::uint32_t>(now.bf_expansion_factor)};
}

wire_error parse_bf_reserve(const request& in, filter_spec& out) noexcept {
  out = default_bf_spec();
  if (const auto why = parse_rate(in.argv[2], out.error_rate, "ERR bad error rate")) return why;
  if (const auto why = parse_capacity(in.argv[3], out.capacity, "ERR bad capacity")) return why;
  const auto expansion = in.find("EXPANSION", 4);
  if (expansion) {
    if (*expansion + 1 >= in.argv.size()) return "ERR no expansion";
    if (const auto why =
            parse_expansion(in.argv[*expansion + 1], out.expansion, "ERR bad expansion")) {
      return why;
    }
  }
  out.deletable = in.find("DELETABLE", 4).has_value();
  if (in.find("NONSCALING", 4)) {
    if (expansion && out.expansion != 0) return cannot_expand;
    out.expansion = 0;
  }
  return nullptr;
}

wire_error parse_bf_insert(const request& in, insert_options& out) noexcept {
  out.spec = default_bf_spec();
  bool expands = false;
  bool nonscaling = false;
  for (std::size_t i = 2; i < in.argv.size(); ++i) {
    const std::string_view word = in.word(i);
    const string* const value = i + 1 < in.argv.size() ? in.argv[i + 1] : nullptr;
    if (equal_words(word, "ITEMS")) {
      if (value != nullptr) out.items = i + 1;
      break;
    }
    wire_error why = nullptr;
    if (equal_words(word, "NOCREATE")) {
      out.create = false;
      continue;
    }
    if (equal_words(word, "NONSCALING")) {
      nonscaling = true;
      continue;
    }
    if (equal_words(word, "DELETABLE")) {
      out.spec.deletable = true;
      continue;
    }
    // The others have a value behind them.
    if (equal_words(word, "CAPACITY")) {
      if (value == nullptr) break;
      why = parse_capacity(value, out.spec.capacity, "Bad capacity");
    } else if (equal_words(word, "ERROR")) {
      if (value == nullptr) break;
      why = parse_rate(value, out.spec.error_rate, "Bad error rate");
    } else if (equal_words(word, "EXPANSION")) {
      if (value == nullptr) break;
      why = parse_expansion(value, out.spec.expansion, "Bad expansion");
      expands = true;
    } else {
      return "Unknown argument received";
    }
    if (why != nullptr) return why;
    ++i;
  }
  if (nonscaling) {
    if (expands && out.spec.expansion != 0) return cannot_expand;
    out.spec.expansion = 0;
  }
  return nullptr;
}

filter_spec default_cf_spec() noexcept {
  const settings& now = current_settings();
  return {
      .family = filter_family::cuckoo,
      .error_rate = now.cf_error_rate,
      .capacity = static_cast<std::uint64_t>(std::max(now.cf_initial_size, 2 * now.cf_bucket_size)),
      .expansion = power_of_two(now.cf_expansion_factor),
      .bucket_size = static_cast<std::uint16_t>(now.cf_bucket_size),
      .max_iterations = static_cast<std::uint16_t>(now.cf_max_iterations)};
}

wire_error parse_cf_reserve(const request& in, filter_spec& out) noexcept {
  out = default_cf_spec();
  long long capacity = 0;
  if (api.string_to_integer(in.argv[2], &capacity) != ok) return "Bad capacity";
  long long bucket_size = out.bucket_size;
  long long iterations = out.max_iterations;
  long long expansion = out.expansion;
  struct option {
    std::string_view word;
    long long least;
    long long most;
    long long* value;
    wire_error no_number;
    wire_error range;
  };
  const std::array options = {
      option{"BUCKETSIZE", 1, most_bucket_size, &bucket_size, "Couldn't parse BUCKETSIZE",
             "BUCKETSIZE: value must be in the range [1, 255]"},
      option{"MAXITERATIONS", 1, most_iterations, &iterations, "Couldn't parse MAXITERATIONS",
             "MAXITERATIONS: value must be in the range [1, 65535]"},
      option{"EXPANSION", 0, most_expansion, &expansion, "Couldn't parse EXPANSION",
             "EXPANSION: value must be in the range [0, 32768]"}};
  for (const option& each : options) {
    const auto at = in.find(each.word, 3);
    if (!at) continue;
    if (*at + 1 >= in.argv.size()) return each.no_number;
    if (api.string_to_integer(in.argv[*at + 1], each.value) != ok) return each.no_number;
    if (*each.value < each.least || *each.value > each.most) return each.range;
  }
  if (const auto rate = in.find("ERROR", 3)) {
    if (*rate + 1 >= in.argv.size()) return "Bad error rate";
    const wire_error why = parse_rate(in.argv[*rate + 1], out.error_rate, "Bad error rate");
    if (why != nullptr) return why;
  }
  if (capacity < 2 * bucket_size || capacity > most_capacity) {
    return "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]";
  }
  out.capacity = static_cast<std::uint64_t>(capacity);
  out.bucket_size = static_cast<std::uint16_t>(bucket_size);
  out.max_iterations = static_cast<std::uint16_t>(iterations);
  out.expansion = power_of_two(expansion);
  return nullptr;
}

wire_error parse_cf_insert(const request& in, insert_options& out) noexcept {
  out.spec = default_cf_spec();
  for (std::size_t i = 2; i < in.argv.size(); ++i) {
    const std::string_view word = in.word(i);
    const string* const value = i + 1 < in.argv.size() ? in.argv[i + 1] : nullptr;
    if (equal_words(word, "ITEMS")) {
      if (value != nullptr) out.items = i + 1;
      break;
    }
    if (equal_words(word, "NOCREATE")) {
      out.create = false;
    } else if (equal_words(word, "CAPACITY")) {
      if (value == nullptr) break;
      long long capacity = 0;
      if (api.string_to_integer(value, &capacity) != ok) return "Bad capacity";
      if (capacity < 2 * current_settings().cf_bucket_size || capacity > most_capacity) {
        return "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
      }
      out.spec.capacity = static_cast<std::uint64_t>(capacity);
      ++i;
    } else {
      return "Unknown argument received";
    }
  }
  return nullptr;
}

}  // namespace bloomery::server
