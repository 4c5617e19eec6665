#include "server/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "commands/arguments.hpp"

namespace bloomset::server {
namespace {

settings active;

constexpr const char* rate_error = "a rate lies between 0 and 1, such as 0.01 or 1%";

/// A setting whose values are the positions of names.
struct choice_row {
  const char* name;
  std::vector<const char*> names;
  int (*get)();
  void (*set)(int);
};

std::array choices = {
    choice_row{"engine",
               {"native", "compatible", "valkey"},
               [] { return static_cast<int>(active.engine); },
               [](int value) { active.engine = static_cast<filter_engine>(value); }},
    choice_row{"hash",
               {"siphash", "xxh3"},
               [] { return static_cast<int>(active.hash); },
               [](int value) { active.hash = static_cast<filter_hash>(value); }},
    choice_row{"bloom-rdb-order",
               {"numbers-first", "bits-first"},
               [] { return static_cast<int>(active.bloom_rdb_order); },
               [](int value) { active.bloom_rdb_order = static_cast<valkey_rdb_order>(value); }},
};

struct flag_row {
  const char* name;
  bool settings::* value;
};

std::array switches = {
    flag_row{"bloom-use-random-seed", &settings::bloom_use_random_seed},
    flag_row{"bloom-defrag-enabled", &settings::bloom_defrag_enabled},
};

// The aliases are RedisBloom's names of settings and of older arguments. Only loadmodule accepts
// them.
struct rate_row {
  const char* name;
  double settings::* value;
  std::string_view alias = {};
  std::string_view old_alias = {};
  double max = max_error_rate;  ///< higher rates are used as this one
  const char* no_number = rate_error;
  const char* out_of_range = rate_error;
  string* text = nullptr;  ///< the value as it was set, for CONFIG GET
};

std::array rates = {
    rate_row{"error-rate", &settings::bf_error_rate, "bf-error-rate", "ERROR_RATE"},
    rate_row{"cf-error-rate", &settings::cf_error_rate},
    rate_row{"bloom-fp-rate",
             &settings::bloom_fp_rate,
             {},
             {},
             1,
             "Invalid floating-point value",
             "ERR (0 < error rate range < 1)"},
    rate_row{"bloom-tightening-ratio",
             &settings::bloom_tightening_ratio,
             {},
             {},
             1,
             "Invalid floating-point value",
             "ERR (0 < tightening ratio range < 1)"},
};

struct number_row {
  const char* name;
  long long min;
  long long max;
  long long settings::* value;
  unsigned flags = 0;
  std::string_view alias = {};
  std::string_view old_alias = {};
};

constexpr long long max_bytes = std::numeric_limits<std::int64_t>::max();
std::array numbers = {
    number_row{"initial-size", 1, max_capacity, &settings::bf_initial_size, 0, "bf-initial-size",
               "INITIAL_SIZE"},
    number_row{"expansion-factor", 0, max_expansion, &settings::bf_expansion_factor, 0,
               "bf-expansion-factor", "EXPANSION"},
    number_row{"cf-initial-size", 2, max_capacity, &settings::cf_initial_size},
    number_row{"cf-bucket-size", 1, max_bucket_size, &settings::cf_bucket_size},
    number_row{"cf-max-iterations", 1, max_iterations, &settings::cf_max_iterations},
    number_row{"cf-expansion-factor", 0, max_expansion, &settings::cf_expansion_factor},
    number_row{"cf-max-expansions", 1, max_iterations, &settings::cf_max_expansions, 0,
               "CF_MAX_EXPANSIONS"},
    number_row{"bloom-capacity", 1, max_bytes, &settings::bloom_capacity},
    number_row{"bloom-expansion", 0, std::numeric_limits<std::uint32_t>::max(),
               &settings::bloom_expansion},
    number_row{"bloom-memory-usage-limit", 0, max_bytes, &settings::bloom_memory_usage_limit},
    number_row{"max-filter-size", 0, max_bytes, &settings::max_filter_size, setting_memory},
    number_row{"max-memory", 0, max_bytes, &settings::max_memory, setting_memory},
};

template <class Row>
bool is_named(const Row& row, std::string_view name) noexcept {
  return equal_words(name, row.name) || equal_words(name, row.alias) ||
         equal_words(name, row.old_alias);
}

// A growing filter needs at least this.
constexpr long long min_filter_size = 1 << 16;
constexpr const char* filter_size_error =
    "max-filter-size takes a whole number from 65536 on, or a size such as 64mb; 0: the default";

bool is_in_range(const number_row& row, long long value) noexcept {
  return row.value != &settings::max_filter_size || value == 0 || value >= min_filter_size;
}

string* new_string(std::string_view text) noexcept {
  return api.create_string(nullptr, text.data(), text.size());
}

// The server passes back the pointer to the row that a setting was registered with.
long long get_number(const char*, void* row) {
  return active.*static_cast<const number_row*>(row)->value;
}
int set_number(const char*, long long value, void* registered, string** error) {
  const number_row& row = *static_cast<const number_row*>(registered);
  if (!is_in_range(row, value)) {
    *error = new_string(filter_size_error);
    return err;
  }
  active.*row.value = value;
  return ok;
}

/// The error of a rate that is not kept; null without one.
const char* keep_rate(rate_row& row, string* text) {
  const auto rate = read_rate(text);
  if (!rate) return row.no_number;
  if (!(*rate > 0 && *rate < 1)) return row.out_of_range;
  api.free_string(nullptr, row.text);
  row.text = new_string(bytes_of(text));
  active.*row.value = std::min(*rate, row.max);
  return nullptr;
}
string* get_rate(const char*, void* row) {
  return static_cast<const rate_row*>(row)->text;
}
int set_rate(const char*, string* text, void* row, string** error) {
  const char* const reason = keep_rate(*static_cast<rate_row*>(row), text);
  if (reason == nullptr) return ok;
  *error = new_string(reason);
  return err;
}

int get_choice(const char*, void* row) {
  return static_cast<const choice_row*>(row)->get();
}
int set_choice(const char*, int value, void* row, string**) {
  static_cast<const choice_row*>(row)->set(value);
  return ok;
}

int get_flag(const char*, void* row) {
  return active.*static_cast<const flag_row*>(row)->value ? 1 : 0;
}
int set_flag(const char*, int value, void* row, string**) {
  active.*static_cast<const flag_row*>(row)->value = value != 0;
  return ok;
}

bool register_all(context* ctx) {
  if (api.register_choice == nullptr || api.register_flag == nullptr ||
      api.register_number == nullptr || api.register_text == nullptr ||
      api.load_settings == nullptr) {
    return true;
  }
  constexpr std::array values = {0, 1, 2};
  for (choice_row& row : choices) {
    if (api.register_choice(ctx, row.name, row.get(), 0, row.names.data(), values.data(),
                            static_cast<int>(row.names.size()), get_choice, set_choice, nullptr,
                            &row) != ok) {
      return false;
    }
  }
  for (flag_row& row : switches) {
    if (api.register_flag(ctx, row.name, active.*row.value, 0, get_flag, set_flag, nullptr, &row) !=
        ok) {
      return false;
    }
  }
  for (number_row& row : numbers) {
    if (api.register_number(ctx, row.name, active.*row.value, row.flags, row.min, row.max,
                            get_number, set_number, nullptr, &row) != ok) {
      return false;
    }
  }
  for (rate_row& row : rates) {
    const std::string initial(bytes_of(row.text));
    if (api.register_text(ctx, row.name, initial.c_str(), 0, get_rate, set_rate, nullptr, &row) !=
        ok) {
      return false;
    }
  }
  return api.load_settings(ctx) == ok;
}

/// Sets one `NAME VALUE` of loadmodule. Throws refusal.
void set_argument(std::string_view name, string* value) {
  for (const choice_row& row : choices) {
    if (!equal_words(name, row.name)) continue;
    const auto chosen = std::ranges::find_if(
        row.names, [&](const char* choice) { return equal_words(bytes_of(value), choice); });
    if (chosen == row.names.end()) {
      throw refusal(fmt::format("{} is one of {}", row.name, fmt::join(row.names, ", ")));
    }
    return row.set(static_cast<int>(chosen - row.names.begin()));
  }
  for (const flag_row& row : switches) {
    if (!equal_words(name, row.name)) continue;
    const bool is_set = equal_words(bytes_of(value), "yes");
    if (!is_set && !equal_words(bytes_of(value), "no")) {
      throw refusal(fmt::format("{} is yes or no", row.name));
    }
    active.*row.value = is_set;
    return;
  }
  for (rate_row& row : rates) {
    if (!is_named(row, name)) continue;
    if (const char* const reason = keep_rate(row, value)) throw refusal(reason);
    return;
  }
  for (const number_row& row : numbers) {
    if (!is_named(row, name)) continue;
    const bool is_memory = row.flags == setting_memory;
    long long number = -1;
    if (api.string_to_integer(value, &number) != ok) {
      const auto bytes = is_memory ? parse_bytes(bytes_of(value)) : std::nullopt;
      number = bytes ? static_cast<long long>(*bytes) : -1;
    }
    if (number < row.min || number > row.max) {
      throw refusal(fmt::format("{} takes a whole number from {} to {}{}", row.name, row.min,
                                row.max, is_memory ? ", or a size such as 64mb" : ""));
    }
    if (!is_in_range(row, number)) throw refusal(filter_size_error);
    active.*row.value = number;
    return;
  }
  throw refusal(fmt::format("'{}' is not a setting of this module", name));
}

}  // namespace

const settings& current_settings() noexcept {
  return active;
}

bool load_settings(context* ctx, string** argv, int argc) {
  for (rate_row& row : rates) row.text = new_string(fmt::format("{}", active.*row.value));
  if (!register_all(ctx)) return false;
  try {
    for (int i = 0; i < argc; i += 2) {
      const std::string_view name = bytes_of(argv[i]);
      if (i + 1 == argc) throw refusal(fmt::format("'{}' has no value after it", name));
      set_argument(name, argv[i + 1]);
    }
  } catch (const refusal& error) {
    api.log(ctx, "warning", "bloomset: loadmodule: %s", error.what());
    return false;
  }
  return true;
}

}  // namespace bloomset::server
