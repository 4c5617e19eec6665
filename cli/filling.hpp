#pragma once

// What the verbs that put keys into a filter have in common.

#include <bloomery/any_filter.hpp>
#include <bloomery/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "key_input.hpp"

namespace bloomery::cli {

/// Prints the text on stderr, on one line whatever names are in it.
void note(std::string_view text);

/// The same with "bloomery VERB: " before it, for what is wrong.
void say(std::string_view verb, std::string_view text);

/// The kinds that have an ability, by name and for a sentence: `kinds_that(&abilities::erase)`.
std::string kinds_that(bool abilities::* can);

/// What a verb says once its input is read: the progress line goes; lines that were passed over are
/// told, and files whose CRs or byte-order mark have become part of keys.
void finish(key_input& input, std::string_view verb);

/// Why a key found no room: where it stands, why, what to do.
tl::unexpected<failure> no_room(const std::string& place, insert_outcome why,
                                std::string_view advice);

/// Inserts all keys of an input; stops at the first that finds no room. `advice` is what to do
/// then. The number of keys that were certainly new.
result<std::uint64_t> insert_all(any_filter& filter, key_input& input, std::string_view advice);

/// What to say of a filter that holds more keys than it was planned for; empty if it does not, or
/// if it is of a kind that grows.
std::string overfull(const any_filter& filter, std::string_view name);

/// Says that, or fails with it if `strict`.
result<void> report_overfull(const any_filter& filter, std::string_view name, std::string_view verb,
                             bool strict);

}  // namespace bloomery::cli
