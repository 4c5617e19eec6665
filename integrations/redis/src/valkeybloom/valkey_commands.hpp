#pragma once

// BF.* with valkey-bloom's words, replies and errors: while the setting `engine` is valkey, and
// BF.INSERT with an option that only valkey-bloom has.

#include <optional>
#include <span>

#include "commands/command_call.hpp"
#include "values/filter_value.hpp"

namespace bloomset::server {

/// Whether a call is answered with valkey-bloom's replies.
bool speaks_valkey(const command_call& call) noexcept;

// The commands that write. Nothing for calls that are not valkey-bloom's: with another setting,
// with words that only this module has, or for a key with a filter of another engine.
std::optional<int> valkey_reserve(const command_call& call);
std::optional<int> valkey_add(const command_call& call);
std::optional<int> valkey_madd(const command_call& call);
std::optional<int> valkey_insert(const command_call& call);

/// An array of integers, and of an error after them unless it is null.
int reply_valkey(context* ctx, std::span<const bool> values, wire_error error = nullptr) noexcept;
/// The reply of BF.INFO for a filter of engine valkey. Throws refusal.
int reply_valkey_info(const command_call& call, const filter_value& filter);

}  // namespace bloomset::server
