#pragma once

#include <span>

#include "commands/command_call.hpp"

namespace bloomset::server {

struct command_entry {
  command_function run;
  int arity;  ///< words of a call; -n: n or more
};

struct command_row {
  const char* name;  ///< without the family's prefix
  command_entry entry;
  const char* flags;
  std::uint64_t key_use;
  const char* summary;
  const char* complexity;
  std::span<const argument_docs> arguments;
  bool has_sources = false;  ///< whether the arguments after the key are keys that are read
};

struct command_family {
  const char* prefix;
  const char* category;  ///< of access control lists
  std::span<const command_row> common;
  std::span<const command_row> own;
};

/// BF.* and CF.*
std::span<const command_family> command_families() noexcept;

/// Registers all commands, their documentation and their categories. False if the server refuses.
bool create_commands(context* ctx);

}  // namespace bloomset::server
