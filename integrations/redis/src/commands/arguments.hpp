#pragma once

// The parsers of the commands that create filters. All throw refusal. Options may stand in any
// order.

#include "commands/command_call.hpp"
#include "server/memory_budget.hpp"

namespace bloomset::server {

/// A number of bytes, at least 1, with the units of the server's own settings (64mb).
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;

/// A number, or a rate such as `1%` or `1/1000`. Not checked for its range.
std::optional<double> read_rate(const string* text) noexcept;

struct bf_reserve_arguments {
  filter_spec spec;
  memory_budget budget;
};
/// BF.RESERVE key error_rate capacity [EXPANSION n] [NONSCALING [growth]] [DELETABLE]
/// [WINDOW seconds [GENERATIONS n]] [HASH name] [[ENGINE] name]. MEMORY size may replace either
/// number. `growth` is for replicas: the expansion that a fixed compatible filter reports.
bf_reserve_arguments parse_bf_reserve(const command_call& call);

/// CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR rate]
/// [HASH name] [[ENGINE] name].
filter_spec parse_cf_reserve(const command_call& call);

struct insert_arguments {
  filter_spec spec;
  bool create = true;
  bool names_engine = false;
  std::uint64_t time = 0;      ///< of the items, in milliseconds since 1970; 0: now
  std::size_t first_item = 0;  ///< index of the first item; 0 without ITEMS and an item
};
/// BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] [DELETABLE]
/// [WINDOW seconds [GENERATIONS n]] [HASH name] [[ENGINE] name] [AT milliseconds] ITEMS item...
/// RedisBloom recognises its words by their first letters, and clients abbreviate them.
insert_arguments parse_bf_insert(const command_call& call);

/// CF.INSERT and CF.INSERTNX key [CAPACITY n] [NOCREATE] [[ENGINE] name] ITEMS item...
insert_arguments parse_cf_insert(const command_call& call);

}  // namespace bloomset::server
