#include "settings.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>

namespace bloomery::server {
namespace {

settings now;

constexpr const char* engine_name = "engine";
std::array engine_names = {"native", "compatible"};
constexpr std::array engine_values = {static_cast<int>(filter_engine::native),
                                      static_cast<int>(filter_engine::compatible)};

// Further names that loadmodule takes: those of RedisBloom's settings and of its older arguments.
using other_names = std::array<std::string_view, 2>;

struct rate_row {
  const char* name;
  other_names others;
  double settings::* value;
  string* as_written;  ///< what the server is shown; belongs to us
};

constexpr std::string_view rate_sentence = "a rate lies between 0 and 1, such as 0.01";

std::array rates = {
    rate_row{"error-rate", {"bf-error-rate", "ERROR_RATE"}, &settings::bf_error_rate, nullptr},
    rate_row{"cf-error-rate", {}, &settings::cf_error_rate, nullptr},
};

struct number_row {
  const char* name;
  other_names others;
  long long least;
  long long most;
  unsigned flags;
  long long settings::* value;
};

constexpr std::array numbers = {
    number_row{"initial-size",
               {"bf-initial-size", "INITIAL_SIZE"},
               1,
               max_capacity,
               0,
               &settings::bf_initial_size},
    number_row{"expansion-factor",
               {"bf-expansion-factor", "EXPANSION"},
               0,
               max_expansion,
               0,
               &settings::bf_expansion_factor},
    number_row{"cf-initial-size", {}, 2, max_capacity, 0, &settings::cf_initial_size},
    number_row{"cf-bucket-size", {}, 1, max_bucket_size, 0, &settings::cf_bucket_size},
    number_row{"cf-max-iterations", {}, 1, max_iterations, 0, &settings::cf_max_iterations},
    number_row{"cf-expansion-factor", {}, 0, max_expansion, 0, &settings::cf_expansion_factor},
    number_row{"cf-max-expansions",
               {"CF_MAX_EXPANSIONS"},
               1,
               max_iterations,
               0,
               &settings::cf_max_expansions},
    number_row{"max-filter-size",
               {},
               0,
               std::numeric_limits<std::int64_t>::max(),
               setting_memory,
               &settings::max_filter_size},
    number_row{"max-memory",
               {},
               0,
               std::numeric_limits<std::int64_t>::max(),
               setting_memory,
               &settings::max_memory},
};

template <class Row>
bool is_named(const Row& row, std::string_view name) noexcept {
  return equal_words(name, row.name) || equal_words(name, row.others[0]) ||
         equal_words(name, row.others[1]);
}

// Less would hold no filter that grows.
constexpr long long min_filter_size = 1 << 16;
constexpr std::string_view filter_size_sentence =
    "max-filter-size takes a whole number from 65536 on, or a size such as 64mb; 0: the default";

bool is_in_range(const number_row& row, long long value) noexcept {
  return row.value != &settings::max_filter_size || value == 0 || value >= min_filter_size;
}

// The server passes back the pointer that a setting was registered with.
long long get_number(const char*, void* row) {
  return now.*static_cast<const number_row*>(row)->value;
}
int set_number(const char*, long long value, void* which, string** why) {
  const number_row& row = *static_cast<const number_row*>(which);
  if (!is_in_range(row, value)) {
    *why = api.create_string(nullptr, filter_size_sentence.data(), filter_size_sentence.size());
    return error;
  }
  now.*row.value = value;
  return ok;
}

bool keep_rate(rate_row& row, string* text) {
  double rate = 0;
  if (api.string_to_real(text, &rate) != ok || !(rate > 0 && rate < 1)) return false;
  const std::string_view bytes = bytes_of(text);
  if (row.as_written != nullptr) api.free_string(nullptr, row.as_written);
  row.as_written = api.create_string(nullptr, bytes.data(), bytes.size());
  now.*row.value = rate < max_error_rate ? rate : max_error_rate;
  return true;
}
string* get_rate(const char*, void* row) {
  return static_cast<const rate_row*>(row)->as_written;
}
int set_rate(const char*, string* text, void* row, string** why) {
  if (keep_rate(*static_cast<rate_row*>(row), text)) return ok;
  *why = api.create_string(nullptr, rate_sentence.data(), rate_sentence.size());
  return error;
}

int get_engine(const char*, void*) {
  return static_cast<int>(now.engine);
}
int set_engine(const char*, int value, void*, string**) {
  now.engine = static_cast<filter_engine>(value);
  return ok;
}

bool register_all(context* ctx) {
  if (api.register_choice == nullptr || api.register_number == nullptr ||
      api.register_text == nullptr || api.load_settings == nullptr) {
    return true;
  }
  if (api.register_choice(ctx, engine_name, engine_values.front(), 0, engine_names.data(),
                          engine_values.data(), static_cast<int>(engine_values.size()), get_engine,
                          set_engine, nullptr, nullptr) != ok) {
    return false;
  }
  for (const number_row& row : numbers) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): handed back as it is, and only read
    void* const which = const_cast<number_row*>(&row);
    if (api.register_number(ctx, row.name, now.*row.value, row.flags, row.least, row.most,
                            get_number, set_number, nullptr, which) != ok) {
      return false;
    }
  }
  for (rate_row& row : rates) {
    const std::string initial = fmt::format("{}", now.*row.value);
    if (api.register_text(ctx, row.name, initial.c_str(), 0, get_rate, set_rate, nullptr, &row) !=
        ok) {
      return false;
    }
  }
  return api.load_settings(ctx) == ok;
}

/// One `NAME VALUE` of loadmodule, or what is wrong with it.
std::string take_argument(std::string_view name, string* value) {
  if (equal_words(name, engine_name)) {
    for (std::size_t i = 0; i < engine_names.size(); ++i) {
      if (!equal_words(bytes_of(value), engine_names.at(i))) continue;
      now.engine = static_cast<filter_engine>(engine_values.at(i));
      return "";
    }
    return "engine is native or compatible";
  }
  for (rate_row& row : rates) {
    if (!is_named(row, name)) continue;
    return keep_rate(row, value) ? "" : std::string(rate_sentence);
  }
  for (const number_row& row : numbers) {
    if (!is_named(row, name)) continue;
    long long number = 0;
    bool is_number = api.string_to_integer(value, &number) == ok;
    if (std::uint64_t bytes = 0; !is_number && row.flags == setting_memory) {
      is_number = parse_bytes(bytes_of(value), bytes);
      number = static_cast<long long>(bytes);
    }
    if (!is_number || number < row.least || number > row.most) {
      return fmt::format("{} takes a whole number from {} to {}{}", row.name, row.least, row.most,
                         row.flags == setting_memory ? ", or a size such as 64mb" : "");
    }
    if (!is_in_range(row, number)) return std::string(filter_size_sentence);
    now.*row.value = number;
    return "";
  }
  return fmt::format("'{}' is no setting of this module", name);
}

}  // namespace

const settings& current_settings() noexcept {
  return now;
}

std::uint64_t max_filter_bytes(filter_engine engine) noexcept {
  constexpr std::uint64_t of_native = std::uint64_t{1} << 30;
  // Half of what there is, so that sums of it do not overflow.
  constexpr std::uint64_t of_compatible = std::numeric_limits<std::uint64_t>::max() / 2;
  if (now.max_filter_size != 0) return static_cast<std::uint64_t>(now.max_filter_size);
  return engine == filter_engine::native ? of_native : of_compatible;
}

bool load_settings(context* ctx, string** argv, int argc) {
  for (rate_row& row : rates) {
    const std::string initial = fmt::format("{}", now.*row.value);
    row.as_written = api.create_string(nullptr, initial.data(), initial.size());
  }
  if (!register_all(ctx)) return false;
  for (int i = 0; i < argc; i += 2) {
    const std::string_view name = bytes_of(argv[i]);
    const std::string why = i + 1 < argc ? take_argument(name, argv[i + 1])
                                         : fmt::format("'{}' has no value behind it", name);
    if (!why.empty()) {
      api.log(ctx, "warning", "bloomery: loadmodule: %s", why.c_str());
      return false;
    }
  }
  return true;
}

}  // namespace bloomery::server
