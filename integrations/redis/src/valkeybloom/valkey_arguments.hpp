#pragma once

// The arguments of valkey-bloom's commands. The parsers throw refusal for wrong values, and return
// nothing for a wrong number of words.

#include <optional>

#include "commands/command_call.hpp"

namespace bloomset::server {

/// Whether words of RESERVE, or of INSERT before ITEMS, are known to this module only.
bool has_own_words(const command_call& call) noexcept;
/// Whether words of INSERT before ITEMS are known to valkey-bloom only.
bool has_valkey_words(const command_call& call) noexcept;

/// BF.RESERVE key error_rate capacity [EXPANSION n | NONSCALING].
std::optional<filter_spec> parse_valkey_reserve(const command_call& call);

struct valkey_insert_arguments {
  filter_spec spec;
  bool create = true;
  std::size_t first_item = 0;  ///< the number of words without ITEMS
};
/// BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n | NONSCALING] [TIGHTENING ratio]
/// [SEED bytes] [VALIDATESCALETO n] [NOCREATE] [ITEMS item...].
std::optional<valkey_insert_arguments> parse_valkey_insert(const command_call& call);

}  // namespace bloomset::server
