#pragma once

// The arguments of valkey-bloom's commands. The parsers throw refusal for wrong values, and return
// nothing for a wrong number of words.

#include <optional>

#include "commands/command_call.hpp"
#include "valkeybloom/valkey_spec.hpp"

namespace bloomset::server {

/// Whether words of RESERVE, or of INSERT before ITEMS, are known to this module only.
bool has_own_words(const command_call& call) noexcept;
/// Whether words of INSERT before ITEMS are known to valkey-bloom only.
bool has_valkey_words(const command_call& call) noexcept;

/// What a filter is made from.
struct valkey_request {
  valkey_spec spec;
  bool draws_seed = false;  ///< a new seed is drawn when the filter is made
};
/// The request without options, by the current settings.
valkey_request default_valkey_request() noexcept;

/// BF.RESERVE key error_rate capacity [EXPANSION n | NONSCALING].
std::optional<valkey_request> parse_valkey_reserve(const command_call& call);

struct valkey_insert_arguments {
  valkey_request request;
  bool create = true;
  std::size_t first_item = 0;  ///< the number of words without ITEMS
};
/// BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n | NONSCALING] [TIGHTENING ratio]
/// [SEED bytes] [VALIDATESCALETO n] [NOCREATE] [ITEMS item...].
std::optional<valkey_insert_arguments> parse_valkey_insert(const command_call& call);

}  // namespace bloomset::server
