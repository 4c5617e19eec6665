#include "commands/arguments.hpp"

#include <algorithm>
#include <array>
#include <bloomset/plan/units.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "commands/option_words.hpp"
#include "server/settings.hpp"

namespace bloomset::server {
namespace {

constexpr wire_error two_engines = "ERR a filter has one engine";
constexpr wire_error no_engine = "ERR ENGINE is NATIVE or COMPATIBLE";
constexpr wire_error only_native = "ERR compatible filters have no such option, only native ones";
constexpr wire_error unknown_word = "Unknown argument received";

constexpr std::array bf_reserve_words = {
    option_word{"EXPANSION", true},   option_word{"NONSCALING", false},
    option_word{"DELETABLE", false},  option_word{"WINDOW", true},
    option_word{"GENERATIONS", true}, option_word{"HASH", true},
    option_word{"ENGINE", true},      option_word{"NATIVE", false}};
constexpr std::array cf_reserve_words = {
    option_word{"BUCKETSIZE", true}, option_word{"MAXITERATIONS", true},
    option_word{"EXPANSION", true},  option_word{"ERROR", true},
    option_word{"HASH", true},       option_word{"ENGINE", true},
    option_word{"NATIVE", false}};
constexpr std::array bf_insert_words = {
    option_word{"CAPACITY", true},    option_word{"ERROR", true},
    option_word{"EXPANSION", true},   option_word{"NOCREATE", false},
    option_word{"NONSCALING", false}, option_word{"DELETABLE", false},
    option_word{"WINDOW", true},      option_word{"GENERATIONS", true},
    option_word{"HASH", true},        option_word{"ENGINE", true},
    option_word{"AT", true},          option_word{"ITEMS", true}};
constexpr std::array cf_insert_words = {option_word{"CAPACITY", true},
                                        option_word{"NOCREATE", false}, option_word{"ENGINE", true},
                                        option_word{"ITEMS", true}};

// RedisBloom ignores words that it does not know. Commands for compatible filters therefore name
// the engine by one word, without ENGINE.
constexpr std::string_view native_name = "NATIVE";
constexpr std::string_view compatible_name = "COMPATIBLE";

template <class Integer = long long>
Integer parse_integer(const string* text, long long min, long long max, wire_error no_number,
                      wire_error out_of_range) {
  long long number = 0;
  if (api.string_to_integer(text, &number) != ok) throw refusal(no_number);
  if (number < min || number > max) throw refusal(out_of_range);
  return static_cast<Integer>(number);
}

double parse_rate(const string* text, wire_error no_number) {
  const auto rate = read_rate(text);
  if (!rate) throw refusal(no_number);
  if (!(*rate > 0 && *rate < 1)) {
    throw refusal("ERR error rate must be in the range (0.000000, 1.000000)");
  }
  return std::min(*rate, max_error_rate);
}

/// RedisBloom's commands accept no `1%`.
void require_plain_number(const string* rate, wire_error no_number) {
  double unused = 0;
  if (api.string_to_real(rate, &unused) != ok) throw refusal(no_number);
}

/// The largest number that a command may give. Primaries and append-only files of other versions of
/// RedisBloom have larger ones, and their filters must be here, too.
long long highest(const command_call& call, long long of_clients) {
  return call.is_limited() ? of_clients : std::numeric_limits<long long>::max();
}

std::uint64_t parse_capacity(const command_call& call, const string* text, wire_error no_number) {
  return parse_integer<std::uint64_t>(text, 1, highest(call, max_capacity), no_number,
                                      "ERR capacity must be in the range [1, 1073741824]");
}

std::uint32_t parse_expansion(const command_call& call, const string* text, wire_error no_number) {
  const auto given = parse_integer(text, 0, highest(call, max_expansion), no_number,
                                   "ERR expansion must be in the range [0, 32768]");
  return static_cast<std::uint32_t>(std::min<long long>(given, max_expansion));
}

std::uint64_t parse_window(const string* text) {
  return parse_integer<std::uint64_t>(text, 1, max_window, "ERR bad window",
                                      "ERR window must be in the range [1, 1000000000] seconds");
}

std::uint16_t parse_generations(const string* text) {
  return parse_integer<std::uint16_t>(text, 1, max_generations, "ERR bad generations",
                                      "ERR generations must be in the range [1, 64]");
}

std::uint64_t parse_time(const string* text) {
  constexpr wire_error bad_time = "ERR bad time: AT takes milliseconds since 1970";
  return parse_integer<std::uint64_t>(text, 1, std::numeric_limits<long long>::max(), bad_time,
                                      bad_time);
}

/// The size after the word MEMORY at `i`.
std::uint64_t parse_memory(const command_call& call, std::size_t i) {
  const auto bytes = i + 1 < call.argv.size() ? parse_bytes(call.word(i + 1)) : std::nullopt;
  if (!bytes) throw refusal("ERR bad memory: give bytes, or a size such as 64mb");
  return *bytes;
}

/// The argument after a word, or null if the word is not among those from `first` on.
const string* find_value(const command_call& call, std::string_view word, std::size_t first,
                         wire_error no_value) {
  const auto i = call.find(word, first);
  if (!i) return nullptr;
  if (*i + 1 >= call.argv.size()) throw refusal(no_value);
  return call.argv[*i + 1];
}

/// Reads the engine of RESERVE. Options that RedisBloom does not have make a filter native;
/// without them and without a name the setting decides.
filter_engine parse_engine(const command_call& call, std::size_t first, bool has_native_options) {
  const bool native = call.find(native_name, first).has_value();
  const bool compatible = call.find(compatible_name, first).has_value();
  if (native && compatible) throw refusal(two_engines);
  if (!native && !compatible && call.find("ENGINE", first)) throw refusal(no_engine);
  if (compatible && has_native_options) throw refusal(only_native);
  if (compatible) return filter_engine::compatible;
  return native || has_native_options ? filter_engine::native : default_engine();
}

/// Reads the hash function in argument `i`, after the word HASH.
void parse_hash(const command_call& call, std::size_t i, filter_spec& spec) {
  const std::string_view value = i < call.argv.size() ? call.word(i) : std::string_view();
  spec.draws_key = equal_words(value, "SIPHASH");
  spec.seed = {};
  if (spec.draws_key || equal_words(value, "XXH3")) return;
  const auto key = hash_key::parse(value);
  if (!key) throw refusal("ERR HASH is SIPHASH, XXH3 or a key of 32 hexadecimal digits");
  spec.seed = *key;
}

/// Reads HASH of RESERVE. False if there is none.
bool find_hash(const command_call& call, std::size_t first, filter_spec& spec) {
  const auto i = call.find("HASH", first);
  if (i) parse_hash(call, *i + 1, spec);
  return i.has_value();
}

/// Reads an engine of INSERT at `i`, with or without ENGINE before its name, and moves `i` to its
/// last word. False if another word is there.
bool parse_engine_word(const command_call& call, std::size_t& i, insert_arguments& out) {
  const bool has_prefix = equal_words(call.word(i), "ENGINE") && i + 1 < call.argv.size();
  const std::string_view name = call.word(has_prefix ? i + 1 : i);
  const bool is_native = equal_words(name, native_name);
  if (!is_native && !equal_words(name, compatible_name)) {
    if (has_prefix) throw refusal(no_engine);
    return false;
  }
  const filter_engine engine = is_native ? filter_engine::native : filter_engine::compatible;
  if (out.names_engine && out.spec.engine != engine) throw refusal(two_engines);
  out.names_engine = true;
  out.spec.engine = engine;
  i += has_prefix;
  return true;
}

}  // namespace

std::optional<double> read_rate(const string* text) noexcept {
  double rate = 0;
  if (api.string_to_real(text, &rate) == ok)
    return std::isnan(rate) ? std::nullopt : std::optional(rate);
  const auto parsed = bloomset::parse_rate(bytes_of(text));
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept {
  constexpr std::uint64_t k = 1024;
  struct unit {
    std::string_view name;
    std::uint64_t bytes;
  };
  constexpr std::array units = {unit{"b", 1},         unit{"k", 1000},   unit{"kb", k},
                                unit{"m", 1'000'000}, unit{"mb", k * k}, unit{"g", 1'000'000'000},
                                unit{"gb", k * k * k}};
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  std::uint64_t scale = suffix.empty() ? 1 : 0;
  for (const unit& row : units) {
    if (equal_words(suffix, row.name)) scale = row.bytes;
  }
  if (scale == 0 || number > std::numeric_limits<std::int64_t>::max() / scale) return std::nullopt;
  return number * scale;
}

bf_reserve_arguments parse_bf_reserve(const command_call& call) {
  filter_spec spec = default_bf_spec();
  memory_budget budget;
  std::size_t next = 3;  // the argument after those that were read
  if (equal_words(call.word(2), "MEMORY")) {
    budget = {.bytes = parse_memory(call, 2), .replaces_rate = true};
    next = 4;
    if (next == call.argv.size()) throw refusal("ERR bad capacity");
  } else {
    spec.error_rate = parse_rate(call.argv[2], "ERR bad error rate");
  }
  if (!budget.replaces_rate && equal_words(call.word(3), "MEMORY")) {
    budget.bytes = parse_memory(call, 3);
    next = 5;
  } else {
    spec.capacity = parse_capacity(call, call.argv[next++], "ERR bad capacity");
  }
  if (call.find("MEMORY", next)) {
    throw refusal("ERR MEMORY and a size replace the error rate or the capacity");
  }
  const string* const expansion = find_value(call, "EXPANSION", next, "ERR no expansion");
  if (expansion != nullptr) spec.expansion = parse_expansion(call, expansion, "ERR bad expansion");
  const bool expands = expansion != nullptr && spec.expansion != 0;
  spec.deletable = call.find("DELETABLE", next).has_value();
  const auto nonscaling = call.find("NONSCALING", next);
  if (nonscaling && expands) throw refusal("Nonscaling filters cannot expand");
  spec.growth = spec.expansion;
  if (nonscaling) {
    spec.expansion = 0;
    long long growth = 0;
    if (*nonscaling + 1 < call.argv.size() &&
        api.string_to_integer(call.argv[*nonscaling + 1], &growth) == ok && growth >= 0 &&
        growth <= max_expansion) {
      spec.growth = static_cast<std::uint32_t>(growth);
    }
  }
  if (const string* const window = find_value(call, "WINDOW", next, "ERR no window")) {
    spec.window = parse_window(window);
  }
  if (const string* const count = find_value(call, "GENERATIONS", next, "ERR no generations")) {
    spec.generations = parse_generations(count);
  }
  if (budget.bytes != 0) {
    if (spec.window != 0) {
      throw refusal("ERR MEMORY and WINDOW cannot be combined: that filter grows with its items");
    }
    if (expands) {
      throw refusal("ERR a filter of a MEMORY size does not grow; leave out EXPANSION");
    }
    spec.expansion = 0;
  }
  const bool names_hash = find_hash(call, next, spec);
  spec.engine = parse_engine(call, next,
                             spec.deletable || spec.window != 0 || budget.bytes != 0 || names_hash);
  if (spec.engine == filter_engine::native) {
    require_known_words(call, next, bf_reserve_words);
  } else {
    require_plain_number(call.argv[2], "ERR bad error rate");
  }
  complete_window(spec, nonscaling || (expansion != nullptr && !expands));
  return {spec, budget};
}

filter_spec parse_cf_reserve(const command_call& call) {
  filter_spec spec = default_cf_spec();
  long long capacity = 0;
  if (api.string_to_integer(call.argv[2], &capacity) != ok) throw refusal("Bad capacity");
  const auto number = [&](std::string_view word, long long min, long long max, wire_error no_number,
                          wire_error out_of_range, long long initial) {
    const string* const text = find_value(call, word, 3, no_number);
    return text != nullptr ? parse_integer(text, min, max, no_number, out_of_range) : initial;
  };
  spec.bucket_size = static_cast<std::uint16_t>(
      number("BUCKETSIZE", 1, max_bucket_size, "Couldn't parse BUCKETSIZE",
             "BUCKETSIZE: value must be in the range [1, 255]", spec.bucket_size));
  spec.max_iterations = static_cast<std::uint16_t>(
      number("MAXITERATIONS", 1, max_iterations, "Couldn't parse MAXITERATIONS",
             "MAXITERATIONS: value must be in the range [1, 65535]", spec.max_iterations));
  spec.expansion = cuckoo_expansion(std::min<long long>(
      max_expansion,
      number("EXPANSION", 0, highest(call, max_expansion), "Couldn't parse EXPANSION",
             "EXPANSION: value must be in the range [0, 32768]", spec.expansion)));
  const string* const rate = find_value(call, "ERROR", 3, "Bad error rate");
  if (rate != nullptr) spec.error_rate = parse_rate(rate, "Bad error rate");
  if (capacity < 2LL * spec.bucket_size || capacity > highest(call, max_capacity)) {
    throw refusal("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
  }
  spec.capacity = static_cast<std::uint64_t>(capacity);
  const bool names_hash = find_hash(call, 3, spec);
  spec.engine = parse_engine(call, 3, rate != nullptr || names_hash);
  if (spec.engine == filter_engine::native) require_known_words(call, 3, cf_reserve_words);
  return spec;
}

insert_arguments parse_bf_insert(const command_call& call) {
  insert_arguments out{.spec = default_bf_spec()};
  filter_spec& spec = out.spec;
  bool expansion_given = false;
  bool nonscaling = false;
  bool names_hash = false;
  const string* rate = nullptr;
  // What is wrong first, for each engine, since the engine may follow.
  std::optional<refusal> wrong;
  std::optional<refusal> wrong_compatible;
  for (std::size_t i = 2; i < call.argv.size() && out.first_item == 0; ++i) {
    if (parse_engine_word(call, i, out)) continue;
    const std::string_view word = full_insert_word(call.word(i));
    if (!wrong && !is_spelled_right(call.word(i), word) && call.is_limited()) {
      wrong = unknown_argument(call, i, bf_insert_words);
    }
    out.create = out.create && word != "NOCREATE";
    nonscaling = nonscaling || word == "NONSCALING";
    spec.deletable = spec.deletable || word == "DELETABLE";
    if (word == "NOCREATE" || word == "NONSCALING" || word == "DELETABLE") continue;
    // All other words need a value.
    if (!word.empty() && ++i == call.argv.size()) break;
    const string* const value = call.argv[i];
    wire_error compatible_text = nullptr;
    try {
      if (word == "ITEMS") {
        out.first_item = i;
      } else if (word == "CAPACITY") {
        spec.capacity = parse_capacity(call, value, compatible_text = "Bad capacity");
      } else if (word == "ERROR") {
        spec.error_rate = parse_rate(value, compatible_text = "Bad error rate");
        rate = value;
      } else if (word == "EXPANSION") {
        spec.expansion = parse_expansion(call, value, compatible_text = "Bad expansion");
        expansion_given = true;
      } else if (word == "WINDOW") {
        spec.window = parse_window(value);
      } else if (word == "GENERATIONS") {
        spec.generations = parse_generations(value);
      } else if (word == "AT") {
        out.time = parse_time(value);
      } else if (word == "HASH") {
        parse_hash(call, i, spec);
        names_hash = true;
      } else {
        throw refusal(unknown_word);
      }
    } catch (const refusal& error) {
      if (!wrong) wrong = error;
      if (!wrong_compatible) {
        wrong_compatible = compatible_text != nullptr ? refusal(compatible_text) : error;
      }
      if (word.empty()) break;
    }
  }
  const bool has_native_options = spec.deletable || spec.window != 0 || names_hash;
  const bool is_compatible = spec.engine == filter_engine::compatible && !has_native_options;
  if (is_compatible && wrong_compatible) throw refusal(*wrong_compatible);
  if (!is_compatible && wrong) throw refusal(*wrong);
  if (is_compatible && rate != nullptr) require_plain_number(rate, "Bad error rate");
  if (has_native_options) {
    if (out.names_engine && spec.engine == filter_engine::compatible) throw refusal(only_native);
    spec.engine = filter_engine::native;
  }
  // Unlike BF.RESERVE, NONSCALING with an expansion is accepted, and the expansion is reported.
  spec.growth = spec.expansion;
  const bool is_fixed = nonscaling || (expansion_given && spec.expansion == 0);
  if (nonscaling) spec.expansion = 0;
  complete_window(spec, is_fixed);
  return out;
}

insert_arguments parse_cf_insert(const command_call& call) {
  insert_arguments out{.spec = default_cf_spec()};
  std::optional<refusal> misspelled;  // an error of native filters only
  for (std::size_t i = 2; i < call.argv.size() && out.first_item == 0; ++i) {
    if (parse_engine_word(call, i, out)) continue;
    std::string_view word = full_insert_word(call.word(i));
    // RedisBloom compares one letter here.
    if (word == "NONSCALING") word = "NOCREATE";
    const bool is_known = word == "NOCREATE" || word == "CAPACITY" || word == "ITEMS";
    const bool is_right = is_known && is_spelled_right(call.word(i), word);
    if (!misspelled && !is_right && call.is_limited()) {
      misspelled = unknown_argument(call, i, cf_insert_words);
    }
    if (word == "NOCREATE") {
      out.create = false;
      continue;
    }
    if (!is_known) {
      if (misspelled && out.spec.engine == filter_engine::native) break;
      throw refusal(unknown_word);
    }
    if (++i == call.argv.size()) break;
    if (word == "ITEMS") {
      out.first_item = i;
    } else {
      out.spec.capacity = parse_integer<std::uint64_t>(
          call.argv[i], 2 * current_settings().cf_bucket_size, highest(call, max_capacity),
          "Bad capacity", "Capacity must be in the range [cf-bucket-size * 2, 1073741824]");
    }
  }
  if (misspelled && out.spec.engine == filter_engine::native) throw refusal(*misspelled);
  return out;
}

}  // namespace bloomset::server
