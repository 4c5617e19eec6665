#include "arguments.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "settings.hpp"

namespace bloomery::server {
namespace {

constexpr wire_error rate_range = "ERR error rate must be in the range (0.000000, 1.000000)";
constexpr wire_error capacity_range = "ERR capacity must be in the range [1, 1073741824]";
constexpr wire_error expansion_range = "ERR expansion must be in the range [0, 32768]";
constexpr wire_error cannot_expand = "Nonscaling filters cannot expand";
constexpr wire_error two_engines = "ERR a filter has one engine";
constexpr wire_error no_engine = "ERR ENGINE is NATIVE or COMPATIBLE";
constexpr wire_error only_native = "ERR compatible filters have no such option, only native ones";

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

wire_error parse_rate(const string* text, double& out, wire_error no_number) noexcept {
  double rate = 0;
  if (api.string_to_real(text, &rate) != ok || std::isnan(rate)) return no_number;
  if (!(rate > 0 && rate < 1)) return rate_range;
  out = std::min(rate, max_error_rate);
  return nullptr;
}

wire_error parse_capacity(const string* text, std::uint64_t& out, wire_error no_number) noexcept {
  long long capacity = 0;
  if (api.string_to_integer(text, &capacity) != ok) return no_number;
  if (capacity < 1 || capacity > max_capacity) return capacity_range;
  out = static_cast<std::uint64_t>(capacity);
  return nullptr;
}

wire_error parse_expansion(const string* text, std::uint32_t& out, wire_error no_number) noexcept {
  long long expansion = 0;
  if (api.string_to_integer(text, &expansion) != ok) return no_number;
  if (expansion < 0 || expansion > max_expansion) return expansion_range;
  out = static_cast<std::uint32_t>(expansion);
  return nullptr;
}

// The names of engines, for which `ENGINE` before them is not needed: a word more than RedisBloom
// takes, which looks for the words that it knows and passes over one that it does not.
constexpr std::string_view native_name = "NATIVE";
constexpr std::string_view compatible_name = "COMPATIBLE";

/// Chooses the engine by its name among the words from `first` on; else a filter with an option
/// that RedisBloom does not know is native, and the setting decides for others.
wire_error choose_engine(const request& in, std::size_t first, bool is_extended,
                         filter_spec& out) noexcept {
  const bool native = in.find(native_name, first).has_value();
  const bool compatible = in.find(compatible_name, first).has_value();
  if (native && compatible) return two_engines;
  if (!native && !compatible && in.find("ENGINE", first)) return no_engine;
  if (compatible && is_extended) return only_native;
  if (compatible) out.engine = filter_engine::compatible;
  if (native || is_extended) out.engine = filter_engine::native;
  return nullptr;
}

/// The next words of BF.INSERT and CF.INSERT: an engine's name, perhaps with ENGINE before it. True
/// if that is what stands at `at`, which is its last word then.
bool parse_engine(const request& in, std::size_t& at, insert_options& out,
                  wire_error& why) noexcept {
  const bool is_announced = equal_words(in.word(at), "ENGINE") && at + 1 < in.argv.size();
  const std::string_view name = in.word(is_announced ? at + 1 : at);
  const bool is_native = equal_words(name, native_name);
  if (!is_native && !equal_words(name, compatible_name)) {
    if (is_announced) why = no_engine;
    return is_announced;
  }
  const filter_engine engine = is_native ? filter_engine::native : filter_engine::compatible;
  if (out.names_engine && out.spec.engine != engine) why = two_engines;
  out.names_engine = true;
  out.spec.engine = engine;
  at += is_announced;
  return true;
}

// The words of BF.INSERT and CF.INSERT as RedisBloom tells them apart.
enum class insert_word : std::uint8_t {
  items,
  capacity,
  error,
  expansion,
  nocreate,
  nonscaling,
  unknown
};
insert_word word_of(std::string_view word) noexcept {
  const auto letter = [&](std::size_t i) { return i < word.size() ? lower(word[i]) : ' '; };
  switch (letter(0)) {
    case 'i':
      return insert_word::items;
    case 'c':
      return insert_word::capacity;
    case 'e':
      return letter(1) == 'r' ? insert_word::error : insert_word::expansion;
    case 'n':
      return letter(2) == 'c' ? insert_word::nocreate : insert_word::nonscaling;
    default:
      return insert_word::unknown;
  }
}

/// An expansion of CF.*, rounded up as its clients know it.
std::uint32_t power_of_two(long long expansion) noexcept {
  return expansion != 0 ? std::bit_ceil(static_cast<std::uint32_t>(expansion)) : 0;
}

constexpr std::uint16_t default_generations = 8;
constexpr std::uint32_t default_expansion = 2;

wire_error parse_window(const string* text, filter_spec& out) noexcept {
  long long seconds = 0;
  if (api.string_to_integer(text, &seconds) != ok) return "ERR bad window";
  if (seconds < 1 || static_cast<std::uint64_t>(seconds) > max_window) {
    return "ERR window must be in the range [1, 1000000000] seconds";
  }
  out.window = static_cast<std::uint64_t>(seconds);
  return nullptr;
}

wire_error parse_generations(const string* text, filter_spec& out) noexcept {
  long long generations = 0;
  if (api.string_to_integer(text, &generations) != ok) return "ERR bad generations";
  if (generations < 1 || generations > max_generations) {
    return "ERR generations must be in the range [1, 64]";
  }
  out.generations = static_cast<std::uint16_t>(generations);
  return nullptr;
}

wire_error parse_time(const string* text, std::uint64_t& out) noexcept {
  long long time = 0;
  if (api.string_to_integer(text, &time) != ok || time < 1) {
    return "ERR bad time: AT takes milliseconds since 1970";
  }
  out = static_cast<std::uint64_t>(time);
  return nullptr;
}

/// What goes together with a window, once all options are known.
wire_error settle_window(filter_spec& out, bool says_fixed) noexcept {
  if (out.window == 0) return out.generations == 0 ? nullptr : "ERR GENERATIONS takes a WINDOW";
  if (out.deletable) return "ERR WINDOW and DELETABLE cannot be combined";
  if (says_fixed) return "ERR a filter with a WINDOW grows with its items; leave out NONSCALING";
  // Where filters do not grow unless they are told to.
  if (out.expansion == 0) out.expansion = default_expansion;
  if (out.generations == 0) out.generations = default_generations;
  return nullptr;
}

/// MEMORY size in the place of argument `at`. Says in `next` which argument follows.
wire_error parse_memory(const request& in, std::size_t at, memory_request& out,
                        std::size_t& next) noexcept {
  if (at + 1 >= in.argv.size() || !parse_bytes(in.word(at + 1), out.bytes)) {
    return "ERR bad memory: give bytes, or a size such as 64mb";
  }
  next = at + 2;
  return nullptr;
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

bool parse_bytes(std::string_view text, std::uint64_t& out) noexcept {
  constexpr std::uint64_t k = 1024;
  struct unit {
    std::string_view name;
    std::uint64_t bytes;
  };
  constexpr std::array units = {unit{"b", 1},         unit{"k", 1000},   unit{"kb", k},
                                unit{"m", 1'000'000}, unit{"mb", k * k}, unit{"g", 1'000'000'000},
                                unit{"gb", k * k * k}};
  std::uint64_t number = 0;
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (why != std::errc() || number == 0) return false;
  const std::string_view behind = text.substr(static_cast<std::size_t>(end - text.data()));
  std::uint64_t scale = behind.empty() ? 1 : 0;
  for (const unit& each : units) {
    if (equal_words(behind, each.name)) scale = each.bytes;
  }
  if (scale == 0 || number > std::numeric_limits<std::int64_t>::max() / scale) return false;
  out = number * scale;
  return true;
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
          .expansion = static_cast<std::uint32_t>(now.bf_expansion_factor),
          .engine = now.engine,
          .growth = static_cast<std::uint32_t>(now.bf_expansion_factor)};
}

wire_error parse_bf_reserve(const request& in, filter_spec& out, memory_request& memory) noexcept {
  out = default_bf_spec();
  std::size_t next = 3;
  memory.finds_rate = equal_words(in.word(2), "MEMORY");
  if (memory.finds_rate) {
    if (const auto why = parse_memory(in, 2, memory, next)) return why;
    if (next == in.argv.size()) return "ERR bad capacity";
  } else if (const auto why = parse_rate(in.argv[2], out.error_rate, "ERR bad error rate")) {
    return why;
  }
  if (!memory.finds_rate && equal_words(in.word(3), "MEMORY")) {
    if (const auto why = parse_memory(in, 3, memory, next)) return why;
  } else if (const auto why = parse_capacity(in.argv[next++], out.capacity, "ERR bad capacity")) {
    return why;
  }
  if (in.find("MEMORY", next)) {
    return "ERR MEMORY and a size stand in the place of the error rate or of the capacity";
  }
  const auto expansion = in.find("EXPANSION", next);
  if (expansion) {
    if (*expansion + 1 >= in.argv.size()) return "ERR no expansion";
    if (const auto why =
            parse_expansion(in.argv[*expansion + 1], out.expansion, "ERR bad expansion")) {
      return why;
    }
  }
  out.deletable = in.find("DELETABLE", next).has_value();
  const auto nonscaling = in.find("NONSCALING", next);
  if (nonscaling && expansion && out.expansion != 0) return cannot_expand;
  out.growth = out.expansion;
  if (nonscaling) {
    out.expansion = 0;
    long long told = 0;
    if (*nonscaling + 1 < in.argv.size() &&
        api.string_to_integer(in.argv[*nonscaling + 1], &told) == ok && told >= 0 &&
        told <= max_expansion) {
      out.growth = static_cast<std::uint32_t>(told);
    }
  }
  const auto window = in.find("WINDOW", next);
  if (window) {
    if (*window + 1 >= in.argv.size()) return "ERR no window";
    if (const auto why = parse_window(in.argv[*window + 1], out)) return why;
  }
  if (const auto generations = in.find("GENERATIONS", next)) {
    if (*generations + 1 >= in.argv.size()) return "ERR no generations";
    if (const auto why = parse_generations(in.argv[*generations + 1], out)) return why;
  }
  if (memory.bytes != 0) {
    if (window) return "ERR MEMORY and WINDOW cannot be combined: that filter grows with its items";
    if (expansion && out.expansion != 0) {
      return "ERR a filter of a MEMORY size does not grow; leave out EXPANSION";
    }
    out.expansion = 0;
  }
  const bool is_extended = out.deletable || out.window != 0 || memory.bytes != 0;
  if (const auto why = choose_engine(in, next, is_extended, out)) return why;
  return settle_window(out, nonscaling || (expansion && out.expansion == 0));
}

wire_error parse_bf_insert(const request& in, insert_options& out) noexcept {
  out.spec = default_bf_spec();
  bool expands = false;
  bool nonscaling = false;
  // What is wrong with the first wrong value, and RedisBloom's words for it.
  wire_error wrong = nullptr;
  wire_error wrong_in_compatible = nullptr;
  for (std::size_t i = 2; i < in.argv.size() && out.items == 0; ++i) {
    wire_error why = nullptr;
    if (parse_engine(in, i, out, why)) {
      if (why != nullptr) return why;
      continue;
    }
    const std::string_view word = in.word(i);
    if (equal_words(word, "DELETABLE")) {
      out.spec.deletable = true;
      continue;
    }
    const insert_word meant = word_of(word);
    if (meant == insert_word::nocreate) {
      out.create = false;
      continue;
    }
    if (meant == insert_word::nonscaling) {
      nonscaling = true;
      continue;
    }
    const bool is_of_window =
        equal_words(word, "WINDOW") || equal_words(word, "GENERATIONS") || equal_words(word, "AT");
    if (meant == insert_word::unknown && !is_of_window) {
      if (wrong == nullptr) wrong = wrong_in_compatible = "Unknown argument received";
      break;
    }
    // The others have something behind them.
    if (i + 1 == in.argv.size()) break;
    const string* const value = in.argv[++i];
    wire_error in_compatible = nullptr;
    if (equal_words(word, "WINDOW")) {
      why = parse_window(value, out.spec);
    } else if (equal_words(word, "GENERATIONS")) {
      why = parse_generations(value, out.spec);
    } else if (equal_words(word, "AT")) {
      why = parse_time(value, out.at);
    } else if (meant == insert_word::items) {
      out.items = i;
    } else if (meant == insert_word::capacity) {
      why = parse_capacity(value, out.spec.capacity, in_compatible = "Bad capacity");
    } else if (meant == insert_word::error) {
      why = parse_rate(value, out.spec.error_rate, in_compatible = "Bad error rate");
    } else {
      why = parse_expansion(value, out.spec.expansion, in_compatible = "Bad expansion");
      expands = true;
    }
    if (why == nullptr || wrong != nullptr) continue;
    wrong = why;
    wrong_in_compatible = in_compatible != nullptr ? in_compatible : why;
  }
  const bool is_extended = out.spec.deletable || out.spec.window != 0;
  if (wrong != nullptr) {
    return out.spec.engine == filter_engine::compatible && !is_extended ? wrong_in_compatible
                                                                        : wrong;
  }
  if (is_extended) {
    if (out.names_engine && out.spec.engine == filter_engine::compatible) return only_native;
    out.spec.engine = filter_engine::native;
  }
  // Unlike BF.RESERVE it takes both, and keeps the expansion for who asks.
  out.spec.growth = out.spec.expansion;
  const bool says_fixed = nonscaling || (expands && out.spec.expansion == 0);
  if (nonscaling) out.spec.expansion = 0;
  return settle_window(out.spec, says_fixed);
}

filter_spec default_cf_spec() noexcept {
  const settings& now = current_settings();
  return {
      .family = filter_family::cuckoo,
      .error_rate = now.cf_error_rate,
      .capacity = static_cast<std::uint64_t>(std::max(now.cf_initial_size, 2 * now.cf_bucket_size)),
      .expansion = power_of_two(now.cf_expansion_factor),
      .engine = now.engine,
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
      option{"BUCKETSIZE", 1, max_bucket_size, &bucket_size, "Couldn't parse BUCKETSIZE",
             "BUCKETSIZE: value must be in the range [1, 255]"},
      option{"MAXITERATIONS", 1, max_iterations, &iterations, "Couldn't parse MAXITERATIONS",
             "MAXITERATIONS: value must be in the range [1, 65535]"},
      option{"EXPANSION", 0, max_expansion, &expansion, "Couldn't parse EXPANSION",
             "EXPANSION: value must be in the range [0, 32768]"}};
  for (const option& each : options) {
    const auto at = in.find(each.word, 3);
    if (!at) continue;
    if (*at + 1 >= in.argv.size()) return each.no_number;
    if (api.string_to_integer(in.argv[*at + 1], each.value) != ok) return each.no_number;
    if (*each.value < each.least || *each.value > each.most) return each.range;
  }
  const auto rate = in.find("ERROR", 3);
  if (rate) {
    if (*rate + 1 >= in.argv.size()) return "Bad error rate";
    const wire_error why = parse_rate(in.argv[*rate + 1], out.error_rate, "Bad error rate");
    if (why != nullptr) return why;
  }
  if (capacity < 2 * bucket_size || capacity > max_capacity) {
    return "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]";
  }
  out.capacity = static_cast<std::uint64_t>(capacity);
  out.bucket_size = static_cast<std::uint16_t>(bucket_size);
  out.max_iterations = static_cast<std::uint16_t>(iterations);
  out.expansion = power_of_two(expansion);
  return choose_engine(in, 3, rate.has_value(), out);
}

wire_error parse_cf_insert(const request& in, insert_options& out) noexcept {
  out.spec = default_cf_spec();
  for (std::size_t i = 2; i < in.argv.size() && out.items == 0; ++i) {
    wire_error why = nullptr;
    if (parse_engine(in, i, out, why)) {
      if (why != nullptr) return why;
      continue;
    }
    const insert_word meant = word_of(in.word(i));
    if (meant == insert_word::nocreate || meant == insert_word::nonscaling) {
      out.create = false;
      continue;
    }
    if (meant != insert_word::items && meant != insert_word::capacity) {
      return "Unknown argument received";
    }
    if (i + 1 == in.argv.size()) break;
    const string* const value = in.argv[++i];
    if (meant == insert_word::items) {
      out.items = i;
      continue;
    }
    long long capacity = 0;
    if (api.string_to_integer(value, &capacity) != ok) return "Bad capacity";
    if (capacity < 2 * current_settings().cf_bucket_size || capacity > max_capacity) {
      return "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
    }
    out.spec.capacity = static_cast<std::uint64_t>(capacity);
  }
  return nullptr;
}

}  // namespace bloomery::server
