#pragma once

// Common functions of the verbs that insert keys.

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "input/key_input.hpp"

namespace bloomset::cli {

/// Prints the text on stderr as one line, whatever names it contains.
void note(std::string_view text);

/// The same after "bloomset VERB: ", for warnings.
void say(std::string_view verb, std::string_view text);

/// To be called when all input is read. Removes the progress line, then reports skipped lines,
/// folders that lack files, and files whose CRs or byte-order mark became part of keys.
void finish(key_input& input, std::string_view verb);

/// The failure for a key that was not inserted: its position, the reason, and the advice.
failure no_room(const std::string& place, insert_outcome why, std::string_view advice);

/// Inserts all keys of an input. Fails with `advice` at the first key that is not inserted. Returns
/// the number of keys that were certainly new.
result<std::uint64_t> insert_all(any_filter& filter, key_input& input, std::string_view advice);

/// A sentence about a filter that holds more keys than its capacity. Empty if it does not, or if
/// its kind grows.
std::string overfull(const any_filter& filter, std::string_view name);

/// Prints that sentence as a warning, or fails with it if `strict`.
result<void> report_overfull(const any_filter& filter, std::string_view name, std::string_view verb,
                             bool strict);

}  // namespace bloomset::cli
