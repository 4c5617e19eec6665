#include "server/limits.hpp"

#include <algorithm>

#include "server/memory.hpp"
#include "server/settings.hpp"
#include "values/filter_value.hpp"

namespace bloomset::server {
namespace {

// Half of the range, so that sums of limits do not overflow.
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max() / 2;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr wire_error too_large =
    "ERR could not create filter: it would be larger than bf.max-filter-size";
constexpr wire_error too_large_by_default =
    "ERR could not create filter: it would be larger than 1gb, the limit while "
    "bf.max-filter-size is 0";

bool has_default_size() noexcept {
  return current_settings().max_filter_size == 0;
}

std::uint64_t max_filter_bytes(filter_engine engine) noexcept {
  const long long setting = current_settings().max_filter_size;
  if (setting != 0) return static_cast<std::uint64_t>(setting);
  return engine == filter_engine::native ? 1024 * mib : unlimited;
}

std::uint64_t max_total_bytes() noexcept {
  const long long setting = current_settings().max_memory;
  return setting != 0 ? static_cast<std::uint64_t>(setting) : unlimited;
}

/// Whether the server has room for this many more bytes, by maxmemory and the machine's memory. A
/// server that evicts makes room up to maxmemory. Up to 1 MiB is not checked, because the server
/// refuses commands beyond maxmemory anyway. Filters of engine valkey may pass maxmemory as in
/// valkey-bloom: they have a limit of their own, and the server evicts afterwards.
bool server_has_room(context* ctx, std::uint64_t bytes, bool is_valkey) noexcept {
  if (bytes <= mib) return true;
  info_data* const info = api.server_info(ctx, "memory");
  if (info == nullptr) return true;
  const auto field = [info](const char* name) {
    int status = ok;
    const std::uint64_t value = api.info_unsigned(info, name, &status);
    return status == ok ? value : 0;
  };
  const std::uint64_t used = field("used_memory");
  const std::uint64_t limit = field("maxmemory");
  const std::uint64_t machine = field("total_system_memory");
  const char* const policy = api.info_text(info, "maxmemory_policy");
  const bool evicts = policy != nullptr && std::string_view(policy) != "noeviction";
  api.free_server_info(ctx, info);
  const auto has_room = [bytes](std::uint64_t max, std::uint64_t taken) {
    return max == 0 || (taken <= max && bytes <= max - taken);
  };
  return has_room(machine, used) && (is_valkey || has_room(limit, evicts ? 0 : used));
}

[[noreturn]] void refuse_size() {
  throw refusal(has_default_size() ? too_large_by_default : too_large);
}

}  // namespace

stop_reason growth_limit::check(std::uint64_t bytes, std::uint64_t growth) const noexcept {
  if (bytes > max_bytes || growth > max_bytes - bytes) return stop_reason::limit;
  return ctx == nullptr || server_has_room(ctx, growth, is_valkey) ? stop_reason::none
                                                                   : stop_reason::maxmemory;
}

growth_limit growth_limit_for(const command_call& call, const filter_value& filter,
                              std::size_t items) noexcept {
  if (!call.is_limited()) return {};
  const std::uint64_t bytes = filter.bytes();
  const filter_spec spec = filter.facts().spec;
  const std::uint64_t max_bytes = max_filter_bytes(spec.engine);
  const std::uint64_t total = max_total_bytes();
  const std::uint64_t max_by_total = bytes + (total - std::min(total, bytes_of_filters()));
  growth_limit limit;
  limit.ctx = call.ctx;
  if (spec.engine == filter_engine::valkey) {
    const auto setting = static_cast<std::uint64_t>(current_settings().bloom_memory_usage_limit);
    limit.max_bytes = std::min({setting, max_bytes, max_by_total});
    limit.is_total = max_by_total == limit.max_bytes;
    limit.is_valkey = true;
    return limit;
  }
  // A filter that cannot reach the limit need not check it at each step. A second part starts at a
  // fourth of the first, a table of counted copies doubles, a compatible filter grows by at least
  // its size, and a new generation is as large as the others.
  constexpr std::uint64_t max_item_bytes = 64;
  const std::uint64_t max_growth = bytes + items * max_item_bytes + mib;
  if (bytes + max_growth > std::min(max_bytes, max_by_total) || spec.window != 0 ||
      spec.engine == filter_engine::compatible) {
    limit.max_bytes = std::min(max_bytes, max_by_total);
    limit.is_total = max_by_total < max_bytes;
  }
  return limit;
}

wire_error stop_error(filter_family family, stop_reason reason,
                      const growth_limit& limit) noexcept {
  const bool is_bloom = family == filter_family::bloom;
  switch (reason) {
    case stop_reason::none:
      return nullptr;
    case stop_reason::full:
      return is_bloom ? "ERR non scaling filter is full" : "Filter is full";
    case stop_reason::rate_underflow:
      return "ERR false positive degrades to 0 on scale out";
    case stop_reason::capacity_overflow:
      return "ERR bad capacity";
    case stop_reason::limit:
      if (limit.is_valkey && !limit.is_total) return valkey_size_error;
      if (is_bloom) {
        if (limit.is_total) {
          return "ERR problem inserting into filter: all have reached bf.max-memory";
        }
        return has_default_size()
                   ? "ERR problem inserting into filter: it has reached 1gb, the limit while "
                     "bf.max-filter-size is 0"
                   : "ERR problem inserting into filter: it has reached bf.max-filter-size";
      }
      if (limit.is_total) {
        return "Maximum expansions reached: all filters have reached bf.max-memory";
      }
      return has_default_size()
                 ? "Maximum expansions reached: the filter has reached 1gb, the limit while "
                   "bf.max-filter-size is 0"
                 : "Maximum expansions reached: the filter has reached bf.max-filter-size";
    case stop_reason::maxmemory:
      return is_bloom ? "ERR problem inserting into filter: the server's maxmemory leaves it no "
                        "room to grow"
                      : "ERR Insufficient memory: the server's maxmemory leaves the filter no room "
                        "to grow";
    case stop_reason::out_of_memory:
      break;
  }
  return is_bloom ? "ERR problem inserting into filter" : no_memory;
}

bool filters_have_room(std::uint64_t bytes, std::uint64_t freed) noexcept {
  const std::uint64_t total = max_total_bytes();
  const std::uint64_t held = bytes_of_filters();
  const std::uint64_t used = held - std::min(held, freed);
  return total == unlimited || bytes == 0 || (used < total && bytes <= total - used);
}

void require_room(const command_call& call, filter_engine engine, std::uint64_t bytes,
                  std::uint64_t freed) {
  if (!call.is_limited()) return;
  if (bytes > max_filter_bytes(engine)) refuse_size();
  if (!filters_have_room(bytes, freed)) throw refusal(total_too_large);
  if (!server_has_room(call.ctx, bytes, engine == filter_engine::valkey)) throw refusal(no_memory);
}

void require_within_limits(const command_call& call, const filter_value& filter) {
  if (!call.is_limited()) return;
  if (filter.bytes() > max_filter_bytes(filter.facts().spec.engine)) refuse_size();
  if (bytes_of_filters() > max_total_bytes()) throw refusal(total_too_large);
}

}  // namespace bloomset::server
