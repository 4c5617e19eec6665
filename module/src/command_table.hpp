#pragma once

// A command is a row: its name, what the server must know of it, and the function that answers.

#include <cstdint>
#include <new>
#include <span>

#include "api.hpp"
#include "arguments.hpp"

namespace bloomery::server {

struct command_row {
  const char* name;
  const char* flags;
  int arity;  ///< arguments with the name; -n: n or more
  command_function run;
  const char* category;  ///< of access control lists
  std::uint64_t key_use;
  const char* summary;
  const char* complexity;
  std::span<const argument_docs> arguments;
  bool has_sources = false;  ///< whether all arguments behind the key are keys, too, that are read
};

/// The function that the server calls for a handler: it looks at the number of arguments, and lets
/// no exception out into the server. Handlers throw before they reply, if at all.
template <int (*Handler)(const request&), int Arity, int Most = 0>
int answer(context* ctx, string** argv, int argc) noexcept {
  if ((Arity > 0 && argc != Arity) || argc < -Arity || (Most != 0 && argc > Most)) {
    return api.wrong_arity(ctx);
  }
  try {
    return Handler({ctx, {argv, static_cast<std::size_t>(argc)}});
  } catch (const std::exception&) {
    return api.reply_error(ctx, "ERR Insufficient memory for this command");
  }
}

/// Tells the server of all of them. False if it refuses one.
bool create_commands(context* ctx, std::span<const command_row> rows) noexcept;

/// The rows of BF.* and of CF.*.
std::span<const command_row> bf_commands() noexcept;
std::span<const command_row> cf_commands() noexcept;

}  // namespace bloomery::server
