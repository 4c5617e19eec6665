#pragma once

// What the rows of the two tables of commands share.

#include "command_table.hpp"

namespace bloomery::server {

constexpr argument_docs plain(const char* name, argument_type type, int flags = 0) {
  return {name,    type,    type == argument_type::key ? 0 : -1,
          nullptr, nullptr, nullptr,
          flags,   nullptr, nullptr,
          nullptr};
}
constexpr argument_docs option(const char* name, argument_type type, const char* token,
                               int flags = argument_optional) {
  return {name, type, -1, token, nullptr, nullptr, flags, nullptr, nullptr, nullptr};
}

/// `parts` end with one of zeros.
constexpr argument_docs either(const char* name, const argument_docs* parts) {
  argument_docs made = plain(name, argument_type::one_of);
  made.parts = parts;
  return made;
}

inline constexpr argument_docs key_argument = plain("key", argument_type::key);
inline constexpr argument_docs source_argument = {.name = "source",
                                                  .type = argument_type::key,
                                                  .key_spec = 1,
                                                  .token = nullptr,
                                                  .summary = nullptr,
                                                  .since = nullptr,
                                                  .flags = argument_multiple,
                                                  .deprecated_since = nullptr,
                                                  .parts = nullptr,
                                                  .display_text = nullptr};
inline constexpr argument_docs items_argument =
    plain("item", argument_type::text, argument_multiple);
inline constexpr argument_docs expansion_argument =
    option("expansion", argument_type::integer, "EXPANSION");
inline constexpr argument_docs engine_argument = option("engine", argument_type::text, "ENGINE");
inline constexpr const char* debug_summary = "Figures of each part of a compatible filter, as text";

inline constexpr argument_docs iterator_argument = plain("iterator", argument_type::integer);

inline constexpr const char* writes = "write deny-oom";
inline constexpr const char* reads = "readonly fast";
inline constexpr const char* reads_all = "readonly";  ///< of the filter's bytes
inline constexpr std::uint64_t inserts = key_read_write | key_insert;
inline constexpr std::uint64_t asks = key_read_only | key_access;

}  // namespace bloomery::server
