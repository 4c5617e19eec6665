#pragma once

// The specification of a filter, and the rules that apply to it, whether it is from a command, a
// setting or a dump.

#include <bloomset/hash.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "commands/refusal.hpp"

namespace bloomset::server {

enum class filter_family : std::uint8_t { bloom = 1, cuckoo = 2 };  ///< BF.* and CF.*

/// The library's own filters, RedisBloom's, or valkey-bloom's, which has only BF.*.
enum class filter_engine : std::uint8_t { native, compatible, valkey };

/// The name in the setting, and after ENGINE.
std::string_view name_of(filter_engine engine) noexcept;

/// Hash functions of native filters: XXH3, or SipHash-1-3 with a secret key.
enum class filter_hash : std::uint8_t { siphash, xxh3 };

/// That a client may give. Primaries and append-only files of other versions have larger ones.
inline constexpr long long max_capacity = std::int64_t{1} << 30;
inline constexpr long long max_expansion = 32768;
inline constexpr long long max_bucket_size = 255;
inline constexpr long long max_iterations = 65535;
inline constexpr long long max_window = 1'000'000'000;  ///< seconds
inline constexpr long long max_generations = 64;
/// Higher rates are used as this one.
inline constexpr double max_error_rate = 0.25;

struct filter_spec {
  filter_family family = filter_family::bloom;
  double error_rate = 0;
  std::uint64_t capacity = 0;
  std::uint32_t expansion = 0;  ///< 0: the filter does not grow
  filter_engine engine = filter_engine::native;
  /// The expansion that a compatible filter of BF.* reports, even if it does not grow.
  std::uint32_t growth = 0;
  bool deletable = false;            ///< BF.*: copies are kept, counted and deleted
  std::uint16_t bucket_size = 0;     ///< CF.*; native filters store it for CF.INFO
  std::uint16_t max_iterations = 0;  ///< likewise
  std::uint64_t window = 0;          ///< BF.*: seconds after which items are forgotten; 0: never
  std::uint16_t generations = 0;     ///< slices of a window; 0 without a window
  hash_seed seed = {};               ///< of native filters
  bool draws_key = false;            ///< a new secret key becomes the seed when the filter is made

  bool operator==(const filter_spec&) const = default;
};

/// Filters that commands create without options, by the current settings.
filter_spec default_bf_spec() noexcept;
filter_spec default_cf_spec() noexcept;
/// The engine of filters that RedisBloom's commands create: that of the settings, but native
/// instead of valkey-bloom's.
filter_engine default_engine() noexcept;

/// The expansion of a CF.* filter: the next power of two, or 0.
std::uint32_t cuckoo_expansion(long long expansion) noexcept;

/// Checks the options of a windowed filter against each other and fills in those that are missing.
/// `is_fixed` tells whether an option asked for a filter that does not grow. Throws refusal.
void complete_window(filter_spec& spec, bool is_fixed);

/// Length of a slice. Each generation of a windowed filter holds the items of one slice.
std::uint64_t slice_milliseconds(const filter_spec& spec) noexcept;

/// The specification of one generation: 1/generations of the capacity, and the rate divided by the
/// number of generations that are held at a time, which is one more.
filter_spec generation_spec(const filter_spec& spec) noexcept;

/// Why filters of two specifications are never merged; empty if only their rates and capacities can
/// prevent it.
std::string merge_obstacle(const filter_spec& source, const filter_spec& destination);
/// The sentence for a property with which a source and its destination were reserved differently.
std::string reserved_differently(std::string_view property, std::string_view source,
                                 std::string_view destination);

}  // namespace bloomset::server
