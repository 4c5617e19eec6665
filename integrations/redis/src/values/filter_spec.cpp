#include "values/filter_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "server/settings.hpp"

namespace bloomset::server {

std::string_view name_of(filter_engine engine) noexcept {
  switch (engine) {
    case filter_engine::native:
      return "native";
    case filter_engine::compatible:
      return "compatible";
    case filter_engine::valkey:
      break;
  }
  return "valkey";
}

filter_spec default_bf_spec() noexcept {
  const settings& current = current_settings();
  return {.family = filter_family::bloom,
          .error_rate = current.bf_error_rate,
          .capacity = static_cast<std::uint64_t>(current.bf_initial_size),
          .expansion = static_cast<std::uint32_t>(current.bf_expansion_factor),
          .engine = default_engine(),
          .growth = static_cast<std::uint32_t>(current.bf_expansion_factor),
          .draws_key = current.hash == filter_hash::siphash};
}

filter_spec default_cf_spec() noexcept {
  const settings& current = current_settings();
  const long long capacity = std::max(current.cf_initial_size, 2 * current.cf_bucket_size);
  return {.family = filter_family::cuckoo,
          .error_rate = current.cf_error_rate,
          .capacity = static_cast<std::uint64_t>(capacity),
          .expansion = cuckoo_expansion(current.cf_expansion_factor),
          .engine = default_engine(),
          .bucket_size = static_cast<std::uint16_t>(current.cf_bucket_size),
          .max_iterations = static_cast<std::uint16_t>(current.cf_max_iterations),
          .draws_key = current.hash == filter_hash::siphash};
}

filter_engine default_engine() noexcept {
  const filter_engine engine = current_settings().engine;
  return engine == filter_engine::valkey ? filter_engine::native : engine;
}

std::uint32_t cuckoo_expansion(long long expansion) noexcept {
  return expansion != 0 ? std::bit_ceil(static_cast<std::uint32_t>(expansion)) : 0;
}

void complete_window(filter_spec& spec, bool is_fixed) {
  if (spec.window == 0) {
    if (spec.generations != 0) throw refusal("ERR GENERATIONS needs a WINDOW");
    return;
  }
  if (spec.deletable) throw refusal("ERR WINDOW and DELETABLE cannot be combined");
  if (is_fixed) {
    throw refusal("ERR a filter with a WINDOW grows with its items; leave out NONSCALING");
  }
  // A setting may have made 0 the default expansion.
  if (spec.expansion == 0) spec.expansion = 2;
  if (spec.generations == 0) spec.generations = 8;
}

std::uint64_t slice_milliseconds(const filter_spec& spec) noexcept {
  return (1000 * spec.window + spec.generations - 1) / spec.generations;
}

filter_spec generation_spec(const filter_spec& spec) noexcept {
  return {.family = spec.family,
          .error_rate = spec.error_rate / (spec.generations + 1),
          .capacity = (spec.capacity + spec.generations - 1) / spec.generations,
          .expansion = spec.expansion,
          .seed = spec.seed};
}

std::string merge_obstacle(const filter_spec& source, const filter_spec& destination) {
  const auto differ = [](std::string_view option, bool in_source) {
    return reserved_differently(option, in_source ? "set" : "unset", in_source ? "unset" : "set");
  };
  if (source.deletable != destination.deletable) return differ("DELETABLE", source.deletable);
  if (source.window != 0 || destination.window != 0) {
    return "it has a WINDOW, and filters that forget cannot be merged";
  }
  if (source.engine != destination.engine) {
    return reserved_differently("engine", name_of(source.engine), name_of(destination.engine));
  }
  if (source.seed != destination.seed) {
    return "its hash function or secret key differs; reserve filters to merge with HASH XXH3, or "
           "with HASH and the same key";
  }
  const bool is_fixed = source.expansion == 0;
  if (is_fixed != (destination.expansion == 0)) return differ("NONSCALING", is_fixed);
  return {};
}

std::string reserved_differently(std::string_view property, std::string_view source,
                                 std::string_view destination) {
  return fmt::format("its {} is {}, not {}; reserve both with the same options", property, source,
                     destination);
}

}  // namespace bloomset::server
