#pragma once

// Limits on the memory of filters: bf.max-filter-size, bf.max-memory and the server's maxmemory.

#include <limits>

#include "commands/command_call.hpp"

namespace bloomset::server {

class filter_value;

/// Why a batch was not inserted to its end.
enum class stop_reason : std::uint8_t {
  none,
  full,               ///< the filter may not grow
  limit,              ///< bf.max-filter-size or bf.max-memory
  maxmemory,          ///< the server has no room for the next step of growth
  out_of_memory,      ///< an allocation failed
  rate_underflow,     ///< the next part's rate would be 0
  capacity_overflow,  ///< the next part's capacity would not fit its number
};

/// How far a filter may grow while items are inserted.
struct growth_limit {
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
  bool is_total = false;   ///< whether max_bytes comes from bf.max-memory
  bool is_valkey = false;  ///< whether the filter is of engine valkey
  context* ctx = nullptr;  ///< for asking the server before large steps; null: not asked

  /// Whether a filter of `bytes` may take `growth` more.
  stop_reason check(std::uint64_t bytes, std::uint64_t growth) const noexcept;
};

/// valkey-bloom's error for a filter beyond bf.bloom-memory-usage-limit.
inline constexpr wire_error valkey_size_error = "ERR operation exceeds bloom object memory limit";

/// The limit for inserting a number of items. There is none for replicated commands.
growth_limit growth_limit_for(const command_call& call, const filter_value& filter,
                              std::size_t items) noexcept;

/// The error of an item that was not inserted; null if all were.
wire_error stop_error(filter_family family, stop_reason reason, const growth_limit& limit) noexcept;

/// Whether bf.max-memory leaves room for this many more bytes, after `freed` ones were freed.
bool filters_have_room(std::uint64_t bytes, std::uint64_t freed = 0) noexcept;

/// Throws refusal unless the limits leave room for a new filter of this many bytes, after `freed`
/// ones were freed.
void require_room(const command_call& call, filter_engine engine, std::uint64_t bytes,
                  std::uint64_t freed = 0);
/// Throws refusal if a filter that has just been made exceeds the limits.
void require_within_limits(const command_call& call, const filter_value& filter);

}  // namespace bloomset::server
