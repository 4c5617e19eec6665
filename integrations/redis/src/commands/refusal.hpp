#pragma once

// Errors as clients receive them. Clients of RedisBloom know many of these texts.

#include <stdexcept>

namespace bloomset::server {

/// The text of an error reply; null without an error.
using wire_error = const char*;

/// Becomes the error reply of a command.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr wire_error wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr wire_error not_found = "ERR not found";
inline constexpr wire_error not_deletable =
    "ERR the filter was reserved without DELETABLE, and neither deletes nor counts";
inline constexpr wire_error no_memory = "ERR Insufficient memory to create filter";
inline constexpr wire_error total_too_large =
    "ERR could not create filter: all filters together would take more than bf.max-memory";
inline constexpr wire_error bad_data = "ERR received bad data";
inline constexpr wire_error newer_data =
    "ERR the dump has a newer version than this module reads; load it with a newer module";

}  // namespace bloomset::server
