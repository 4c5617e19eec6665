#pragma once

// The option words of RESERVE and INSERT: which are known, and which arguments hold secret keys.

#include <span>

#include "commands/command_call.hpp"

namespace bloomset::server {

struct option_word {
  std::string_view name;
  bool has_value;
};

/// The full form of a word of INSERT; empty if it is unknown. RedisBloom's words are recognised by
/// the letters that RedisBloom compares, so `CAPCITY` is CAPACITY.
std::string_view full_insert_word(std::string_view word) noexcept;
/// Whether a word of INSERT is its full form or the beginning of it, and not a misspelling that
/// only the compared letters make known.
bool is_spelled_right(std::string_view word, std::string_view full) noexcept;

/// Refuses a word that is none of the known ones. RedisBloom ignores such words, so this is for
/// native filters. Commands that a primary or an append-only file repeats are not checked.
void require_known_words(const command_call& call, std::size_t first,
                         std::span<const option_word> known);

/// The refusal of argument `i`, counted from the key. It does not repeat the argument, which may be
/// a secret key behind a mistyped HASH.
refusal unknown_argument(const command_call& call, std::size_t i,
                         std::span<const option_word> known);

/// Hides arguments that may be secret keys from MONITOR and SLOWLOG: 32 hexadecimal digits, and
/// what follows HASH. Called even if the command fails. Valkey 8.1 replaces the arguments of the
/// call, so they cannot be read afterwards.
void hide_reserve_keys(const command_call& call);
void hide_insert_keys(const command_call& call);
/// Hides the header of a dump, which has the secret key: the data of LOADCHUNK's first iterator, or
/// what begins as a header.
void hide_dump_key(const command_call& call);

}  // namespace bloomset::server
